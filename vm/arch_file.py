# SPDX-License-Identifier: Apache-2.0
"""Reads the file of an architecture in vm/arches. Each key is known, and each error is one line with file and key."""

from __future__ import annotations

import pathlib
from typing import Any

from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import Schema, table

TEXT: Schema = {"type": "string"}
WORDS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
FACTOR: Schema = {"type": "number", "minimum": 1, "description": "a number of 1 or more"}
SHIFT: Schema = {
    "description": "a whole number from 0 to 10",
    **{"type": "integer", "minimum": 0, "maximum": 10},
}
KERNEL = table({"image": TEXT, "headers": TEXT}, optional=["headers"])
SCHEMA = table(
    {
        "processor": table(dict.fromkeys(("machine", "triple", "kbuild", "loader"), TEXT)),
        "emulator": table(
            {
                **{"program": TEXT, "package": TEXT, "machine": TEXT, "icount_smp": FLAG},
                **{"icount": SHIFT, "parameters": TEXT, "no_pmu": TEXT, "slowness": FACTOR},
                "cpu": table(dict.fromkeys(("tcg", "tcg-multi", "kvm"), TEXT)),
            },
            optional=["icount", "parameters", "no_pmu", "slowness"],
        ),
        "serial": table({"console": TEXT, "channel": TEXT, "channel_port": WORDS}),
        "image": table(
            {"file": TEXT, "format": {"enum": ["bzImage", "Image", "vmlinux"]}, "magic": TEXT},
            optional=["magic"],
        ),
        "distribution": table(
            {"host_packages": WORDS, "suite": TEXT, "libraries": WORDS},
            optional=["suite", "libraries"],
        ),
        "packages": {"type": "object", "additionalProperties": KERNEL},
    }
)


def read(path: pathlib.Path) -> dict[str, Any]:
    """The content of the file, by section and key. UserError if it has other keys or kinds of values."""
    found = toml_file.load(path, SCHEMA)
    if found["image"]["format"] == "Image" and "magic" not in found["image"]:
        raise UserError(f"{path}: no key image.magic, which format 'Image' needs")
    return found
