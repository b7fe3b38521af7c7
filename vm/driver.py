# SPDX-License-Identifier: Apache-2.0
"""Drivers of the kernel itself, as modules for a stock kernel: built from its unmodified sources, or its own binaries."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence

from pmubase import store
from pmubase.errors import UserError

from . import folder, kernel, source, tree

SERIES = re.compile(r"\d+\.\d+")
COMPOSITE = re.compile(r"^([\w-]+)-(?:y|objs)\s*[:+]?=(.*)$", re.M)
"""A line of a Makefile that states the objects of a module."""
LICENCE = '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("The licence");\n'
"""The second file of a module whose driver cannot be one in the kernel, so it states no licence."""
BELOW = "below"
"""A folder on the include path of a build, which makes "../perf_event.h" a header in the folder of the sources."""


def modules(
    names: Sequence[str], found: kernel.Kernel, sources: pathlib.Path | None = None
) -> tuple[pathlib.Path, ...]:
    """The modules of drivers, in their order. A name is a source, such as drivers/perf/thunderx2_pmu.c in the kernel's
    tree, or a module of the kernel's package, such as arm_smmuv3_pmu.ko.

    `sources`: a tree with these sources; the kernel's own ones without one."""
    ours = [name for name in names if name.endswith(".c")]
    built = _built(ours, found, sources) if ours else {}
    return tuple(built[name] if name in built else _packaged(name, found) for name in names)


def module_of(name: str, found: kernel.Kernel) -> str:
    """The name of the module that has a source of the kernel's tree."""
    return _parts(_texts([name], found, None)[name])[0]


def headers(place: pathlib.Path) -> list[pathlib.Path]:
    """The headers next to the sources in a folder, and in the folder above, which come first."""
    return [*sorted(place.parent.glob("*.h")), *sorted(place.glob("*.h"))]


def _packaged(name: str, found: kernel.Kernel) -> pathlib.Path:
    """The file of a module that the kernel's package has."""
    data = kernel.module_of_package(found, name.removesuffix(".ko"))
    if data is None:
        raise UserError(f"the kernel {found.name} has no module {name}")
    path = store.cache() / "drivers" / found.release / name
    if not path.is_file() or path.read_bytes() != data:
        store.write(path, data)
    return path


def _built(
    names: Sequence[str], found: kernel.Kernel, sources: pathlib.Path | None
) -> dict[str, pathlib.Path]:
    """The modules of sources, by the names of the sources."""
    texts = _texts(names, found, sources)
    parts_of = {name: _parts(file) for name, file in texts.items()}
    product = {name: f"{module}.ko" for name, (module, _) in parts_of.items()}
    with store.scratch(store.cache() / "drivers") as copy:
        lines = [_rule(copy, module, files) for module, files in parts_of.values()]
        for place in {file.parent for file in texts.values()}:
            for header in headers(place):
                store.write(copy / header.name, header.read_bytes())
            if any(place.parent.glob("*.h")) and not (copy / BELOW).is_dir():
                store.write(copy / BELOW / "empty", b"")
                lines.append(f"ccflags-y += -I$(src)/{BELOW}\n")
        store.write(copy / "Kbuild", "".join(lines).encode())
        # Another run may read the modules, so a folder that has them is never written again.
        parts = [file.read_bytes() for file in sorted(copy.iterdir()) if file.is_file()]
        key = store.digest([f"{found.build} {names}".encode(), *parts])
        out = store.cache() / "drivers" / found.release / key
        with store.locked(out.parent / f"{key}.lock"):
            if not all((out / made).is_file() for made in product.values()):
                folder.build(found, copy, out)
    return {name: out / made for name, made in product.items()}


def _texts(
    names: Sequence[str], found: kernel.Kernel, sources: pathlib.Path | None
) -> dict[str, pathlib.Path]:
    """The files of sources, by their names."""
    files = {name: (sources or tree_of(name, found)) / name for name in names}
    for name, path in files.items():
        if not path.is_file():
            raise UserError(f"the sources of the kernel {found.name} have no file {name}")
    return files


def _parts(file: pathlib.Path) -> tuple[str, list[pathlib.Path]]:
    """The name of the module that has a source, and the sources of the module. The Makefile in the folder of the source
    states them if there is more than one."""
    makefile = file.with_name("Makefile")
    text = makefile.read_text("utf-8").replace("\\\n", " ") if makefile.is_file() else ""
    for module, objects in COMPOSITE.findall(text):
        if f"{file.stem}.o" in objects.split():
            return module, [file.with_name(f"{name[:-2]}.c") for name in objects.split()]
    return (file.stem if _has_licence(file) else f"{file.stem}_module"), [file]


def _has_licence(file: pathlib.Path) -> bool:
    return "MODULE_LICENSE(" in file.read_text("utf-8")


def _rule(copy: pathlib.Path, module: str, files: Sequence[pathlib.Path]) -> str:
    """The lines of Kbuild for a module. `copy` gets a copy of its sources."""
    for file in files:
        store.write(copy / file.name, file.read_bytes())
    names = [f"{file.stem}.o" for file in files]
    if not any(_has_licence(file) for file in files):
        store.write(copy / "licence.c", f"// SPDX-License-Identifier: GPL-2.0\n{LICENCE}".encode())
        names.append("licence.o")
    parts = "" if names == [f"{module}.o"] else f"{module}-y := {' '.join(names)}\n"
    return f"obj-m += {module}.o\n{parts}"


def tree_of(name: str, found: kernel.Kernel) -> pathlib.Path:
    """A folder with the part of the kernel's sources that has `name`: its first two folders, such as drivers/perf."""
    series = SERIES.match(found.name)
    if series is None:
        raise UserError(f"no sources of the kernel {found.name}: name a module with --module")
    package = source.ensure(series[0], tree.cache())
    part = "/".join(name.split("/")[:2])
    path = store.cache() / "drivers" / package.stem / part.replace("/", "+")
    with store.locked(store.cache() / "drivers.lock"):
        if not path.is_dir():
            with store.new_folder(path) as scratch:
                source.unpack(package, scratch, part)
    return path
