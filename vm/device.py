# SPDX-License-Identifier: Apache-2.0
"""Devices that a plugin of QEMU adds to a machine: vm/devices/. A device is a model, a C file, and a TOML file with the same
name, which states how the guest finds it."""

from __future__ import annotations

import pathlib
import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from typing import Any

from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import Schema, table

from . import PACKAGE, arch, work

FOLDER = PACKAGE / "devices"
MODELS = FOLDER / "models"
SUITE = store.ROOT / "conformance"
VERSIONS = (7, 10, 11)
"""The major versions of QEMU whose layouts vm/devices/plugin/qemu.h has."""
TIMEOUT_S = 60
KEPT_DAYS = 30
KEPT_BYTES = 64 << 20
NUMBER: Schema = {"type": "integer", "minimum": 0}
NUMBERS = ("registers", "port", "pin", "pci", "bar", "config")
"""The options of the plugin."""
PAIR: Schema = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
"""The first of a range of registers, and how many there are."""
SCHEMA = table(
    {
        "device": table(
            {"arch": {"enum": sorted(arch.ARCHES)}, **dict.fromkeys(NUMBERS, NUMBER)},
            optional=["registers", "pin", "pci", "bar", "config"],
        ),
        "acpi": table({"source": toml_file.TEXT, "node": {"type": "boolean"}}, optional=["node"]),
        "device_tree": table(
            {"source": toml_file.TEXT, "driver": toml_file.TEXT}, optional=["driver"]
        ),
        "msr": table(
            {
                "ranges": {"type": "array", "items": PAIR, "minItems": 1},
                "counters": {"type": "array", "items": PAIR},
                "features": toml_file.TEXTS,
                "stride": NUMBER,
                "builtin": toml_file.TEXT,
            },
            optional=["counters", "features", "stride", "builtin"],
        ),
    },
    optional=["acpi", "device_tree", "msr"],
)
MSR_MODULE = "refpmu_devmsr"
"""The module that makes registers of a device registers of the processor: driver/devmsr."""
TREE = "virt"
"""The kind of QEMU's machines that have a device tree."""
NODE = re.compile(r"^\s*([\w,.+-]+)@([0-9a-f]+) \{")
"""The first node of a source: its name and its address."""
CFLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden")
NODE_CPUS = 16
NODE_BYTES = 1 << 40
PACKAGES = {"iasl": "acpica-tools", "dtc": "device-tree-compiler", "gcc": "build-essential"}
DECLARED = re.compile(r"^(?!typedef)[\w ]+?\*?\s\*?(\w+)\([^;]*\);$", re.M)
"""A function that qemu.h declares."""


def arguments(
    names: Sequence[str], of: arch.Arch, accelerator: str, board: Sequence[str] = ()
) -> list[str]:
    """QEMU's arguments for devices: names in vm/devices/models, or files *.toml. UserError if the machine cannot have
    them. `board`: QEMU's arguments that determine the machine's device tree."""
    if not names:
        return []
    if accelerator == "kvm":
        raise UserError("a device needs the accelerator tcg, not kvm")
    emulator = shutil.which(of.qemu)
    if emulator is None:
        return []  # Its start reports that.
    version = check_emulator(emulator)
    found = {path: _load(path, of) for path in map(find, names)}
    words = [word for path, of_file in found.items() for word in _arguments(path, of_file, version)]
    nodes = {path: _source(of_file, "device_tree") for path, of_file in found.items()}
    nodes = {path: node for path, node in nodes.items() if node}
    if nodes:
        words += ["-dtb", str(_tree(nodes, [emulator, *board]))]
    return words


def bindings(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Devices of the guest's platform bus, each with a driver that does not find it by itself."""
    found = []
    for path in map(find, names):
        tree = toml_file.load(path, SCHEMA).get("device_tree", {})
        if "driver" in tree:
            node = NODE.match(tree["source"])
            if node is None:
                raise UserError(
                    f"{path}: [device_tree] source must begin with a node like pmu@b000000 {{"
                )
            found.append((f"{node[2]}.{node[1]}", tree["driver"]))
    return tuple(found)


def msr_parameters(names: Sequence[str]) -> tuple[str, ...]:
    """The parameters of MSR_MODULE for devices whose registers are some of the processor's; () if there are none."""
    words: list[str] = []
    for path in map(find, names):
        found = toml_file.load(path, SCHEMA)
        if "msr" not in found:
            continue
        if words or "registers" not in found["device"]:
            raise UserError(f"{path}: [msr] needs `registers`, and only one device can have it")
        table_of = found["msr"]
        lists = {
            "msrs": [f"{number:#x}" for pair in table_of["ranges"] for number in pair],
            "counters": [str(number) for pair in table_of.get("counters", []) for number in pair],
            "features": table_of.get("features", []),
        }
        words.append(f"registers={found['device']['registers']:#x}")
        words += [f"{name}={','.join(values)}" for name, values in lists.items() if values]
        words += [f"{name}={table_of[name]}" for name in ("stride", "builtin") if name in table_of]
    return tuple(words)


def find(name: str) -> pathlib.Path:
    """The file of the device called `name`, or the one at that path."""
    path = MODELS / f"{name}.toml"
    if "/" in name or not path.is_file():
        path = pathlib.Path(name)
        if not name.endswith(".toml") or not path.is_file():
            known = ", ".join(sorted(path.stem for path in MODELS.glob("*.toml")))
            raise UserError(f"unknown DEVICE '{name}'; known: {known}, or a file *.toml")
    return path.resolve()


def check_emulator(emulator: str) -> int:
    """The major version of an emulator. UserError if its plugins cannot add devices."""
    says = work.says(emulator, "--version")
    number = re.search(r"version (\d+)\.", says)
    if number is None or int(number[1]) not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        has = number[1] if number else "no known version"
        raise UserError(f"a device needs QEMU {known}; {emulator} is {has}")
    header = (FOLDER / "plugin" / "qemu.h").read_text("utf-8")
    exported = set(work.output("nm", "-D", "--defined-only", emulator).split())
    hidden = [name for name in DECLARED.findall(header) if name not in exported]
    if hidden:
        raise UserError(
            f"a device needs a QEMU that exports its functions; {emulator} hides {hidden[0]}"
        )
    return int(number[1])


def _load(path: pathlib.Path, of: arch.Arch) -> dict[str, Any]:
    found = toml_file.load(path, SCHEMA)
    if found["device"]["arch"] != of.name:
        raise UserError(f"{path}: the device needs ARCH={found['device']['arch']}, not {of.name}")
    if "device_tree" in found and not of.qemu_machine.startswith(TREE):
        raise UserError(f"{path}: a machine of {of.name} has no device tree; use [acpi]")
    return found


def _source(found: dict[str, Any], key: str) -> str:
    """The source in a table of a device's file, or "". Names in capitals stand for the numbers of [device]."""
    source: str = found.get(key, {}).get("source", "")
    for name, value in found["device"].items():
        if name in NUMBERS:
            source = re.sub(rf"\b{name.upper()}\b", f"{value:#x}", source)
    return source


def _arguments(path: pathlib.Path, found: dict[str, Any], version: int) -> list[str]:
    own = found["device"]
    options = [f"{key}={own[key]:#x}" for key in NUMBERS if key in own]
    words = ["-plugin", ",".join([str(_plugin(path.with_suffix(".c"), version)), *options])]
    if "pci" in own:
        words += ["-device", f"pmuconf-{path.stem}"]
    if "acpi" in found:
        words += ["-acpitable", f"file={_table(path, _source(found, 'acpi'))}"]
        if found["acpi"].get("node", False):
            words += ["-acpitable", f"sig=SRAT,rev=3,data={_affinity()}"]
    return words


def _plugin(model: pathlib.Path, version: int) -> pathlib.Path:
    """The plugin with a model, built once for each content."""
    if not model.is_file():
        raise UserError(f"no model {model}: it is next to the TOML file of the device")
    sources = sorted((FOLDER / "plugin").glob("*.c")) + [model]
    headers = [*(FOLDER / "plugin").glob("*.h"), *model.parent.glob("*.h")]
    headers.append(SUITE / "stimulus" / "port_page.h")
    words = [*CFLAGS, f"-DQEMU_MAJOR={version}", f"-I{FOLDER}", f"-I{SUITE}"]
    parts = [path.read_bytes() for path in sorted((*sources, *headers))]
    built = _place(parts, f"{model.stem} {words}", ".so")
    if not built.is_file():
        with store.scratch(built.parent) as folder:
            product = folder / built.name
            _run(["gcc", *words, "-o", str(product), *map(str, sources)], f"compile {model}")
            product.replace(built)
    return built


def _table(path: pathlib.Path, source: str) -> pathlib.Path:
    """An ACPI table (SSDT) with `source`, the ASL of devices."""
    head = 'DefinitionBlock ("", "SSDT", 2, "PMUCNF", "DEVICE", 1)'
    content = f"{head}\n{{ Scope (\\_SB) {{\n{source}\n}} }}\n".encode()
    built = _place([content], path.stem, ".aml")
    if not built.is_file():
        with store.scratch(built.parent) as folder:
            asl = folder / "table.asl"
            asl.write_bytes(content)
            _run(["iasl", "-p", str(asl.with_suffix("")), str(asl)], f"compile [acpi] of {path}")
            asl.with_suffix(".aml").replace(built)
    return built


def _affinity() -> pathlib.Path:
    """The body of an ACPI table (SRAT): all CPUs and all memory are in the proximity domain 0."""
    used = 1
    parts = [struct.pack("<IQ", 1, 0)]
    parts += [struct.pack("<BBBBIIi", 0, 16, 0, apic, used, 0, 0) for apic in range(NODE_CPUS)]
    parts.append(struct.pack("<BBIHQQIIQ", 1, 40, 0, 0, 0, NODE_BYTES, 0, used, 0))
    built = _place(parts, "affinity", ".srat")
    if not built.is_file():
        store.write(built, b"".join(parts))
    return built


def _tree(nodes: dict[pathlib.Path, str], machine: Sequence[str]) -> pathlib.Path:
    """The device tree that QEMU makes for a machine, with the nodes of devices, by their files. `machine`: the emulator
    and its arguments."""
    added = "".join(f"/ {{\n{node}\n}};\n" for node in nodes.values()).encode()
    what = f"{machine} {work.says(machine[0], '--version')}"
    built = _place([added], what, ".dtb")
    if not built.is_file():
        with store.scratch(built.parent) as folder:
            dump, text, product = (folder / name for name in ("machine", "text", built.name))
            dumpdtb = f"dumpdtb={dump}".replace(",", ",,")
            quiet = ["-accel", "tcg", "-nodefaults", "-display", "none"]
            _run([*machine, "-machine", dumpdtb, *quiet], "write the device tree of the machine")
            dtc = ["dtc", "-q", "-o"]
            _run([*dtc, str(text), "-I", "dtb", "-O", "dts", str(dump)], f"read {dump}")
            text.write_bytes(text.read_bytes() + added)
            what = f"compile [device_tree] of {', '.join(map(str, nodes))}"
            _run([*dtc, str(product), "-I", "dts", "-O", "dtb", str(text)], what)
            product.replace(built)
    return built


def _place(parts: list[bytes], what: str, suffix: str) -> pathlib.Path:
    folder = store.cache() / "devices"
    folder.mkdir(parents=True, exist_ok=True)
    store.prune(folder, "*.*", KEPT_DAYS, KEPT_BYTES)
    return folder / f"{store.digest([what.encode(), *parts])}{suffix}"


def _run(argv: list[str], what: str) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except FileNotFoundError:
        package = PACKAGES[argv[0]]
        raise UserError(f"no program '{argv[0]}' on this machine (package {package})") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"could not {what}: not finished after {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise UserError(f"could not {what}", details=(done.stderr + done.stdout).strip())
