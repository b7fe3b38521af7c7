# SPDX-License-Identifier: Apache-2.0
"""The labels of the corpus name checks that exist, and the measure counts as its columns state."""

from __future__ import annotations

from pathlib import Path

import pytest

from review import corpus, examples
from review.view import CHECKS


def test_labels_name_each_check_once_for_each_driver() -> None:
    subjects = corpus.read_labels()
    for subject in subjects:
        assert set(subject.labels) <= set(CHECKS), subject.file
    assert len({(subject.file, subject.kernel) for subject in subjects}) == len(subjects)


def test_fresh_drivers_have_no_other_labels() -> None:
    subjects = corpus.read_labels()
    fresh = {(subject.file, subject.kernel) for subject in subjects if subject.fresh}
    assert fresh and fresh.isdisjoint((s.file, s.kernel) for s in subjects if not s.fresh)


def test_undecided_driver_does_not_count() -> None:
    score = corpus.Score()
    for verdict in ("BREACH", "SUSPECT", "CLEAN"):
        score.add("unsure", verdict)
    assert score == corpus.Score()


def test_suspect_is_no_wrong_breach_and_counts_as_reported() -> None:
    score = corpus.Score()
    score.add("ok", "SUSPECT")
    score.add("breach", "SUSPECT")
    score.add("breach", "CLEAN")
    score.add("absent", "BREACH")
    score.add("core", "BREACH")
    assert score == corpus.Score(right=1, wrong=1, found=1, suspected=1, missed=1, unfounded=1)


def test_measure_of_one_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(examples.read()["module-owner"].text(), "utf-8")
    labels = corpus.Subject("a.c", "6.12", {"module-owner": "breach", "parent": "ok"})
    monkeypatch.setattr(corpus, "read_labels", lambda: [labels])
    assert corpus.main(["--tree", f"6.12={tmp_path}", "--differences"]) == 0
    out = capsys.readouterr().out
    assert "1 drivers, 0 without a struct pmu" in out
    assert '"precision": 100.0, "recall": 100.0, "labelled": 1' in out


def test_absent_driver_is_a_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert corpus.main(["--tree", f"6.12={tmp_path}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a driver with labels is absent" in line
