# SPDX-License-Identifier: Apache-2.0
"""Programs for guests that spend known shares of their time in known functions."""

from __future__ import annotations

import pathlib
import subprocess

from vm import arch

SHARES = {"spin_half": 0.5, "spin_third": 0.3, "spin_rest": 0.2}
DEPTH = ["main", "one_round", "outer", "middle"]
"""The callers of these functions, the outermost first."""

SPINNER = """
__attribute__((noinline, aligned(64))) void {name}(unsigned long turns)
{{ for (unsigned long i = 0; i < turns; ++i) sink += i; }}
"""
ROUNDS = (
    """
#include <stdlib.h>
static volatile unsigned long sink;
"""
    + "".join(SPINNER.format(name=name) for name in SHARES)
    + """
__attribute__((noinline)) void middle(unsigned long n)
{ spin_half(50 * n); spin_third(30 * n); spin_rest(20 * n); sink++; }
__attribute__((noinline)) void outer(unsigned long n) { middle(n); sink++; }
static unsigned long seed = 1;
/* No two rounds are as long: samples must not keep step with them. */
static void one_round(void)
{
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  outer(20 + (seed >> 57));
}
"""
)
FOR_ROUNDS = (
    ROUNDS
    + """
int main(int argc, char **argv)
{
  for (long left = atol(argv[argc - 1]); left > 0; --left) one_round();
  return 0;
}
"""
)
"""The number of rounds is fixed, not the time, since a guest's time depends on its host."""


def compile_program(
    folder: pathlib.Path, name: str, text: str, *flags: str, of: arch.Arch = arch.AMD64
) -> pathlib.Path:
    """Compiles a static program with frame pointers."""
    program = folder / name
    gcc = f"{of.compiler}gcc" if arch.foreign(of) else "gcc"
    argv = [gcc, "-static", "-fno-omit-frame-pointer", *flags, "-x", "c", "-", "-o", str(program)]
    subprocess.run(argv, input=text, text=True, check=True, timeout=60)
    return program
