# SPDX-License-Identifier: GPL-2.0-only
"""Copies driver and suites into a kernel tree, for the kernel's own kunit.py: see README.md."""

import argparse
import shutil
import sys
from pathlib import Path

from vm.arch import AMD64

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path("drivers/perf/refpmu")
COMMAND = (
    f"./tools/testing/kunit/kunit.py run --arch {AMD64.machine} --kunitconfig {PLACE}/kunit"
    " --kconfig_add CONFIG_EXPERT=y --qemu_args '-smp 2'"
)
HOOKS = {
    PLACE.parent / "Kconfig": f'source "{PLACE}/Kconfig"',
    PLACE.parent / "Makefile": f"obj-y += {PLACE.name}/",
}
NOT_KERNEL = shutil.ignore_patterns("*.py", "*.md", "__pycache__", "pmukunit", "tests")


def update_sources(tree: Path) -> None:
    """Copies the current sources into @tree, in place of an earlier copy."""
    place = tree / PLACE
    shutil.rmtree(place, ignore_errors=True)
    for part in ("driver", "kunit"):
        shutil.copytree(ROOT / part, place / part, ignore=NOT_KERNEL)
    sources = "".join(f'source "{PLACE}/{part}/Kconfig"\n' for part in ("driver", "kunit"))
    (place / "Kconfig").write_text(sources, encoding="utf-8")
    (place / "Kbuild").write_text("obj-y += driver/ kunit/\n", encoding="utf-8")
    for name, line in HOOKS.items():
        text = (tree / name).read_text(encoding="utf-8")
        if line not in text.splitlines():
            (tree / name).write_text(f"{text}\n{line}\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m kunit.overlay", description=__doc__)
    parser.add_argument("tree", type=Path, help="a kernel's sources, without a build in them")
    tree: Path = parser.parse_args(argv).tree
    needed = (*HOOKS, Path("tools/testing/kunit/kunit.py"))
    missing = [name for name in needed if not (tree / name).is_file()]
    if missing:
        print(f"overlay: {tree} is no kernel tree: it has no {missing[0]}", file=sys.stderr)
        return 2
    update_sources(tree)
    print(f"cd {tree} && {COMMAND}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
