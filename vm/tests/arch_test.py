# SPDX-License-Identifier: Apache-2.0
"""An architecture is one file. A malformed one is an error of one line with file and key."""

from __future__ import annotations

import pathlib

import pytest

from pmubase.errors import UserError
from vm import arch, kernel, stock


def test_each_file_is_an_architecture() -> None:
    assert {"amd64", "arm64"} <= arch.ARCHES.keys()
    for name, found in arch.ARCHES.items():
        assert (found.name, found.compiler) == (name, f"{found.triple}-")
        assert found.kernels.keys() <= set(stock.names())
    assert arch.find("arm64") == arch.ARM64
    with pytest.raises(UserError, match="unknown ARCH 'vax'; known: amd64, arm64"):
        arch.find("vax")


def test_each_stock_kernel_has_packages_for_an_architecture() -> None:
    for name in stock.names():
        assert arch.AMD64.name in kernel.arches_of(name)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[serial]", "[serials]", "unknown key 'serials'; known: processor, emulator, serial, "),
        ('machine = "x86_64"', "", "processor: no key 'machine'$"),
        ('machine = "x86_64"', "machine = 3", "processor.machine: 3 is not a text$"),
        ('machine = "x86_64"', 'machin = "x"', "processor: unknown key 'machin'; known: machine, "),
        ("icount_smp = false", "icount_smp = 0", "emulator.icount_smp: 0 is not true or false$"),
        (
            "icount_smp = false",
            "icount_smp = false\nicount = 11",
            "emulator.icount: 11 is not a whole number from 0 to 10$",
        ),
        (
            "icount_smp = false",
            "icount_smp = false\nslowness = 0.5",
            "emulator.slowness: 0.5 is not a number of 1 or more$",
        ),
        (
            'channel_port = ["-serial", ',
            "channel_port = [1, ",
            r"serial.channel_port\[1\]: 1 is not a text",
        ),
        ('kvm         = "max,pmu=off"', "", "emulator.cpu: no key 'kvm'$"),
        (
            '"bzImage"\n',
            '"uImage"\n',
            "image.format: 'uImage' is not one of bzImage, Image, vmlinux$",
        ),
        ('"bzImage"\n', '"Image"\n', "no key image.magic, which format 'Image' needs$"),
        ('image   = "linux-image-6.1.*-cloud-amd64"', "", r"packages.6\.1: no key 'image'$"),
        ("[image]", "[image", r"\(at line"),
    ],
)
def test_malformed_file_is_one_line(tmp_path: pathlib.Path, old: str, new: str, says: str) -> None:
    text = (arch.FOLDER / "amd64.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "own.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=f"^{path}: .*{says}") as caught:
        arch.read(path)
    assert "\n" not in str(caught.value)
