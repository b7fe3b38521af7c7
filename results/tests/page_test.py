# SPDX-License-Identifier: Apache-2.0
"""The page of results has all facts of its runs, and bad input is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.rules.generate import read_areas
from pmubase import store
from results import document, facts, page
from results.__main__ import main
from results.document import Run
from results.errors import ResultsError
from results.tests import measured, runs

MOST_BYTES = 4_500_000
RULE: dict[str, Any] = {
    "id": "CNT-007",
    "level": "MUST",
    "subject": "driver",
    "result": "FAILED",
    "text": "A.",
}
RULE |= {"why": "", "source": []}
CASE = {"id": "A.One", "rules": ["CNT-007"], "result": "FAIL", "duration_s": 0.5, "message": "m"}
DOCUMENT: dict[str, Any] = {
    **{key: "" for key in ("reason", "profile")},
    **{"verdict": "NOT_CONFORMANT", "target": "t", "kernel": "6.12", "release": "6.12.9"},
    **{"verdict_of": "target", "verdicts": []},
    **{"arch": "x86_64", "totals": {"cases": 1}, "skip_reasons": {}, "cases": [CASE]},
    **{"rules": [RULE], "drafts": [], "problems": []},
}


def run_of(*cases: dict[str, Any], **changes: Any) -> Run:
    """A run with these cases and other values of keys."""
    return Run(Path("x"), DOCUMENT | {"cases": [CASE | case for case in cases]} | changes)


def test_page_of_a_whole_run_is_one_small_file(tmp_path: Path) -> None:
    skipped = {case["id"]: f"needs {case['needs'][0]}" for case in runs.cases() if case["needs"]}
    run = runs.judged(tmp_path / "run", skipped=skipped)
    out = tmp_path / "new" / "index.html"
    assert main(["page", str(run.path), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert "src=" not in text and "@import" not in text and "<link" not in text


def test_message_cannot_end_the_data() -> None:
    text = page.text([run_of({"message": "</script><script>alert(1)</script>"})])
    assert text.count("</script>") == 2
    data = text.partition('<script id="data" type="application/json">')[2].partition("</script>")[0]
    assert json.loads(data)["texts"][1] == "</script><script>alert(1)</script>"


@pytest.mark.parametrize("runs_of_page", [1, 2])
def test_texts_of_a_run_are_escaped(runs_of_page: int) -> None:
    case = {"message": "<i>m", "repro": "<i>r", "id": "<i>c"}
    skip = {"result": "SKIP", "message": "<i>s", "skip_reason": "<i>k", "id": "<i>d"}
    verdict = {"subject": "<i>v", "verdict": "<i>w", "reason": "<i>x"}
    measurement = measured.counts() | {"title": "<i>t"}
    words = {key: f"<i>{key}" for key in ("target", "release", "profile", "reason", "verdict")}
    run = run_of(
        case, skip | {"measurements": [measurement]}, problems=["<i>p"], verdicts=[verdict], **words
    )
    text = page.text([run] * runs_of_page)
    assert "<i>" not in text
    single = {"<i>v", "<i>x"} if runs_of_page == 1 else set()
    shown = {*words.values(), *(f"<i>{letter}" for letter in "mrcskdpt"), *single}
    assert [one for one in shown if one.replace("<", "&lt;").replace(">", "&gt;") not in text] == []


def test_whole_verdict_is_shown_if_no_subject_has_it() -> None:
    verdict = {"subject": "driver", "verdict": "NOT_CONFORMANT", "reason": "r"}
    assert "driver: r</p>" in page.text([run_of(reason="r", verdicts=[verdict])])
    assert "all: " not in page.text([run_of(reason="r", verdicts=[verdict])])
    assert "all: q</p>" in page.text([run_of(reason="q", verdicts=[verdict])])


def test_worst_failures_come_first() -> None:
    names = {"E.Five": "BROKEN", "A.One": "FAIL", "B.Two": "CRASH", "C.Three": "TIMEOUT"}
    cases = [{"id": name, "result": result} for name, result in names.items()]
    found = page.failures([run_of(*cases, {"id": "D.Four", "result": "PASS"})])
    assert [one["case"] for one in found] == ["B.Two", "A.One", "C.Three", "E.Five"]


def test_failure_names_the_runs_that_have_it() -> None:
    good, bad = run_of({"result": "PASS"}), run_of({"result": "FAIL"}, target="u")
    (one,) = page.failures([good, bad, bad])
    assert [place for place, _ in one["runs"]] == ["u, 6.12, x86_64"] * 2


def test_skips_are_grouped_by_reason_and_message() -> None:
    skip = {"result": "SKIP", "skip_reason": "not_claimed", "message": "needs trace"}
    skip |= {"capability": "trace"}
    cases = [skip | {"id": "A.One"}, skip | {"id": "A.Two"}]
    other = {"skip_reason": "kernel_lacks", "message": "ABI-1 needs", "capability": ""}
    cases += [skip | other | {"id": "A.Three"}]
    known = {"trace": "its kind is trace"}
    found = page.skips([run_of(*cases, capabilities=known), run_of(cases[0], capabilities=known)])
    assert [one["hint"] for one in found] == ["its kind is trace", ""]
    rows = [(one["reason"], one["message"], one["cases"]) for one in found]
    assert rows == [
        ("not_claimed", "needs trace", [["A.One", [1, 2]], ["A.Two", [1]]]),
        ("kernel_lacks", "ABI-1 needs", [["A.Three", [1]]]),
    ]


def test_each_area_has_a_subject() -> None:
    folder = store.ROOT / "conformance" / "rules"
    areas = read_areas(folder)
    assert areas.keys() == {path.stem for path in folder.glob("*.toml")}
    assert areas["BRS"] == "branch stacks: the branches before a sample"


def test_source_in_the_kernel_has_an_address_for_its_series() -> None:
    link = facts.link("linux:kernel/events/core.c#perf_event_open", "6.12")
    assert link.text == "kernel/events/core.c, perf_event_open"
    assert link.href.endswith("/tree/kernel/events/core.c?h=linux-6.12.y")
    assert facts.link("linux:kernel/events/core.c", "6.12-msr").href.endswith("core.c")
    assert facts.link("man:perf_event_open(2)#WORDS", "6.12").href.endswith(
        "perf_event_open.2.html"
    )
    assert facts.link("seen in a driver", "6.12") == facts.Link("seen in a driver", "")


def test_rule_that_the_catalogue_lacks_has_the_words_of_its_run() -> None:
    rule = RULE | {"id": "ZZZ-999"}
    (row,) = page.data_of([run_of({"rules": ["ZZZ-999"]}, rules=[rule])])["rules"]
    assert (row["text"], row["why"], row["cases"]) == ("A.", "", ["A.One"])


def test_draft_is_marked() -> None:
    (row,) = page.data_of([run_of(rules=[], drafts=[RULE])])["rules"]
    assert row["status"] == "draft"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file or directory"),
        ("{", "no JSON: "),
        ("[]", "no object"),
        ("{}", "key 'verdict' is missing or has a wrong type"),
        (json.dumps(DOCUMENT | {"cases": {}}), "key 'cases' is missing or has a wrong type"),
        (json.dumps(DOCUMENT | {"cases": [{}]}), "cases: key 'id' is missing"),
        (json.dumps(DOCUMENT | {"drafts": [1]}), "rules: key 'id' is missing"),
    ],
)
def test_bad_file_is_one_line_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    file = tmp_path / "results.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError, match="results.json"):
        document.read(tmp_path if text is not None else file)
    assert main(["page", str(file), "--out", str(tmp_path / "index.html")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"results: {file}: ") and said in err and err.count("\n") == 1
    assert not (tmp_path / "index.html").exists()


def test_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    out = tmp_path / "results.json" / "index.html"
    assert main(["page", str(tmp_path), "--out", str(out)]) == 2
    assert capsys.readouterr().err.startswith("results: cannot write to ")


def test_only_the_page_needs_jinja(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    program = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from results.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    found = []
    for words in (["page", "--out", str(tmp_path / "index.html")], ["kcidb"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words, str(tmp_path)],
            cwd=runs.ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        found.append((done.returncode, done.stderr))
    error = "results: no Python package jinja2: run ci/install-deps\n"
    assert found == [(2, error), (0, "")]
    assert not (tmp_path / "index.html").exists()


def test_command_without_runs_is_refused() -> None:
    words = [sys.executable, "-m", "results", "page", "--out", "x.html"]
    done = subprocess.run(
        words, cwd=runs.ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2 and done.stderr.startswith("results: the following arguments")
