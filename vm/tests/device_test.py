# SPDX-License-Identifier: Apache-2.0
"""A device becomes arguments of QEMU. If a machine cannot have it, one line states the reason."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

from pmubase.errors import UserError
from vm import arch, device
from vm.testing.stubs import write_script

MODEL = '#include "plugin/model.h"\nconst struct model model = {.name = "mine", .size = 4096};\n'
TABLE = '[device]\narch = "amd64"\nregisters = 0xfed80000\nport = 0xfed81000\npin = 20\n'
ASL = (
    "\n[acpi]\nsource = '''\nDevice (MINE) { Name (_HID, \"ABCD0001\")\n"
    "Name (_CRS, ResourceTemplate () { Memory32Fixed (ReadWrite, REGISTERS, 0x1000) }) }\n'''\n"
)
NODE = """
[device_tree]
source = '''
mine@b000000 { compatible = "me,mine"; reg = <0 REGISTERS 0 0x1000>; interrupts = <0 PIN 4>; };
'''
"""
needs_tree = pytest.mark.skipif(
    None in (shutil.which("dtc"), shutil.which("qemu-system-aarch64")),
    reason="no program dtc (device-tree-compiler), or no emulator of arm64",
)


@pytest.fixture
def mine(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "mine.c").write_text(MODEL, encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def refusal(name: str, of: arch.Arch = arch.AMD64, accelerator: str = "tcg") -> str:
    with pytest.raises(UserError) as refused:
        device.arguments([name], of, accelerator)
    return str(refused.value)


def emulator(fakes: pathlib.Path, text: str) -> pathlib.Path:
    (fakes / "qemu-system-x86_64").unlink()
    return write_script(fakes, "qemu-system-x86_64", text)


def test_device_of_a_file_becomes_a_plugin_with_its_places(
    cache: pathlib.Path, mine: pathlib.Path
) -> None:
    words = device.arguments([str(mine)], arch.AMD64, "tcg")
    assert words[0] == "-plugin" and len(words) == 2
    file, *options = words[1].split(",")
    assert pathlib.Path(file).parent == cache / "devices"
    assert options == ["registers=0xfed80000", "port=0xfed81000", "pin=0x14"]
    assert device.arguments([str(mine)], arch.AMD64, "tcg") == words


def test_changed_model_is_another_plugin(cache: pathlib.Path, mine: pathlib.Path) -> None:
    before = device.arguments([str(mine)], arch.AMD64, "tcg")
    mine.with_suffix(".c").write_text(f"{MODEL}\n/* changed */\n", encoding="utf-8")
    assert device.arguments([str(mine)], arch.AMD64, "tcg") != before


def test_function_on_the_pci_bus_needs_no_table(cache: pathlib.Path, mine: pathlib.Path) -> None:
    mine.write_text('[device]\narch = "amd64"\nport = 4096\npci = 1\nbar = 2\n', encoding="utf-8")
    assert device.arguments([str(mine)], arch.AMD64, "tcg")[2:] == ["-device", "pmuconf-mine"]


@pytest.mark.skipif(shutil.which("iasl") is None, reason="no program iasl (acpica-tools)")
def test_acpi_source_becomes_a_table(cache: pathlib.Path, mine: pathlib.Path) -> None:
    mine.write_text(TABLE + ASL, encoding="utf-8")
    *_, option, value = device.arguments([str(mine)], arch.AMD64, "tcg")
    assert option == "-acpitable"
    table = pathlib.Path(value.removeprefix("file=")).read_bytes()
    assert table.startswith(b"SSDT") and (0xFED80000).to_bytes(4, "little") in table


@pytest.mark.skipif(shutil.which("iasl") is None, reason="no program iasl (acpica-tools)")
def test_device_with_a_node_gets_a_table_of_cpus_and_memory(
    cache: pathlib.Path, mine: pathlib.Path
) -> None:
    mine.write_text(TABLE + ASL.replace("[acpi]", "[acpi]\nnode = true"), encoding="utf-8")
    *_, option, value = device.arguments([str(mine)], arch.AMD64, "tcg")
    assert option == "-acpitable" and value.startswith("sig=SRAT,rev=3,data=")
    body = pathlib.Path(value.partition("data=")[2]).read_bytes()
    sizes = []
    rest = body[12:]
    while rest:
        sizes.append((rest[0], rest[1]))
        rest = rest[rest[1] :]
    assert sizes == [(0, 16)] * 16 + [(1, 40)]


@pytest.mark.skipif(shutil.which("iasl") is None, reason="no program iasl (acpica-tools)")
def test_wrong_acpi_source_is_named(cache: pathlib.Path, mine: pathlib.Path) -> None:
    mine.write_text(TABLE + ASL.replace("_HID", "HID-"), encoding="utf-8")
    assert refusal(str(mine)) == f"could not compile [acpi] of {mine}"


@needs_tree
def test_nodes_are_added_to_the_device_tree_of_the_machine(
    cache: pathlib.Path, mine: pathlib.Path
) -> None:
    mine.write_text(TABLE.replace("amd64", "arm64") + NODE, encoding="utf-8")
    board = ["-machine", "virt,gic-version=3", "-cpu", "cortex-a57", "-smp", "3"]
    *_, option, tree = device.arguments([str(mine)], arch.ARM64, "tcg", board)
    assert option == "-dtb"
    words = ["dtc", "-q", "-I", "dtb", "-O", "dts", tree]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert text.count("arm,cortex-a57") == 3
    assert "reg = <0x00 0xfed80000 0x00 0x1000>" in text
    assert "interrupts = <0x00 0x14 0x04>" in text


@needs_tree
def test_wrong_nodes_are_named(cache: pathlib.Path, mine: pathlib.Path) -> None:
    text = TABLE.replace("amd64", "arm64") + NODE.replace("reg =", "reg :")
    mine.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=f"^could not compile .device_tree. of {mine}$"):
        device.arguments([str(mine)], arch.ARM64, "tcg", ["-machine", "virt"])


def test_driver_that_does_not_find_a_node_is_bound_to_it(mine: pathlib.Path) -> None:
    text = TABLE + NODE.replace("[device_tree]", '[device_tree]\ndriver = "mine_pmu"')
    mine.write_text(text, encoding="utf-8")
    assert device.bindings([str(mine), "ali_drw"]) == (("b000000.mine", "mine_pmu"),)


def test_source_without_a_node_cannot_be_bound(mine: pathlib.Path) -> None:
    text = TABLE + '[device_tree]\ndriver = "mine_pmu"\nsource = "mine {};"\n'
    mine.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="source must begin with a node like pmu@b000000 {$"):
        device.bindings([str(mine)])


def test_machine_without_a_device_tree_is_named(mine: pathlib.Path) -> None:
    mine.write_text(TABLE + NODE, encoding="utf-8")
    assert refusal(str(mine)) == f"{mine}: a machine of amd64 has no device tree; use [acpi]"


def test_model_that_does_not_compile_is_named(cache: pathlib.Path, mine: pathlib.Path) -> None:
    mine.with_suffix(".c").write_text("int", encoding="utf-8")
    assert refusal(str(mine)) == f"could not compile {mine.with_suffix('.c')}"


def test_missing_model_is_named(mine: pathlib.Path) -> None:
    model = mine.with_suffix(".c")
    model.unlink()
    wanted = f"no model {model}: it is next to the TOML file of the device"
    assert refusal(str(mine)) == wanted


def test_unknown_key_is_named(mine: pathlib.Path) -> None:
    mine.write_text(f"{TABLE}irq = 1\n", encoding="utf-8")
    assert refusal(str(mine)).startswith(f"{mine}: device: unknown key 'irq'; known: arch, ")


def test_unknown_name_is_named() -> None:
    known = ", ".join(sorted(path.stem for path in device.MODELS.glob("*.toml")))
    assert refusal("none") == f"unknown DEVICE 'none'; known: {known}, or a file *.toml"


def test_device_of_another_architecture_is_refused(fakes: pathlib.Path, mine: pathlib.Path) -> None:
    (fakes / "qemu-system-aarch64").symlink_to("/usr/bin/qemu-system-x86_64")
    wanted = f"{mine}: the device needs ARCH=amd64, not arm64"
    assert refusal(str(mine), arch.ARM64) == wanted


def test_kvm_is_refused(mine: pathlib.Path) -> None:
    wanted = "a device needs the accelerator tcg, not kvm"
    assert refusal(str(mine), accelerator="kvm") == wanted


@pytest.mark.parametrize("version", ["8", "12"])
def test_emulator_of_unknown_layout_is_refused(fakes: pathlib.Path, version: str) -> None:
    program = emulator(fakes, f"echo 'QEMU emulator version {version}.1.0 (Debian 1)'")
    assert refusal("ali_drw") == f"a device needs QEMU 7, 10, 11; {program} is {version}"


def test_emulator_that_hides_its_functions_is_refused(fakes: pathlib.Path) -> None:
    program = emulator(fakes, "echo 'QEMU emulator version 10.0.2'")
    assert refusal("ali_drw") == (
        "a device needs a QEMU that exports its functions; " f"{program} hides get_system_memory"
    )


MSR = """
[msr]
ranges = [[0xc0010230, 12], [0x34, 1]]
counters = [[10, 6]]
features = ["topoext", "perfctr_llc"]
stride = 0x100000
builtin = "amd_l3"
"""


def test_registers_of_the_processor_become_parameters_of_their_module(mine: pathlib.Path) -> None:
    assert device.msr_parameters([str(mine)]) == ()
    mine.write_text(TABLE + MSR, encoding="utf-8")
    assert device.msr_parameters([str(mine)]) == (
        "registers=0xfed80000",
        "msrs=0xc0010230,0xc,0x34,0x1",
        "counters=10,6",
        "features=topoext,perfctr_llc",
        "stride=1048576",
        "builtin=amd_l3",
    )


def test_only_one_device_has_registers_of_the_processor(mine: pathlib.Path) -> None:
    mine.write_text(TABLE + MSR, encoding="utf-8")
    other = mine.with_name("other.toml")
    other.write_text(TABLE + MSR, encoding="utf-8")
    with pytest.raises(UserError, match=r"other\.toml: .*only one device can have it"):
        device.msr_parameters([str(mine), str(other)])


def test_registers_of_the_processor_need_a_place(mine: pathlib.Path) -> None:
    mine.write_text(TABLE.replace("registers = 0xfed80000\n", "") + MSR, encoding="utf-8")
    with pytest.raises(UserError, match=r"\[msr\] needs `registers`"):
        device.msr_parameters([str(mine)])
