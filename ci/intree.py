# SPDX-License-Identifier: Apache-2.0
"""Builds the driver in kernel trees as driver/README.md describes: as a module, and linked into the kernel."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError
from vm import kbuild, kernel, source, tree

KERNELS = tuple(kernel.known())
FRAGMENT = store.ROOT / "ci" / "intree.config"
PLACE = Path("drivers/perf/refpmu")
# driver/README.md requires these changes in the kernel tree, in addition to the driver's folder.
LINES = (("Kconfig", f'source "{PLACE}/Kconfig"'), ("Makefile", "obj-$(CONFIG_REFPMU) += refpmu/"))
PARTS = (
    *("Kbuild", "Kconfig", "module.c", "module.h", "include", "core", "model"),
    *("core_pmu", "uncore", "trace", "port", "compat", "msr", "swinc", "devmsr"),
)
BUILD_S = 1800
SHOWN = 20


@dataclass(frozen=True)
class Tree:
    """A kernel tree with the driver in it, and the file with make's output."""

    path: Path
    log: Path

    def make(self, *targets: str) -> str:
        """Runs make and returns its output. UserError with the first error if make fails."""
        words = ["-C", str(self.path), "ARCH=x86_64", f"-j{os.cpu_count() or 1}", *targets]
        done = kbuild.make(words, BUILD_S, f"make {' '.join(targets)}")
        with self.log.open("a", encoding="utf-8") as log:
            log.write(done.stdout)
        if done.returncode != 0:
            raise UserError(f"make {' '.join(targets)}: {tree.first_error(done.stdout)}")
        return done.stdout

    def configure(self, value: str) -> None:
        """Configures with tinyconfig, the fragment and CONFIG_REFPMU=`value`. UserError if Kconfig drops an option."""
        text = f"{FRAGMENT.read_text(encoding='utf-8')}CONFIG_REFPMU={value}\n"
        self.make("tinyconfig")
        config = self.path / ".config"
        with config.open("a", encoding="utf-8") as file:
            file.write(text)
        self.make("olddefconfig")
        dropped = tree.dropped_options(text, config.read_text(encoding="utf-8"))
        if dropped:
            raise UserError(f"Kconfig drops {', '.join(dropped)}")

    def complaints(self) -> list[str]:
        """The warnings of W=1 about the driver's sources. Warnings about other files of the tree do not count."""
        output = self.make("W=1", f"{PLACE}/").splitlines()
        return [line for line in output if re.match(rf"{PLACE}/.*(warning|error):", line)]


def as_module(built: Tree) -> list[str]:
    """Builds the kernel and refpmu.ko, and returns the errors."""
    output = built.make("vmlinux", "modules")
    found = [line for line in output.splitlines() if "refpmu" in line and "modpost" in line]
    product = built.path / PLACE / "refpmu.ko"
    if not product.is_file():
        return [*found, f"no {PLACE}/refpmu.ko"]
    if b"intree=Y" not in product.read_bytes():
        found.append("refpmu.ko has no intree flag in its module information")
    return found + built.complaints()


def linked_in(built: Tree) -> list[str]:
    """Links the driver into the kernel, and returns the errors."""
    built.make("vmlinux")
    symbols = (built.path / "System.map").read_text(encoding="ascii").split()
    found = [] if "refpmu_devices" in symbols else ["vmlinux does not have refpmu_devices"]
    return found + built.complaints()


BUILDS: dict[str, Callable[[Tree], list[str]]] = {"m": as_module, "y": linked_in}


def unpack_once(series: str, cache: Path) -> Path:
    """The kernel tree of `series`, unpacked once, with a folder for the driver."""
    package = source.ensure(series, cache / "kunit")
    path = cache / "intree" / package.stem
    if not path.is_dir():
        with store.new_folder(path) as scratch:
            source.unpack(package, scratch)
            for name, line in LINES:
                with (scratch / PLACE.parent / name).open("a", encoding="utf-8") as file:
                    file.write(f"\n{line}\n")
    return path


def prepare(series: str, cache: Path, log: Path) -> Tree:
    """The kernel tree of `series` with the current driver."""
    path = unpack_once(series, cache)
    shutil.rmtree(path / PLACE, ignore_errors=True)
    for part in PARTS:
        here = store.ROOT / "driver" / part
        there = path / PLACE / part
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            shutil.copytree(here, there)
        else:
            shutil.copy2(here, there)
    log.unlink(missing_ok=True)
    return Tree(path, log)


def build(series: str, out: Path) -> dict[str, list[str]]:
    """The errors of each way to build the driver in the tree of `series`."""
    cache = store.cache()
    log = out / f"{series}.log"
    with store.writing(cache), store.locked(cache / "intree" / f"{series}.lock"):
        ready = prepare(series, cache, log)
        found = {}
        for value, way in BUILDS.items():
            try:
                ready.configure(value)
                found[value] = way(ready)
            except UserError as error:
                found[value] = [str(error)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m ci.intree", description=__doc__)
    parser.add_argument("--kernel", choices=KERNELS, help="build only this kernel")
    asked = parser.parse_args().kernel
    out = store.ROOT / "build" / "intree"
    out.mkdir(parents=True, exist_ok=True)
    cases = []
    try:
        for series in (asked,) if asked else KERNELS:
            for value, found in build(series, out).items():
                name = f"{series}: CONFIG_REFPMU={value}"
                cases.append({"id": name, "result": "FAIL" if found else "PASS"})
                print(f"{name}: {'FAIL' if found else 'PASS'}", flush=True)
                for line in found[:SHOWN]:
                    print(f"    {line}")
    except UserError as error:
        print(f"intree: {error}", file=sys.stderr)
        return 2
    passed = sum(case["result"] == "PASS" for case in cases)
    totals = {"cases": len(cases), "passed": passed, "failed": len(cases) - passed, "skipped": 0}
    document = {"totals": totals, "cases": cases}
    store.write(out / "results.json", (json.dumps(document, indent=1) + "\n").encode())
    print(f"{passed} passed, {len(cases) - passed} failed, 0 skipped")
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
