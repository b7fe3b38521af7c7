# SPDX-License-Identifier: Apache-2.0
"""Lines count over all boots. Too few are a failure that names them, and an unreadable report is an error."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from ci import lines
from pmubase.errors import UserError
from vm.guest import Done


def report(path: str, counts: dict[int, int]) -> dict[str, Any]:
    said = [{"line_number": number, "count": count} for number, count in counts.items()]
    return {"files": [{"file": path, "lines": said}]}


def test_line_is_reached_if_any_boot_or_object_reaches_it() -> None:
    counts: lines.Counts = {}
    lines.merge(counts, report("drivers/perf/refpmu/driver/port/a.h", {3: 0, 4: 2}))
    lines.merge(counts, report("drivers/perf/refpmu/driver/port/a.h", {3: 1, 4: 0, 9: 0}))
    assert counts == {"driver/port/a.h": {3: 1, 4: 2, 9: 0}}


def test_lines_of_other_folders_are_not_counted() -> None:
    counts: lines.Counts = {}
    lines.merge(counts, report("include/linux/list.h", {3: 0}))
    lines.merge(counts, report("drivers/perf/refpmu/driver/core/a.c", {3: 0}))
    assert not counts


@pytest.mark.parametrize(
    "strange", [{}, [], {"files": [{}]}, {"files": [{"file": "driver/port/a"}]}]
)
def test_report_in_another_format_is_an_error(strange: Any) -> None:
    with pytest.raises(UserError, match="unknown format"):
        lines.merge({}, strange)


def test_too_few_lines_are_a_failure_that_names_them() -> None:
    counts = {"driver/port/a.c": {n: int(n > 16) for n in range(1, 101)}}
    files, report, enough = lines.judge(counts)
    assert not enough
    assert files[0].reached == 84
    assert "not reached: lines 1-16" in report[1]
    assert report[-1].endswith("less than 85 %")
    counts["driver/port/a.c"][7] = 1
    _, report, enough = lines.judge(counts)
    assert enough
    assert "lines 1-6, 8-16" in report[1]


def test_report_without_counts_fails() -> None:
    assert not lines.judge({})[2]


class FakeGuest:
    """Answers find and base64 with given output."""

    def __init__(self, names: str, status: int = 0) -> None:
        self.names = names
        self.status = status

    def exec(self, argv: list[str]) -> Done:
        if argv[0].endswith("find"):
            return Done(0, self.names, "")
        return Done(self.status, "AAEC\n", "no such file")


def test_counts_are_fetched_by_the_path_of_their_object() -> None:
    vm: Any = FakeGuest(f"{lines.COUNTS}/tree/driver/port/a.gcda\n")
    assert lines.fetch(vm) == {PurePosixPath("/tree/driver/port/a.gcda"): b"\0\1\2"}


@pytest.mark.parametrize("vm", [FakeGuest(""), FakeGuest(f"{lines.COUNTS}/a.gcda", status=1)])
def test_kernel_without_counts_is_reported(vm: Any) -> None:
    with pytest.raises(UserError):
        lines.fetch(vm)


def test_kernel_that_does_not_build_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_kernel(name: str) -> Path:
        raise UserError(f"no kernel {name}")

    monkeypatch.setattr(lines, "OUT", tmp_path)
    monkeypatch.setattr(lines, "build", no_kernel)
    assert lines.main(["--kernel", "6.1"]) == 2
    assert capsys.readouterr().err == "lines: no kernel 6.1\n"
    assert not (tmp_path / "results.json").exists()
