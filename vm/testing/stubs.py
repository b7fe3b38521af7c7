# SPDX-License-Identifier: Apache-2.0
"""Writes stubs for tests: programs of the host, kernel images, modules."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
from collections.abc import Iterator

import pytest

from vm import tree

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"


def write_script(folder: pathlib.Path, name: str, text: str) -> pathlib.Path:
    """Writes a shell script to a folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def boot_image(path: pathlib.Path, release: str = "6.12.1-test") -> pathlib.Path:
    """Writes a file that has only the boot header of an x86 kernel."""
    data = bytearray(0x1000)
    data[0x202:0x206] = b"HdrS"
    data[0x20E:0x210] = (0x600).to_bytes(2, "little")
    text = f"{release} (someone@somewhere) #1 SMP".encode()
    data[0x800 : 0x800 + len(text)] = text
    path.write_bytes(data)
    return path


def module_file(path: pathlib.Path, name: str, magic: str = "") -> pathlib.Path:
    """Compiles an object that has only a module's name and the kernels that it is for."""
    info = f"license=GPL\\0name={name}" + (f"\\0vermagic={magic}" if magic else "")
    says = f'char says[] __attribute__((section(".modinfo"))) = "{info}";'
    words = ["gcc", "-x", "c", "-c", "-o", str(path), "-"]
    subprocess.run(words, input=says, text=True, check=True)
    return path


def target_text(name: str, head: str = "", vm: str = "") -> str:
    """A target file of a software PMU. `head` and `vm`: more lines for [target], and the lines of [vm]."""
    return (
        f'[target]\nname = "{name}"\nmatch = "software"\nkind = "software"\n{head}'
        '[[event]]\nname = "context-switches"\naccuracy = "exact"\n'
    ) + (f"[vm]\n{vm}" if vm else "")


class FakeBuilds:
    """Stands for builds of kernels: each `make` writes an image of `release`, and is noted in `made`."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: pathlib.Path, release: str) -> None:
        self.made: list[tuple[str, ...]] = []
        self.options: list[str] = []

        def make(opened: tree.Tree, *targets: str) -> None:
            self.made.append(targets)
            opened.image.parent.mkdir(parents=True, exist_ok=True)
            boot_image(opened.image, release)

        @contextlib.contextmanager
        def opened(
            _series: str, options: str, built: pathlib.Path, log: pathlib.Path
        ) -> Iterator[tree.Tree]:
            self.options.append(options)
            yield tree.Tree(built, log)

        patch.setattr(tree, "opened", opened)
        patch.setattr(tree, "cache", lambda: folder)
        patch.setattr(tree.Tree, "configure", lambda *_: None)
        patch.setattr(tree.Tree, "make", make)
