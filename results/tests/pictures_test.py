# SPDX-License-Identifier: Apache-2.0
"""A page has the pictures of its measurements and their numbers, within its room."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from results import page, pictures, plots
from results.tests import measured, runs
from results.tests.page_test import DOCUMENT, MOST_BYTES, run_of


@pytest.fixture(name="fast")
def fixture_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pictures are only their labels, since matplotlib takes its time."""
    monkeypatch.setattr(plots, "draw", lambda one, prefix, label: f"{prefix}: {label}")


def case(name: str, *rows: measured.Measured, result: str = "PASS") -> dict[str, Any]:
    return {"id": name, "result": result, "measurements": list(rows)}


def test_run_without_measurements_has_no_pictures() -> None:
    assert pictures.of_runs([run_of({})]) == []


@pytest.mark.usefixtures("fast")
def test_measured_case_has_its_rules_and_figures() -> None:
    data = measured.counts() | {"at": "scope=task"}
    (one,) = pictures.of_runs([run_of({"id": "A.Two"}, case("A.One", data, measured.turns()))])
    assert (one["case"], one["rules"]) == ("A.One", ["CNT-007"])
    first, second = one["figures"]
    assert (first["title"], first["at"]) == ("Count against truth", "scope=task")
    assert first["axes"] == "x: event, y: count (instructions)"
    assert first["heads"] == ["event", "count (instructions)"]
    assert second["axes"] == "x: time (ms), one row for each event"
    assert second["heads"] == ["begin (ms)", "end (ms)"]
    (column,) = first["columns"]
    assert column["run"] == 0 and [name for name, _ in column["series"]] == ["count", "truth"]
    assert column["series"][1][1][:2] == ((0, 1_000_000), (1, 1_000_000))
    assert column["picture"] == (
        "p1: Count against truth, A.One, scope=task, t, 6.12, x86_64."
        " x: event, y: count (instructions). Series: count, truth."
    )


@pytest.mark.usefixtures("fast")
def test_runs_are_columns_of_one_figure() -> None:
    at = [measured.counts() | {"at": f"cpu={cpu}"} for cpu in range(2)]
    found = pictures.of_runs([run_of(case("A.One", *at)), run_of(case("A.One", at[1]))])
    figures = found[0]["figures"]
    columns = [(one["at"], [column["run"] for column in one["columns"]]) for one in figures]
    assert columns == [("cpu=0", [0]), ("cpu=1", [0, 1])]


@pytest.mark.usefixtures("fast")
def test_pictures_of_one_name_and_combination_are_all_there() -> None:
    (one,) = pictures.of_runs([run_of(case("A.One", measured.counts(), measured.counts()))])
    assert [len(figure["columns"]) for figure in one["figures"]] == [1, 1]


@pytest.mark.usefixtures("fast")
def test_failed_cases_come_first() -> None:
    data = measured.counts()
    good, bad = case("A.One", data), case("B.Two", data, result="FAIL")
    found = pictures.of_runs([run_of(good, case("C.Three", data), bad)])
    assert [one["case"] for one in found] == ["B.Two", "A.One", "C.Three"]


@pytest.mark.usefixtures("fast")
def test_page_has_no_more_pictures_than_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PICTURES", 2)
    (one,) = pictures.of_runs([run_of(case("A.One", *[measured.counts()] * 3))])
    columns = [figure["columns"][0] for figure in one["figures"]]
    assert ["picture" in column for column in columns] == [True, True, False]
    assert columns[2] == {"run": 0, "note": pictures.NO_ROOM}


@pytest.mark.usefixtures("fast")
def test_numbers_of_a_whole_run_have_a_limit() -> None:
    data = [measured.largest("line")] * 4
    run = run_of(*(case(f"A.N{number}", *data) for number in range(100)))
    assert len(page.text([run]).encode()) < MOST_BYTES


def test_picture_counts_for_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "draw", lambda *_: "x" * 1_600_000)
    found = pictures.of_runs([run_of(case("A.One", *[measured.counts()] * 4))])
    columns = [figure["columns"][0] for figure in found[0]["figures"]]
    assert ["picture" in column for column in columns] == [True, True, False, False]


def test_page_is_written_without_matplotlib(tmp_path: Path) -> None:
    content = DOCUMENT | {"cases": [DOCUMENT["cases"][0] | case("A.One", measured.counts())]}
    (tmp_path / "results.json").write_text(json.dumps(content), encoding="utf-8")
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from results.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", program, "page", str(tmp_path)]
    done = subprocess.run(
        [*words, "--out", str(tmp_path / "index.html")],
        cwd=runs.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert pictures.NO_LIBRARY in text and "1000000" in text and "<svg" not in text


def test_page_of_a_run_without_measurements_does_not_import_matplotlib() -> None:
    program = "import sys, results.page; sys.exit('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=runs.ROOT, timeout=60, check=False)
    assert done.returncode == 0


def test_text_of_a_measurement_cannot_end_the_data() -> None:
    data = measured.counts() | {"title": "</script><script>alert(1)</script>"}
    assert page.text([run_of(case("A.One", data))]).count("</script>") == 3
