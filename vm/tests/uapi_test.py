# SPDX-License-Identifier: Apache-2.0
"""The suite's own header of the perf ABI has the names, values and layouts of each kernel's header."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

import pytest

from pmubase import store
from vm import arch, kernel, stock

OURS = store.ROOT / "conformance" / "uapi" / "linux" / "perf_event.h"
KERNELS = [name for name in stock.series() if arch.AMD64.kernels[name].headers]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CONSTANT = re.compile(
    r"^#define ([A-Z]\w+)[ \t]|\b((?:PERF|NET|UTS|IPC|PID|USER|MNT|CGROUP)_[A-Z0-9_]*[A-Z0-9])\b"
)
LAYOUT = re.compile(r"^((?:struct|union) \w+) \{(.*?)^\};", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"(\w+)\s*(:\s*\d+|\[[^]]*\])?\s*[;,]")
CHANGES = re.compile(r"(?!PERF_CONTEXT_)\w+_MAX|.*\b_*(mem_rsvd|cap_____res|reserved_?\d?)")
"""The names of the first unused value, and of unused bits."""
UNUSED = re.compile(r"PERF_MEM_\w+|PERF_BR_ARM64_\w+|PERF_SAMPLE_BRANCH_\w+_SHIFT")
PROGRAM = """
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
static void show(const char *name, const unsigned char *at, size_t n) {
  printf("%s=", name);
  for (size_t i = 0; i < n; i++) if (at[i]) printf(" %zu:%x", i, at[i]);
  puts("");
}
int main(void) {
"""


def values(header: pathlib.Path, folder: pathlib.Path) -> dict[str, str]:
    """The value of each constant and the place of each field, as a program prints them."""
    text = COMMENT.sub("", header.read_text("utf-8"))
    lines = [
        f'printf("{name}=%llx\\n", (unsigned long long)({name}));'
        for name in sorted({one or other for one, other in CONSTANT.findall(text)})
        if not name.endswith(("_H_", "_H")) and name != "PERF_MEM_S"
    ]
    for of, body in LAYOUT.findall(text):
        for name, size in FIELD.findall(body):
            place = f'printf("{of}.{name}=%zu\\n", offsetof({of}, {name}));'
            bits = (
                f'{{ {of} x = {{0}}; x.{name} = -1; show("{of}.{name}", (void *)&x, sizeof(x)); }}'
            )
            lines.append(bits if size.startswith(":") else place)
    (folder / "linux").mkdir(parents=True)
    shutil.copyfile(header, folder / "linux" / "perf_event.h")
    (folder / "values.c").write_text(PROGRAM + "\n".join(lines) + "\n}\n", encoding="utf-8")
    subprocess.run(["gcc", "-w", "-I.", "values.c", "-o", "values"], cwd=folder, check=True)
    done = subprocess.run([folder / "values"], check=True, capture_output=True, text=True)
    found = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return {name: value for name, value in found.items() if not CHANGES.fullmatch(name)}


@pytest.mark.parametrize("name", KERNELS)
def test_header_agrees_with_the_kernel(name: str, tmp_path: pathlib.Path) -> None:
    build = kernel.find(name).build
    assert build is not None
    [header] = build.parent.glob("linux-headers-*-common/include/uapi/linux/perf_event.h")
    ours, theirs = values(OURS, tmp_path / "ours"), values(header, tmp_path / "theirs")
    assert len(theirs) > 300
    missing = {each for each in theirs.keys() - ours.keys() if not UNUSED.fullmatch(each)}
    assert not missing
    common = ours.keys() & theirs.keys()
    assert {each: ours[each] for each in common} == {each: theirs[each] for each in common}
