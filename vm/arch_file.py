# SPDX-License-Identifier: Apache-2.0
"""Reads the file of an architecture in vm/arches. Each key is known, and each error is one line with file and key."""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any

from pmubase.errors import UserError

TEXT, WORDS, FLAG = "a string", "a list of strings", "true or false"
FACTOR = "a number of 1 or more"
SHIFT = "a whole number from 0 to 10"
SHAPE: dict[str, dict[str, str]] = {
    "processor": {"machine": TEXT, "triple": TEXT, "kbuild": TEXT, "loader": TEXT},
    "emulator": {
        **{"program": TEXT, "package": TEXT, "machine": TEXT, "icount_smp": FLAG, "icount": SHIFT},
        **{"parameters": TEXT, "no_pmu": TEXT, "slowness": FACTOR, "cpu": ""},
    },
    "emulator.cpu": {"tcg": TEXT, "tcg-multi": TEXT, "kvm": TEXT},
    "serial": {"console": TEXT, "channel": TEXT, "channel_port": WORDS},
    "image": {"file": TEXT, "format": TEXT, "magic": TEXT},
    "distribution": {"host_packages": WORDS, "suite": TEXT, "libraries": WORDS},
}
"""The keys of each section, with the kinds of their values."""
PACKAGES = {"image": TEXT, "headers": TEXT, "make": WORDS}
"""The keys of a kernel in the section `packages`."""
OPTIONAL = {
    *("emulator.parameters", "emulator.no_pmu", "emulator.slowness", "emulator.icount"),
    *("image.magic", "distribution.suite", "distribution.libraries"),
}
OPTIONAL_OF_KERNEL = {"headers", "make"}
FORMATS = ("bzImage", "Image", "vmlinux")
"""The headers that an image may have."""

Table = dict[str, Any]


def read(path: pathlib.Path) -> Table:
    """The content of the file, by section and key. UserError if it has other keys or kinds of values."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from error
    sections = [*(name for name in SHAPE if "." not in name), "packages"]
    _known(path, "", table, sections)
    for name, keys in SHAPE.items():
        optional = {key for key in keys if f"{name}.{key}" in OPTIONAL}
        _section(path, name, _at(path, table, name), keys, optional)
    for kernel, names in _at(path, table, "packages").items():
        place = f"packages.{kernel}"
        if not isinstance(names, dict):
            raise UserError(f"{path}: {place} is not a section")
        _section(path, place, names, PACKAGES, OPTIONAL_OF_KERNEL)
    image = table["image"]
    if image["format"] not in FORMATS:
        known = ", ".join(FORMATS)
        raise UserError(f"{path}: unknown image.format '{image['format']}'; known: {known}")
    if image["format"] == "Image" and "magic" not in image:
        raise UserError(f"{path}: no key image.magic, which format 'Image' needs")
    return table


def _at(path: pathlib.Path, table: Table, name: str) -> Table:
    found: Any = table
    for part in name.split("."):
        found = found.get(part)
        if not isinstance(found, dict):
            raise UserError(f"{path}: no section {name}")
    return dict(found)


def _known(path: pathlib.Path, place: str, found: Table, keys: list[str]) -> None:
    for key in found:
        if key not in keys:
            raise UserError(f"{path}: unknown key {place}{key}; known: {', '.join(keys)}")


def _section(
    path: pathlib.Path, name: str, found: Table, keys: dict[str, str], optional: set[str]
) -> None:
    _known(path, f"{name}.", found, list(keys))
    for key, kind in keys.items():
        place = f"{name}.{key}"
        if key not in found:
            if key in optional:
                continue
            raise UserError(f"{path}: no key {place}")
        if kind and not _is(found[key], kind):
            raise UserError(f"{path}: {place} is {found[key]!r}, not {kind}")


def _is(value: Any, kind: str) -> bool:
    if kind == WORDS:
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if kind == FACTOR:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 1
    if kind == SHIFT:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10
    return isinstance(value, bool if kind == FLAG else str)
