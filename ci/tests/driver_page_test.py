# SPDX-License-Identifier: Apache-2.0
"""The page of drivers has the result of each rule, and the reasons of its waivers."""

from __future__ import annotations

import json
from pathlib import Path

from ci import driver_page
from vm import suite

RULES = {
    "CNT-001": "PASSED",
    "CNT-002": "WAIVED",
    "CNT-003": "FAILED",
    "CNT-004": "PARTIAL",
    "CNT-005": "NOT_TESTED",
    "CNT-006": "NOT_APPLICABLE",
    "CNT-007": "NOT_RUN",
    "CNT-008": "REVIEW",
    "CNT-009": "INCOMPLETE",
}
WAIVED = {
    "id": "A.Case",
    "result": "WAIVED",
    "rules": ["CNT-002"],
    "message": "A.cpp:3: 1 is not 2",
    "waiver": {"id": "W-1", "reason": "it cannot", "link": "a link", "owner": "perf"},
}


def results(target: str, release: str = "6.12.1") -> dict[str, object]:
    return {
        "target": target,
        "release": release,
        "arch": "x86_64",
        "profile": "",
        "rules": [{"id": rule, "result": result} for rule, result in RULES.items()],
        "cases": [WAIVED, {"id": "A.Good", "result": "PASS", "rules": ["CNT-001"]}],
    }


def test_page_has_the_result_of_each_rule_driver_and_kernel() -> None:
    columns = [driver_page.column(results(target)) for target in ("software", "refpmu")]
    columns.append(driver_page.column(results("software", "6.1.9")))
    waivers = {"W-1": driver_page.Waiver("W-1", "it cannot", "a:link")}
    lines = driver_page.page(columns, waivers, driver_page.ROOT).splitlines()
    assert "| rule | software | refpmu |" in lines
    for rule, word in (("CNT-001", "passed"), ("CNT-002", "waived"), ("CNT-003", "broken")):
        assert f"| {rule} | {word} | {word} |" in lines
    assert "| CNT-005 | open | open |" in lines
    for rule in ("CNT-007", "CNT-008"):
        assert f"| {rule} | other | other |" in lines
    assert "| CNT-009 | open | open |" in lines
    assert not any(line.startswith("| CNT-006") for line in lines)
    assert "| software | 6.1.9 x86_64 | 1 | 1 | 1 | 3 | 2 | 1 |" in lines


def test_page_names_kernels_with_another_result() -> None:
    runs = [results("software", release) for release in ("6.1.9", "6.12.1", "6.12.2")]
    rows = [{"id": "CNT-001", "result": "WAIVED"}, {"id": "CNT-006", "result": "PASSED"}]
    odd = driver_page.column({**runs[1], "rules": rows})
    columns = [driver_page.column(runs[0]), odd, driver_page.column(runs[2])]
    lines = driver_page.page(columns, {}, driver_page.ROOT).splitlines()
    assert "| CNT-001 | passed; waived on 6.12.1 x86_64 |" in lines
    assert "| CNT-006 | not applicable; passed on 6.12.1 x86_64 |" in lines


def test_page_has_each_waiver_with_cause_rules_and_drivers() -> None:
    known = {"W-1": driver_page.Waiver("W-1", "it cannot", "docs/why.md#it")}
    text = driver_page.page(
        [driver_page.column(results("software"))], known, driver_page.ROOT / "docs"
    )
    assert (
        "- W-1 (CNT-002): it cannot. [Source](why.md#it) Seen on 6.12.1 x86_64 with software."
        in text
    )
    assert "the waiver no longer exists" in driver_page.page(
        [driver_page.column(results("software"))], {}, driver_page.ROOT
    )


def test_page_shows_the_kernels_own_drivers_and_the_reference() -> None:
    shown = {path.stem for path in suite.TARGETS.glob("*.toml") if driver_page.is_shown(path.stem)}
    assert {"software", "tracepoint", "armv8_pmuv3", "intel", "refpmu"} <= shown
    assert "refpmu_big" not in shown and not driver_page.is_shown("gone")


def test_page_omits_missing_runs_and_profiles(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "none", "profile", "big")]
    paths[0].write_text(json.dumps(results("software")), encoding="utf-8")
    paths[2].write_text(json.dumps({**results("tracepoint"), "profile": "x"}), encoding="utf-8")
    paths[3].write_text(json.dumps(results("refpmu_big")), encoding="utf-8")
    out = tmp_path / "page.md"
    assert driver_page.main([str(out), *map(str, paths)]) == 0
    text = out.read_text("utf-8")
    assert "Rule by rule" not in text
    assert "| software |" in text and "tracepoint" not in text and "refpmu_big" not in text


def test_every_waiver_has_a_reason_and_a_source() -> None:
    waivers = driver_page.read_waivers()
    assert waivers and all(waiver.reason and waiver.link for waiver in waivers.values())
