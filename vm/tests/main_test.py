# SPDX-License-Identifier: Apache-2.0
"""The command line with a fake machine: streams, exit statuses, and no files left behind."""

from __future__ import annotations

import json
import pathlib
import re
import tomllib
from typing import Any

import pytest

from pmubase import store
from vm import guest, runs, suite
from vm.cli import main
from vm.testing.stubs import TESTS, boot_image, module_file, target_text

SOFTWARE = target_text("soft")


@pytest.fixture(autouse=True)
def stand_in(fakes: pathlib.Path, cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(TESTS / "agents/pmuconf"))
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg")
    monkeypatch.setattr(guest, "CASE_MARGIN_S", 0.5)
    monkeypatch.setattr(guest, "LAST_WORDS_S", 0.2)


def run(tmp_path: pathlib.Path, *more: str, how: str = "well", target: str = SOFTWARE) -> int:
    """Runs `pmuvm run` on a kernel whose machine has the given behaviour."""
    path = tmp_path / "soft.toml"
    path.write_text(target, encoding="utf-8")
    image = boot_image(tmp_path / f"behave={how}")
    out = str(tmp_path / "out")
    return main(["run", "--target", str(path), "--kernel", str(image), "--out", out, *more])


def stream(tmp_path: pathlib.Path) -> list[dict[str, Any]]:
    text = (tmp_path / "out" / "stream.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_records_a_stream_from_run_to_end(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path) == 0
    lines = stream(tmp_path)
    assert lines[0]["selected"] == ["Stand.Passes", "Stand.Fails", "Stand.Skips"]
    assert (lines[0]["release"], lines[0]["partial"]) == ("6.12.1-test", False)
    assert [line["t"] for line in lines[1:]] == ["result"] * 3 + ["kmsg", "end"]
    assert "Linux version" in (tmp_path / "out" / "console.log").read_text("utf-8")


def test_a_crash_costs_one_case(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CASES", "A.One A.Oopses A.Two")
    run(tmp_path)
    verdicts = [line["result"] for line in stream(tmp_path) if line["t"] == "result"]
    assert verdicts == ["PASS", "CRASH", "PASS"]
    assert "CRASH    A.Oopses" in capfd.readouterr().err


def test_the_status_is_that_of_the_report(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASES", "A.Oopses")
    monkeypatch.setenv("PMUCONF_BINARY", str(tmp_path / "pmuconf"))
    text = (TESTS / "agents/pmuconf").read_text("utf-8")
    (tmp_path / "pmuconf").write_text(text.replace('"FAIL"', '"CRASH"'), encoding="utf-8")
    (tmp_path / "pmuconf").chmod(0o755)
    assert run(tmp_path) == 1


def test_a_selection_makes_a_partial_run(tmp_path: pathlib.Path) -> None:
    run(tmp_path, "--case", "Stand.Passes", "--profile", "base")
    assert stream(tmp_path)[0]["selected"] == ["Stand.Passes"]
    assert stream(tmp_path)[0]["partial"] is True
    assert stream(tmp_path)[0]["profile"] == "base"


@pytest.mark.parametrize(
    ("more", "loaded"),
    [([], "load refpmu.ko of=target"), (["--parameters", "a=1 b=2"], "load refpmu.ko a=1 b=2")],
)
def test_module_gets_the_requested_parameters(
    tmp_path: pathlib.Path, more: list[str], loaded: str
) -> None:
    module_file(tmp_path / "refpmu.ko", "refpmu")
    target = SOFTWARE + '[vm]\nmodule = "refpmu"\nparameters = "of=target"\n'
    run(tmp_path, "--module", str(tmp_path / "refpmu.ko"), *more, target=target)
    lines = (tmp_path / "out" / "console.log").read_text("utf-8").splitlines()
    assert [line for line in lines if line.endswith(loaded)]


def test_module_file_in_the_guest_has_the_modules_name(tmp_path: pathlib.Path) -> None:
    file = module_file(tmp_path / "your-driver.v2.ko", "your_driver")
    run(tmp_path, "--module", str(file), target=SOFTWARE + '[vm]\nmodule = "your_driver"\n')
    console = (tmp_path / "out" / "console.log").read_text("utf-8")
    assert "load your_driver.ko" in console


def test_shuffle_seed_repeats_the_order(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"A.Case{number}" for number in range(8)]
    monkeypatch.setenv("CASES", " ".join(names))
    orders = []
    for seed in ("1", "1", "2"):
        run(tmp_path, "--shuffle", seed)
        orders.append(stream(tmp_path)[0]["selected"])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == names


BAD = {
    "target": (["--target", "nothing"], "unknown TARGET 'nothing'"),
    "kernel": (["--kernel", "5.10"], "unknown KERNEL '5.10'; known: 6.1, 6.12"),
    "arch": (["--arch", "vax"], "unknown ARCH 'vax'; known: amd64, arm64"),
    "arch of the target": (
        ["--target", "armv8_pmuv3"],
        "the target armv8_pmuv3 needs guests with ARCH=arm64",
    ),
    "case": (["--case", "No.Such"], "unknown CASE 'No.Such'"),
    "rule": (["--rule", "XXX-1"], "unknown RULE 'XXX-1'"),
    "module": (["--module", "/nowhere/x.ko"], "no module /nowhere/x.ko"),
    "file of the module": (["--module", __file__], "is not a kernel module: it has no name"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_value_is_one_line_and_status_2(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    words, says = BAD[name]
    assert run(tmp_path, *words) == 2
    errors = capfd.readouterr().err.splitlines()
    assert len(errors) == 1 and says in errors[0]
    assert not (tmp_path / "out").exists()


MISUSED: dict[str, tuple[list[str], str]] = {
    "unknown option": (["run", "--kernle", "6.1"], "the following arguments are required"),
    "unknown option beside good ones": (
        ["run", "--target", "t", "--kernel", "6.1", "--colour"],
        "unrecognized arguments: --colour; see pmuvm --help",
    ),
    "option without its value": (
        ["run", "--kernel"],
        "argument --kernel: expected one argument; see pmuvm run --help",
    ),
    "value that is no number": (
        ["run", "--target", "t", "--kernel", "6.1", "--shuffle", "well"],
        "argument --shuffle: invalid int value: 'well'; see pmuvm run --help",
    ),
    "icount beyond what there is": (
        ["probe", "--kernel", "6.1", "--pmu", "cpu", "--out", "f", "--icount", "11"],
        "argument --icount: invalid choice: 11",
    ),
    "no CPU": (
        ["exec", "--kernel", "6.1", "--cpus", "0", "--", "true"],
        "argument --cpus: invalid choice: 0",
    ),
    "unknown command": (["walk"], "invalid choice: 'walk'"),
    "no command": ([], "the following arguments are required: COMMAND"),
    "no program": (["exec", "--kernel", "6.1"], "the following arguments are required: argv"),
}


@pytest.mark.parametrize("name", MISUSED)
def test_a_misused_command_line_is_one_line_and_status_2(
    capfd: pytest.CaptureFixture[str], name: str
) -> None:
    words, says = MISUSED[name]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    errors = capfd.readouterr().err.splitlines()
    assert len(errors) == 1 and errors[0].startswith("pmuvm: ") and says in errors[0]


def test_a_machine_without_busybox_is_one_line_and_status_2(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vm.image.shutil.which", lambda *_, **__: None)
    assert run(tmp_path) == 2
    errors = capfd.readouterr().err.splitlines()
    assert errors == ["pmuvm: no program 'busybox' on this machine (package busybox-static)"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("no-boot", "no guest boots on .*: Kernel panic - not syncing: No working init found."),
        ("no-qemu", "could not set up this machine"),
        ("refuse-module", "module refpmu.ko does not load: Invalid module format"),
        ("refuse-aloud", "does not load: Invalid module format: lbr=7: must be 0, 8, 16 or 32"),
        ("die-at-load", "the guest died while it loaded refpmu.ko: BUG: kernel NULL pointer"),
    ],
)
def test_a_run_that_cannot_be_judged_is_status_2_and_leaves_nothing(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], how: str, says: str
) -> None:
    module_file(tmp_path / "refpmu.ko", "refpmu")
    target = SOFTWARE + '[vm]\nmodule = "refpmu"\n'
    module = ["--module", str(tmp_path / "refpmu.ko")]
    assert run(tmp_path, *module, how=how, target=target) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert re.search(says, last), last
    assert not (tmp_path / "out").exists()


def test_an_old_verdict_does_not_survive_a_run_that_cannot_be_judged(
    tmp_path: pathlib.Path,
) -> None:
    assert run(tmp_path) == 0
    (tmp_path / "out" / "results.json").write_text("{}", encoding="utf-8")
    assert run(tmp_path, how="no-boot") == 2
    assert not (tmp_path / "out").exists()


def test_kernel_that_hangs_at_boot_is_an_error(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--boot-timeout", "0.5", how="silent") == 2
    assert "no answer to 'boot' in time" in capfd.readouterr().err


def test_the_kernels_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels"]) == 0
    names = ["6.1", "6.12", "6.12-rt", "6.16", "6.17", "6.18", "6.19", "7.0", "7.1", "7.2", "7.3"]
    assert capfd.readouterr().out.split() == names


def test_a_program_of_the_guest_gives_its_output_and_status(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = str(boot_image(tmp_path / "bzImage"))
    assert main(["exec", "--kernel", image, "--", "perf", "stat"]) == 3
    assert capfd.readouterr() == ("out", "err")


def test_a_pmu_is_probed_in_a_guest(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image, out = str(boot_image(tmp_path / "bzImage")), tmp_path / "drafts" / "yours.toml"
    module = module_file(tmp_path / "your-driver.ko", "your_driver")
    argv = ["probe", "--kernel", image, "--pmu", "yours", "--out", str(out)]
    assert main([*argv, "--module", str(module), "--parameters", "fixed=1 wide=0"]) == 0
    assert capfd.readouterr().out == f"{out}\n"
    tables = tomllib.loads(out.read_text("utf-8"))
    assert tables["target"]["name"] == "yours"
    assert tables["vm"] == {"module": "your_driver", "parameters": "fixed=1 wide=0"}


def test_draft_has_the_machine_of_the_pmu(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image, out = str(boot_image(tmp_path / "bzImage")), tmp_path / "yours.toml"
    argv = ["probe", "--kernel", image, "--pmu", "yours", "--out", str(out), "--icount", "3"]
    argv += ["--cpu-model", "max,pmu=on", "--cmdline", "one two=3"]
    assert main([*argv, "--cpus", "2"]) == 2
    assert "icount on amd64 needs one CPU: --cpus 1" in capfd.readouterr().err
    assert main(argv) == 0
    assert tomllib.loads(out.read_text("utf-8"))["vm"] == {
        "cpu": "max,pmu=on",
        "icount": 3,
        "cmdline": "one two=3",
        "smp": 1,
    }


def test_options_define_the_machine_of_a_program(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = str(boot_image(tmp_path / "bzImage"))
    words = ["exec", "--kernel", image]
    assert main([*words, "--cmdline", "behave=no-boot", "--", "true"]) == 2
    assert capfd.readouterr().err.splitlines()[-1].startswith("pmuvm: guest lost: ")


def test_absent_pmu_leaves_no_draft(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image, out = str(boot_image(tmp_path / "behave=no-pmu")), tmp_path / "yours.toml"
    assert main(["probe", "--kernel", image, "--pmu", "yours", "--out", str(out)]) == 2
    assert capfd.readouterr().err == "pmuvm: pmuconf: no PMU 'yours' on this machine\n"
    assert not out.exists()


def test_run_judges_by_the_draft_of_a_probe(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)
    image, out = str(boot_image(tmp_path / "bzImage")), str(tmp_path / "out")
    words = ["--kernel", image, "--out", out]
    assert main(["run", "--target", "probe", "--pmu", "yours", *words]) == 0
    draft = tmp_path / "build" / "probe" / "yours.toml"
    assert f"drafted: {draft}" in capfd.readouterr().err
    assert (stream(tmp_path)[0]["target"], stream(tmp_path)[0]["drafted"]) == ("yours", True)


@pytest.mark.parametrize("words", [["--target", "probe"], ["--target", "software", "--pmu", "x"]])
def test_pmu_option_requires_target_probe(
    words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert "--pmu goes only with --target probe" in capfd.readouterr().err


def test_isolated_cases_get_a_guest_each(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path, "--isolate", "--case", "*.Passes") == 0
    kinds = [line["t"] for line in stream(tmp_path)]
    assert kinds == ["run", "result", "kmsg", "end"]
    run(tmp_path, "--isolate")
    assert [line["t"] for line in stream(tmp_path)].count("kmsg") == 3


def test_shuffled_run_reports_its_seed(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "--shuffle", "7")
    assert "in the order of --shuffle 7" in capfd.readouterr().err
    assert stream(tmp_path)[0]["shuffle"] == 7


def test_all_targets_run_and_the_worst_status_counts(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    targets = tmp_path / "targets"
    targets.mkdir()
    for name in ("one", "two"):
        (targets / f"{name}.toml").write_text(target_text(name))
    monkeypatch.setattr(suite, "TARGETS", targets)
    image = boot_image(tmp_path / "behave=well")
    words = ["run", "--target", "all", "--kernel", str(image), "--out", str(tmp_path / "out")]
    monkeypatch.setenv("CASES", "A.Passes")
    assert main(words) == 0
    assert "2 of 2 runs are conformant" in capfd.readouterr().out
    monkeypatch.setenv("CASES", "A.Oopses")
    assert main(words) == 1
    assert len(list((tmp_path / "out").glob("*/stream.jsonl"))) == 2
    (targets / "two.toml").write_text("[[target")
    monkeypatch.setenv("CASES", "A.Passes")
    assert main(words) == 2
    said = capfd.readouterr()
    assert "NOT JUDGED" in said.out and "two.toml" in said.err


def test_runs_are_compared_by_the_results_of_their_cases(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def write(name: str, *rows: tuple[str, str]) -> None:
        cases = [{"id": case, "result": result} for case, result in rows]
        (tmp_path / name).write_text(json.dumps({"cases": cases}))

    write("a", ("X.0", "PASS"), ("X.1", "SKIP"))
    write("b", ("X.1", "SKIP"), ("X.0", "PASS"))
    write("c", ("X.0", "PASS"), ("X.1", "FAIL"))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "c")]) == 1
    assert "X.1: SKIP, FAIL" in capfd.readouterr().out
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "nosuch")]) == 2


def test_repro_command_has_all_options(tmp_path: pathlib.Path) -> None:
    asked = runs.Request(
        target="/a b/x.toml",
        kernel="6.1",
        arch="amd64",
        selection=suite.Selection(),
        out=tmp_path,
        parameters="lbr=0 records=0",
    )
    assert asked.repro_command() == (
        "make run KERNEL=6.1 TARGET='/a b/x.toml' PARAMETERS='lbr=0 records=0' CASE="
    )
