# SPDX-License-Identifier: Apache-2.0
"""Targets and selections are checked before a run starts, and errors list the known names."""

from __future__ import annotations

import pathlib
import tomllib

import pytest

from pmubase.errors import UserError
from vm import suite
from vm.machine_options import MachineOptions
from vm.testing.stubs import TESTS, target_text, write_script


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(TESTS / "agents/pmuconf"))


def target(tmp_path: pathlib.Path, text: str) -> suite.Target:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return suite.find_target(str(path))


def test_every_target_of_the_project_is_found_by_name() -> None:
    names = [path.stem for path in suite.TARGETS.glob("*.toml")]
    assert "refpmu" in names
    for name in names:
        assert suite.find_target(name).name == name


def test_target_has_its_machine(tmp_path: pathlib.Path) -> None:
    found = target(
        tmp_path,
        target_text(
            "mine",
            'port = "/dev/refpmu"\nslowness = 2\n',
            'smp = 4\nmemory_mb = 1024\naccel = "tcg-multi"\nparameters = "cpu=1"\n'
            'icount = 2\ncpu = "host"\nwork = ["loads", "taken"]\n',
        ),
    )
    assert (found.module, found.parameters, found.slowness) == ("refpmu", ("cpu=1",), 2.0)
    assert found.machine == MachineOptions(4, 1024, "tcg-multi", 2, "host", "", ("loads", "taken"))


def test_target_may_require_one_architecture() -> None:
    everywhere, there = set(suite.targets_on("amd64")), set(suite.targets_on("arm64"))
    assert "refpmu" in everywhere and "refpmu" in there
    assert "armv8_pmuv3" in there - everywhere


def test_a_target_of_the_kernels_own_needs_no_module(tmp_path: pathlib.Path) -> None:
    found = target(tmp_path, target_text("mine"))
    assert (found.name, found.module, found.arch, found.kind) == ("mine", None, None, None)
    assert found.machine == MachineOptions(cpus=2, memory_mb=512, cmdline="")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[target\n", r"mine.toml:1: "),
        ("", r"mine.toml:1: key 'target' is missing"),
        (target_text("mine", "slowness = 0\n"), "mine.toml:5: key 'target.slowness'"),
        (target_text("mine", "", "smp = '2'\n"), "mine.toml:9: key 'vm.smp'"),
        (target_text("mine", "", "smp = true\n"), "mine.toml:9: key 'vm.smp'"),
        (target_text("mine", "", "icount = 'yes'\n"), "mine.toml:9: key 'vm.icount'"),
        (target_text("mine", "", "work = 'loads'\n"), "mine.toml:9: key 'vm.work'"),
        (target_text("mine", "", "archs = 'vax'\n"), "mine.toml:9: key 'vm.archs'"),
        (target_text("mine", "", "arch = 'vax'\n"), "vm.arch is 'vax'; known: amd64, arm64"),
        (target_text("mine", "", "accel = 'hvf'\n"), "mine.toml: vm.accel is 'hvf'; known: tcg"),
    ],
)
def test_a_malformed_target_names_file_and_key(
    tmp_path: pathlib.Path, text: str, says: str
) -> None:
    with pytest.raises(UserError, match=says):
        target(tmp_path, text)


def test_target_inherits_the_keys_of_its_bases(tmp_path: pathlib.Path) -> None:
    far = target_text("far", 'port = "/dev/x"\n', 'smp = 4\nparameters = "a=1 b=2"\n')
    (tmp_path / "far.toml").write_text(far)
    near = 'base = "far"\n[target]\nname = "near"\n[vm]\nparameters = "a=2"\n'
    (tmp_path / "near.toml").write_text(near)
    found = target(tmp_path, 'base = "near"\n[target]\nname = "mine"\nslowness = 3\n')
    assert (found.name, found.module, found.parameters) == ("mine", "refpmu", ("a=2",))
    assert (found.slowness, found.machine.cpus, found.machine.memory_mb) == (3.0, 4, 512)


def test_guest_reads_a_target_file_without_base(
    tmp_path: pathlib.Path, cache: pathlib.Path
) -> None:
    found = target(tmp_path, 'base = "refpmu"\n[target]\nname = "mine"\n')
    file = found.merged_file()
    assert cache in file.parents and file.read_text() == found.merged
    tables = tomllib.loads(found.merged)
    assert "base" not in tables and tables["target"]["name"] == "mine"
    assert tables["event"] == tomllib.loads(suite.find_target("refpmu").merged)["event"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('base = "nothing"', "mine.toml:1: key 'base'"),
        ("base = 3", "mine.toml:1: key 'base'"),
        ('base = "../refpmu"', "mine.toml:1: key 'base'"),
        ('base = "mine"', "mine.toml:1: key 'base' leads back"),
        ('base = "back"', "back.toml:1: key 'base' leads back|mine.toml:1: key 'base' leads back"),
        ('base = "bad"', "key 'vm.smp'"),
    ],
)
def test_a_wrong_base_names_file_and_key(tmp_path: pathlib.Path, text: str, says: str) -> None:
    (tmp_path / "back.toml").write_text('base = "mine"\n[target]\nname = "back"\n')
    (tmp_path / "bad.toml").write_text(target_text("bad", "", "smp = 0\n"))
    with pytest.raises(UserError, match=says):
        target(tmp_path, f'{text}\n[target]\nname = "mine"\n')


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(UserError, match="unknown TARGET 'nothing'; known: .*refpmu"):
        suite.find_target("nothing")


def soft(tmp_path: pathlib.Path) -> suite.Target:
    """A target without a file: some tests replace the program that reads target files."""
    path = tmp_path / "mine.toml"
    return suite.Target("mine", path, None, (), 1.0, MachineOptions(), None, None, "")


def names(selection: suite.Selection, tmp_path: pathlib.Path) -> list[str]:
    return [case.id for case in suite.cases(soft(tmp_path), selection)]


def test_selection_chooses_cases(tmp_path: pathlib.Path) -> None:
    every = ["Stand.Passes", "Stand.Fails", "Stand.Skips"]
    assert names(suite.Selection(), tmp_path) == every
    assert names(suite.Selection(rule="CNT-002"), tmp_path) == every
    assert names(suite.Selection(case="*Fails"), tmp_path) == ["Stand.Fails"]


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        (suite.Selection(case="Stand.Pases"), "unknown CASE 'Stand.Pases'; did you mean Stand.Pa"),
        (suite.Selection(rule="XXX-999"), "unknown RULE 'XXX-999'; known: CNT-002"),
    ],
)
def test_an_empty_selection_is_an_error(
    tmp_path: pathlib.Path, selection: suite.Selection, says: str
) -> None:
    with pytest.raises(UserError, match=says):
        names(selection, tmp_path)


def test_a_suite_without_cases_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASES", "")
    with pytest.raises(UserError, match="nothing to run"):
        names(suite.Selection(), tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'pmuconf: unknown profile' >&2; exit 2", "pmuconf: unknown profile"),
        ("exit 3", "pmuconf list ended with 3"),
        ("echo no json", "pmuconf list printed something else"),
        ('echo \'{"cases":[{"id":"A.B"}]}\'', "pmuconf list printed something else"),
    ],
)
def test_failed_list_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(write_script(tmp_path, "pmuconf", text)))
    with pytest.raises(UserError, match=says):
        names(suite.Selection(), tmp_path)


def test_missing_suite_error_has_the_build_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", "/nowhere/pmuconf")
    with pytest.raises(UserError, match="no program /nowhere/pmuconf: build it"):
        suite.binary()
