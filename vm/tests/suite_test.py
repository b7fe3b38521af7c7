# SPDX-License-Identifier: Apache-2.0
"""Targets and selections are checked before a run starts, and errors list the known names."""

from __future__ import annotations

import pathlib

import pytest

from vm import suite
from vm.errors import PmuvmError
from vm.testing.stubs import TESTS, write_script


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
        '[target]\nname = "mine"\nport = "/dev/refpmu"\nslowness = 2\n'
        '[vm]\nsmp = 4\nmemory_mb = 1024\naccel = "tcg-multi"\nparameters = "cpu=1"\n'
        'icount = 2\ncpu = "host"\n',
    )
    assert (found.module, found.parameters, found.slowness) == ("refpmu", ("cpu=1",), 2.0)
    assert (found.cpus, found.memory_mb, found.accel) == (4, 1024, "tcg-multi")
    assert (found.icount, found.cpu) == (2, "host")


def test_target_may_require_one_architecture() -> None:
    everywhere, there = set(suite.targets_on("amd64")), set(suite.targets_on("arm64"))
    assert "refpmu" in everywhere and "refpmu" in there
    assert "armv8_pmuv3" in there - everywhere


def test_a_target_of_the_kernels_own_needs_no_module(tmp_path: pathlib.Path) -> None:
    found = target(tmp_path, "[target]\n")
    assert (found.name, found.module, found.cpus, found.accel) == ("mine", None, 2, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[target\n", r"mine.toml: .*\(at line 1"),
        ("", r"mine.toml: no table \[target\]"),
        ("target = 1\n", r"mine.toml: no table \[target\]"),
        ("[target]\nslowness = 0\n", "mine.toml: target.slowness must be a number above 0"),
        ("[target]\n[vm]\nsmp = '2'\n", "mine.toml: vm.smp must be an integer above 0"),
        ("[target]\n[vm]\nsmp = true\n", "mine.toml: vm.smp must be an integer above 0"),
        ("[target]\n[vm]\nicount = 'yes'\n", "vm.icount must be an integer above 0"),
        ("[target]\n[vm]\narch = 'vax'\n", "mine.toml: vm.arch is 'vax'; known: amd64, arm64"),
        ("[target]\n[vm]\naccel = 'hvf'\n", "mine.toml: vm.accel is 'hvf'; known: tcg"),
    ],
)
def test_a_malformed_target_names_file_and_key(
    tmp_path: pathlib.Path, text: str, says: str
) -> None:
    with pytest.raises(PmuvmError, match=says):
        target(tmp_path, text)


def test_a_target_is_built_on_another(tmp_path: pathlib.Path) -> None:
    (tmp_path / "far.toml").write_text(
        '[target]\nname = "far"\nport = "/dev/x"\n[vm]\nsmp = 4\nparameters = "a=1 b=2"\n'
    )
    (tmp_path / "near.toml").write_text('base = "far"\n[target]\n[vm]\nparameters = "a=2"\n')
    found = target(tmp_path, 'base = "near"\n[target]\nslowness = 3\n')
    assert (found.name, found.module, found.parameters) == ("mine", "refpmu", ("a=2",))
    assert (found.slowness, found.cpus, found.memory_mb) == (3.0, 4, 512)
    assert [path.name for path in found.bases] == ["near.toml", "far.toml"]
    assert target(tmp_path, 'base = "refpmu"\n[target]\n').bases == (
        suite.TARGETS.resolve() / "refpmu.toml",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('base = "nothing"', "mine.toml: key 'base' must name a target in the same folder"),
        ("base = 3", "mine.toml: key 'base' must name"),
        ('base = "../refpmu"', "mine.toml: key 'base' must name"),
        ('base = "mine"', "mine.toml: key 'base' leads back to the start: .*, .*mine.t"),
        ('base = "back"', "back.toml: key 'base' leads back"),
        ('base = "bad"', "bad.toml: vm.smp must be an integer above 0"),
        ('base = "target"', "mine.toml: key 'base' must name"),
    ],
)
def test_a_wrong_base_names_file_and_key(tmp_path: pathlib.Path, text: str, says: str) -> None:
    (tmp_path / "back.toml").write_text('base = "mine"\n[target]\n')
    (tmp_path / "bad.toml").write_text("[target]\n[vm]\nsmp = 0\n")
    (tmp_path / "target.toml").write_text("[target]\n")
    with pytest.raises(PmuvmError, match=says):
        target(tmp_path, f"{text}\n[target]\n")


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(PmuvmError, match="unknown TARGET 'nothing'; known: .*refpmu"):
        suite.find_target("nothing")


def names(selection: suite.Selection, tmp_path: pathlib.Path) -> list[str]:
    return [case.id for case in suite.cases(target(tmp_path, "[target]\n"), selection)]


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
    with pytest.raises(PmuvmError, match=says):
        names(selection, tmp_path)


def test_an_old_id_of_a_case_is_reported_to_the_user(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notice = "pmuconf: case A.Old is now A.New"
    cases = '{"cases":[{"id":"A.New","rules":[],"budget_s":1}]}'
    program = write_script(tmp_path, "pmuconf", f"echo '{notice}' >&2; echo '{cases}'")
    monkeypatch.setenv("PMUCONF_BINARY", str(program))
    assert names(suite.Selection(case="A.Old"), tmp_path) == ["A.New"]
    assert capsys.readouterr() == ("", f"{notice}\n")


def test_a_suite_without_cases_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASES", "")
    with pytest.raises(PmuvmError, match="nothing to run"):
        names(suite.Selection(), tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'pmuconf: unknown profile' >&2; exit 2", "pmuconf: unknown profile"),
        (
            "echo 'pmuconf: case A.B is now A.C' >&2; echo 'pmuconf: no case' >&2; exit 2",
            "^pmuconf: no case$",
        ),
        ("exit 3", "pmuconf list ended with 3"),
        ("echo no json", "printed no list of cases"),
        ('echo \'{"cases":[{"id":"A.B"}]}\'', "printed no list of cases"),
    ],
)
def test_failed_list_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(write_script(tmp_path, "pmuconf", text)))
    with pytest.raises(PmuvmError, match=says):
        names(suite.Selection(), tmp_path)


def test_missing_suite_error_has_the_build_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", "/nowhere/pmuconf")
    with pytest.raises(PmuvmError, match="no program /nowhere/pmuconf: build it"):
        suite.binary()
