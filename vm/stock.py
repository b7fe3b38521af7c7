# SPDX-License-Identifier: Apache-2.0
"""The stock kernels. Each is one file of vm/kernels: a series, or one of its flavours."""

from __future__ import annotations

import re
from typing import Any

from pmubase import toml_file
from pmubase.toml_file import TEXT, Schema

from . import PACKAGE

KERNELS = PACKAGE / "kernels"
FLAG: Schema = {"type": "boolean"}
MACHINE = toml_file.table(
    {"slowness": {"type": "number"}, "memory_mb": {"type": "integer"}, "parameters": TEXT},
    optional=["slowness", "memory_mb", "parameters"],
)
SCHEMA = toml_file.table(
    {
        "kernel": toml_file.table(
            {"name": TEXT, "suite": TEXT, "checked": FLAG, "sources": FLAG},
            optional=["suite", "checked", "sources"],
        ),
        "machine": MACHINE,
    },
    optional=["machine"],
)


def table(name: str) -> dict[str, Any]:
    """The content of the file of the kernel `name`."""
    return toml_file.load(KERNELS / f"{name}.toml", SCHEMA)


def names() -> list[str]:
    """The names of all stock kernels, the oldest first."""
    return sorted((path.stem for path in KERNELS.glob("*.toml")), key=_age)


def series() -> list[str]:
    """All series, the oldest first."""
    return [name for name in names() if "-" not in name]


def with_sources() -> list[str]:
    """The series whose sources the distribution has, the oldest first."""
    return [name for name in series() if table(name)["kernel"].get("sources", True)]


def suites(name: str, first: str | None = None) -> list[str | None]:
    """The suites (releases) of the distribution where the packages of a kernel are looked for. None: those of the host."""
    known = (KERNELS / f"{name}.toml").is_file()
    return list(
        dict.fromkeys([first, table(name)["kernel"].get("suite", first) if known else first])
    )


def _age(name: str) -> tuple[list[int], str]:
    """A key that sorts numbers as numbers."""
    return [int(number) for number in re.findall(r"\d+", name)], name
