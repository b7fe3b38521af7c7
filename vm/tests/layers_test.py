# SPDX-License-Identifier: Apache-2.0
"""Layers besides the suite: names, the layers that can run on a subject, and the files that a run joins."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from pmubase.errors import UserError
from vm import arch, kernel, layers, suite
from vm.cli import main
from vm.testing.stubs import TESTS, boot_image, target_text


def subject(
    name: str = "6.12",
    target: str = "refpmu",
    module: str | None = "refpmu",
    given: pathlib.Path | None = None,
    of: arch.Arch = arch.AMD64,
) -> layers.Subject:
    """A subject whose guest is never started."""
    found = dataclasses.replace(suite.find_target("refpmu"), name=target, module=module)
    needs = kernel.Needs(debug=name.endswith(kernel.DEBUG_SUFFIX))
    where = kernel.Kernel(
        name=name, release="6.12.1", arch=of, image=pathlib.Path("i"), build=None, needs=needs
    )
    return layers.Subject(found, where, None, given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("suite", ()),
        ("all", ("kunit", "watch", "vm", "fuzz")),
        ("suite,kunit", ("kunit",)),
        ("vm, suite, kunit", ("kunit", "vm")),
    ],
)
def test_list_selects_layers(text: str, names: tuple[str, ...]) -> None:
    assert layers.parse(text) == layers.Selected(names, every=text == "all")


BAD = {
    "suite,koont": "unknown layer 'koont' in LAYERS 'suite,koont';"
    " known: suite, kunit, watch, vm, fuzz, all",
    "": "unknown layer '' in LAYERS ''; known: suite, kunit, watch, vm, fuzz, all",
    "all,kunit": "unknown layer 'all' in LAYERS 'all,kunit';"
    " known: suite, kunit, watch, vm, fuzz, all",
    "kunit,watch": "LAYERS 'kunit,watch' lacks suite: a verdict joins other layers with the suite",
}


@pytest.mark.parametrize("text", BAD)
def test_invalid_list_is_a_one_line_error_with_status_2(
    text: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["run", "--target", "refpmu", "--kernel", "6.12", "--out", str(out)]
    assert main([*words, "--layers", text]) == 2
    assert capsys.readouterr().err == f"pmuvm: {BAD[text]}\n"
    assert not out.exists()


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["--case", "A.*"], "LAYERS joins whole layers: it does not go with CASE or RULE"),
        (["--rule", "CNT-*"], "LAYERS joins whole layers: it does not go with CASE or RULE"),
        (
            ["--target", "all"],
            "LAYERS joins the layers of one target: it does not go with TARGET=all",
        ),
    ],
)
def test_layers_join_whole_runs_of_one_target(
    more: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--target", "refpmu", "--layers", "all", *more]) == 2
    assert capsys.readouterr().err == f"pmuvm: {error}\n"


SKIP_REASONS: dict[str, tuple[layers.Subject, dict[str, str]]] = {
    "other driver": (
        subject(target="intel", module=None),
        {
            name: "its tests here are of the driver refpmu; docs/porting.md joins those of yours"
            for name in ("kunit", "vm", "fuzz")
        },
    ),
    "given module": (
        subject(given=pathlib.Path("x.ko")),
        {
            name: "its tests build the driver themselves, and do not use the module of --module"
            for name in ("kunit", "vm", "fuzz")
        },
    ),
    "another architecture": (
        subject(of=arch.ARM64),
        {name: "its tests run on amd64 only" for name in ("kunit", "vm")},
    ),
    "another kernel": (
        subject("6.12-rt"),
        {name: "its tests run on the kernels 6.1, 6.12 only" for name in ("kunit", "vm")},
    ),
    "debug kernel": (
        subject("6.12-debug"),
        {"vm": "its tests run on the kernels 6.1, 6.12 only"},
    ),
    "another target": (
        subject(target="refpmu_uncore"),
        {"vm": "its tests are of the target refpmu"},
    ),
    "nothing": (subject(), {}),
}


@pytest.mark.parametrize("why", SKIP_REASONS)
def test_layer_that_cannot_run_is_named(why: str, capsys: pytest.CaptureFixture[str]) -> None:
    given, expected = SKIP_REASONS[why]
    names = layers.NAMES[1:]
    runnable = layers.runnable(layers.Selected(names, every=True), given)
    assert runnable == tuple(name for name in names if name not in expected)
    lines = [f"not run: {name}: {text}" for name, text in expected.items()]
    assert capsys.readouterr().err.splitlines() == lines
    for name, text in expected.items():
        with pytest.raises(UserError) as error:
            layers.runnable(layers.Selected((name,)), given)
        assert str(error.value) == f"layer {name}: {text}"


def test_commands_of_layers_name_kernel_and_file(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "kunit" / "results.json"
    out = ["--out", str(file.parent)]
    words = layers._words("kunit", subject("6.1-debug"), file)
    assert words == ["kunit.pmukunit", "--kernel", "6.1", "--debug", *out]
    assert layers._words("kunit", subject(), file) == ["kunit.pmukunit", "--kernel", "6.12", *out]
    out = ["--out", str(file)]
    words = layers._words("vm", subject("6.1"), file)
    assert words == ["vm.rule_tests", "--layer", "vm", *out, "--kernel", "6.1"]
    assert layers._words("fuzz", subject(), file) == ["vm.rule_tests", "--layer", "fuzz", *out]


def test_layer_without_a_result_is_an_error(tmp_path: pathlib.Path) -> None:
    # The option --out is missing.
    with pytest.raises(UserError) as error:
        layers._command("vm", ["vm.rule_tests", "--layer", "vm"], tmp_path / "vm.json")
    line = "layer vm: python3 -m vm.rule_tests: error: the following arguments are required: --out"
    assert str(error.value) == line


def test_report_receives_the_file_of_each_layer_and_the_option_lava(
    tmp_path: pathlib.Path,
    cache: pathlib.Path,
    fakes: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = tmp_path / "pmuconf"
    text = (TESTS / "agents/pmuconf").read_text("utf-8")
    text = text.replace(
        '"$1" = report ]; then', f'"$1" = report ]; then echo "$*" >{tmp_path}/said'
    )
    report.write_text(text, encoding="utf-8")
    report.chmod(0o755)
    monkeypatch.setenv("PMUCONF_BINARY", str(report))
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg")

    def run(names: tuple[str, ...], given: layers.Subject, out: pathlib.Path) -> list[str]:
        assert (names, given.target.name) == (("watch",), "soft")
        (out / "watch.json").write_text("{}", encoding="utf-8")
        return [f"watch={out / 'watch.json'}"]

    monkeypatch.setattr(layers, "run", run)
    (tmp_path / "soft.toml").write_text(target_text("soft"), encoding="utf-8")
    out = tmp_path / "out"
    image = boot_image(tmp_path / "behave=well")
    words = ["run", "--target", str(tmp_path / "soft.toml"), "--kernel", str(image)]
    assert main([*words, "--out", str(out), "--layers", "suite,watch", "--lava"]) == 0
    said = (tmp_path / "said").read_text("utf-8")
    assert f" --layer watch={out}/watch.json " in said
    assert said.endswith(" --lava\n")

    def fail(*_: object) -> list[str]:
        raise UserError("layer watch: no result")

    monkeypatch.setattr(layers, "run", fail)
    assert main([*words, "--out", str(out), "--layers", "suite,watch"]) == 2
    assert not out.exists()
