# SPDX-License-Identifier: Apache-2.0
"""A probe on the machine of a target, with a fake machine."""

from __future__ import annotations

import pathlib
import tomllib
from collections.abc import Sequence
from typing import Any

import pytest

from pmubase import store
from pmubase.errors import UserError
from vm import arch, device, draft, driver, guest, kernel, once, runs, suite
from vm.cli import main
from vm.machine_options import MachineOptions
from vm.testing.stubs import TESTS, boot_image, module_file, target_text

MACHINE = 'cpu = "Odd,pmu=on"\ncmdline = "one two=3"\nsmp = 1\nmemory_mb = 600\n'


@pytest.fixture(autouse=True)
def stand_in(
    fakes: pathlib.Path,
    cache: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The suite's targets are `yours`, with a module, and `odd`, whose PMU has another name."""
    monkeypatch.setenv("PMUCONF_BINARY", str(TESTS / "agents/pmuconf"))
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg")
    monkeypatch.setattr(guest, "CASE_MARGIN_S", 0.5)
    monkeypatch.setattr(store, "ROOT", tmp_path)
    folder = tmp_path / "targets"
    folder.mkdir()
    with_module = 'module = "refpmu"\nparameters = "a=1 b=2"\n'
    (folder / "refpmu.toml").symlink_to(suite.TARGETS / "refpmu.toml")  # any guest has this file
    (folder / "yours.toml").write_text(target_text("yours", vm=with_module + MACHINE))
    (folder / "odd.toml").write_text(target_text("odd", head="slowness = 2.5\n", vm=MACHINE))
    monkeypatch.setattr(suite, "TARGETS", folder)


def probe(tmp_path: pathlib.Path, *more: str, how: str = "well") -> tuple[int, dict[str, Any]]:
    """The exit status of `pmuvm probe`, and its draft."""
    image, out = str(boot_image(tmp_path / f"behave={how}")), tmp_path / "draft.toml"
    status = main(["probe", "--kernel", image, "--out", str(out), *more])
    return status, tomllib.loads(out.read_text("utf-8")) if out.is_file() else {}


def test_draft_has_the_machine_of_the_target_with_the_pmus_name(tmp_path: pathlib.Path) -> None:
    module = module_file(tmp_path / "refpmu.ko", "refpmu")
    status, tables = probe(tmp_path, "--pmu", "yours", "--module", str(module))
    assert (status, tables["target"]["name"]) == (0, "yours")
    machine: dict[str, Any] = {
        "cpu": "Odd,pmu=on",
        "cmdline": "one two=3",
        "smp": 1,
        "memory_mb": 600,
    }
    assert tables["vm"] == {**machine, "module": "refpmu", "parameters": "a=1 b=2"}


def test_draft_has_the_name_and_the_machine_of_like(tmp_path: pathlib.Path) -> None:
    status, tables = probe(tmp_path, "--pmu", "cpu", "--like", "odd")
    head = {"name": "odd", "match": "cpu", "kind": "software", "slowness": 2.5}
    assert (status, tables["target"]) == (0, head)
    assert tables["vm"] == {
        "cpu": "Odd,pmu=on",
        "cmdline": "one two=3",
        "smp": 1,
        "memory_mb": 600,
    }


def test_draft_has_the_drivers_of_like_and_the_module_of_the_last_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("first.c", "second.ko")
    built = tuple(module_file(tmp_path / f"{name}.ko", name) for name in ("first", "second"))
    monkeypatch.setattr(driver, "modules", lambda asked, _: built if asked == names else ())
    text = target_text("driven", vm=f"driver = {list(names)}\n")
    (tmp_path / "targets" / "driven.toml").write_text(text)
    status, tables = probe(tmp_path, "--pmu", "cpu", "--like", "driven")
    assert (status, tables["vm"]) == (0, {"module": "second", "driver": list(names)})


def test_pmu_without_a_target_has_the_default_machine(tmp_path: pathlib.Path) -> None:
    status, tables = probe(tmp_path, "--pmu", "cpu")
    assert (status, tables["target"]["name"], "vm" in tables) == (0, "cpu", False)


def test_draft_with_icount_has_one_cpu(tmp_path: pathlib.Path) -> None:
    status, tables = probe(tmp_path, "--pmu", "cpu", "--icount", "3")
    assert (status, tables["vm"]) == (0, {"icount": 3, "smp": 1})


def test_options_override_the_machine_of_like(tmp_path: pathlib.Path) -> None:
    module = module_file(tmp_path / "other.ko", "other")
    words = ["--pmu", "cpu", "--like", "yours", "--module", str(module), "--parameters", "c=3"]
    status, tables = probe(tmp_path, *words, "--cmdline", "four", "--cpu-model", "Even")
    assert status == 0
    assert tables["vm"] == {
        "cpu": "Even",
        "cmdline": "four",
        "smp": 1,
        "memory_mb": 600,
        "module": "other",
        "parameters": "c=3",
    }


def test_guest_has_the_command_line_of_like(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dead.toml"
    path.write_text(target_text("dead", vm='cmdline = "behave=no-boot"\n'))
    status, tables = probe(tmp_path, "--pmu", "cpu", "--like", str(path))
    assert (status, tables) == (2, {})
    assert capfd.readouterr().err.splitlines()[-1].startswith("pmuvm: guest lost: ")


def test_kernel_of_a_series_is_that_of_the_kind_of_like(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kind.toml"
    path.write_text(target_text("kind", vm='kernel = "msr"\n'))
    asked = []

    def find(name: str, of: arch.Arch) -> kernel.Kernel:
        asked.append(name)
        raise UserError("no kernel")

    monkeypatch.setattr(kernel, "find", find)
    for name in ("6.12", "7.2", "6.1-debug"):
        with pytest.raises(UserError, match="no kernel"):
            draft.write(draft.Request("cpu", name, "amd64", like=str(path)), tmp_path / "out")
    assert asked == ["6.12-msr", "7.2-msr", "6.1-debug"]


def test_target_of_another_architecture_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "far.toml"
    path.write_text(target_text("far", vm='arch = "arm64"\n'))
    request = draft.Request("cpu", "6.12", "amd64", str(path), machine=MachineOptions(cpus=1))
    with pytest.raises(UserError, match="the target far needs guests with ARCH=arm64"):
        draft.write(request, tmp_path / "out")


def test_drafts_of_one_pmu_like_two_targets_have_two_files(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = str(boot_image(tmp_path / "bzImage"))
    (tmp_path / "targets" / "even.toml").write_text(target_text("even"))
    for like in ("odd", "even"):
        words = ["run", "--target", "probe", "--pmu", "cpu", "--like", like, "--kernel", image]
        assert main([*words, "--out", str(tmp_path / "out")]) == 0
        draft_file = tmp_path / "build" / "probe" / f"{like}.toml"
        said = capfd.readouterr().err
        assert f"drafted: {draft_file}" in said and f"{like} on 6.12.1-test" in said
        assert tomllib.loads(draft_file.read_text("utf-8"))["target"]["name"] == like


BAD = {
    "unknown target": (
        ["run", "--target", "probe", "--pmu", "cpu", "--like", "nothing"],
        "pmuvm: unknown LIKE 'nothing'; known: odd, refpmu, yours, or the path of a target's .toml",
    ),
    "unknown target of probe": (
        ["probe", "--out", "draft.toml", "--pmu", "cpu", "--like", "nothing"],
        "pmuvm: unknown LIKE 'nothing'; known: odd, refpmu, yours, or the path of a target's .toml",
    ),
    "not a probe": (
        ["run", "--target", "odd", "--like", "odd"],
        "pmuvm: --like goes only with --target probe, and names the machine to probe on",
    ),
    "all targets": (
        ["run", "--target", "all", "--like", "odd"],
        "pmuvm: --like goes only with --target probe, and names the machine to probe on",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_like_is_one_line_and_status_2(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    words, says = BAD[name]
    image = str(boot_image(tmp_path / "bzImage"))
    assert main([*words, "--kernel", image]) == 2
    assert capfd.readouterr().err.splitlines() == [says]
    assert not (tmp_path / "build").exists() and not pathlib.Path("draft.toml").exists()


def test_module_of_the_processors_registers_is_loaded_before_the_driver(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[once.Loaded] = []
    run = once.run

    def listen(host: once.Host, modules: Sequence[once.Loaded], *more: Any) -> guest.Done:
        loaded.extend(modules)
        return run(host, modules, *more)

    registers = module_file(tmp_path / f"{device.MSR_MODULE}.ko", device.MSR_MODULE)
    monkeypatch.setattr(runs, "_own_module", lambda *_: registers)
    monkeypatch.setattr(device, "arguments", lambda *_: [])
    monkeypatch.setattr(once, "run", listen)
    mine = module_file(tmp_path / "mine.ko", "mine")
    vm = 'device = ["rapl"]\nparameters = "a=1"\n'
    (tmp_path / "targets" / "energy.toml").write_text(target_text("energy", vm=vm))
    status, tables = probe(tmp_path, "--pmu", "cpu", "--like", "energy", "--module", str(mine))
    assert [each.path for each in loaded] == [registers, mine]
    assert loaded[0].parameters == device.msr_parameters(["rapl"])
    assert (status, tables["vm"]["module"], tables["vm"]["parameters"]) == (0, "mine", "a=1")
