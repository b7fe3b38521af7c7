# SPDX-License-Identifier: Apache-2.0
"""The check reports a source that does not exist, in a kernel's tree and in the manual."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ci.checks import sources

RULE = """[[rule]]
id = "CNT-001"
level = "MUST"
status = "active"
subject = "driver"
text = "It MUST."
why = "So."
source = ["{}"]
kernels = "{}"
"""


@pytest.fixture(name="findings")
def fixture_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(sources, "MANUALS", tmp_path)
    sources._manual.cache_clear()
    (tmp_path / "man2").mkdir()
    page = b".SH ERRORS\n.B EINVAL\n\\fIsample_period\\fP or \\-1\n"
    (tmp_path / "man2" / "perf_event_open.2.gz").write_bytes(gzip.compress(page))
    trees = {}
    for series, text in (("6.12", "struct pmu { int stop; };"), ("6.1", "int old_one;")):
        file = tmp_path / series / "kernel" / "core.c"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        trees[series] = tmp_path / series
    (tmp_path / "6.12" / "Documentation").mkdir()
    (tmp_path / "6.12" / "Documentation" / "x.rst").write_text("")

    def found(source: str, kernels: str = ">=6.1") -> list[str]:
        rules = tmp_path / "conformance" / "rules"
        rules.mkdir(parents=True, exist_ok=True)
        (rules / "CNT.toml").write_text(RULE.format(source, kernels))
        return sources.findings(tmp_path, trees)

    return found


@pytest.mark.parametrize(
    ("source", "kernels"),
    [
        ("linux:kernel/core.c#pmu.stop", ">=6.1"),
        ("linux:kernel/core.c#old_one", ">=6.1"),
        ("linux:kernel/core.c#old_one", ">=6.1,<6.12"),
        ("linux:Documentation/x.rst", ">=6.1"),
        ("man:perf_event_open(2)#EINVAL", ">=6.1"),
        ("man:perf_event_open(2)#sample_period", ">=6.1"),
        ("man:not_installed(2)#X", ">=6.1"),
        ("sdm:vol 3", ">=6.1"),
    ],
)
def test_existing_source_has_no_finding(findings, source, kernels) -> None:  # type: ignore[no-untyped-def]
    assert not findings(source, kernels)


@pytest.mark.parametrize(
    ("source", "kernels", "said"),
    [
        ("linux:kernel/core.c#pmu.start", ">=6.1", "does not contain 'start'"),
        ("linux:kernel/core.c#old", ">=6.1", "does not contain 'old'"),
        ("linux:kernel/core.c#old_one", ">=6.12", "does not contain 'old_one'"),
        ("linux:kernel/cor.c#stop", ">=6.1", "no file kernel/cor.c"),
        ("linux:kernel/core.c", ">=6.1", "must be linux:FILE#SYMBOL"),
        ("man:perf_event_open(2)#EXDEV", ">=6.1", "does not contain 'EXDEV'"),
    ],
)
def test_missing_source_is_reported(findings, source, kernels, said) -> None:  # type: ignore[no-untyped-def]
    (line,) = findings(source, kernels)
    assert line.startswith("CNT-001: ") and said in line
