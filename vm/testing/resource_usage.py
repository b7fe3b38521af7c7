# SPDX-License-Identifier: Apache-2.0
"""A program for guests that measures the CPU time and memory of another program."""

from __future__ import annotations

from typing import NamedTuple

USAGE_PROGRAM = """
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  struct rusage used;
  int status = -1;
  pid_t child = fork();
  if (child == 0) { execvp(argv[1], argv + 1); _exit(argc); }
  if (wait4(child, &status, 0, &used) != child) return 1;
  printf("%ld %ld\\n", (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
                          used.ru_utime.tv_usec + used.ru_stime.tv_usec, used.ru_maxrss);
  return status != 0;
}
"""
"""Runs its arguments as a command. Its last output line is for ResourceUsage.parse()."""


class ResourceUsage(NamedTuple):
    """The resources of a command, including its children."""

    cpu_us: int
    resident_kb: int
    """The maximum of any one of its processes."""

    @classmethod
    def parse(cls, output: str) -> ResourceUsage:
        """Parses the program's standard output."""
        cpu_us, resident_kb = output.splitlines()[-1].split()
        return cls(int(cpu_us), int(resident_kb))
