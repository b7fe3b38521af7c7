# SPDX-License-Identifier: Apache-2.0
"""A campaign evaluates the output of guests, and the memory of a dead one."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import campaign, campaign_results
from fuzz.campaign import MAGIC, MAX_LEN, NOTE
from fuzz.campaign_results import Campaign, Finding
from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel

SUM = (
    "#512\tDONE   ft: 77 corp: 9/1Kb exec/s: 2 rss: 30Mb\n"
    "syscall_fuzzer: programs=512 operations=4096 compared=900 opened=300 places=1234 seconds=64.0\n"
)


def note(number: int, data: bytes, end: int | None = None) -> bytes:
    """The data that the fuzzer writes to memory before it runs an input."""
    return NOTE.pack(MAGIC, number, len(data), data, number if end is None else end)


def memory(folder: Path, *parts: bytes) -> Path:
    path = folder / "ram"
    path.write_bytes(b"".join(b"\0" * 4096 + part for part in parts) + b"\0" * 64)
    return path


def test_last_input_is_read_from_the_memory_of_a_guest(tmp_path: Path) -> None:
    path = memory(tmp_path, note(7, b"older"), note(9, b"newest"), note(8, b"old"))
    assert campaign.last_input(path) == b"newest"


def test_incomplete_note_is_no_input(tmp_path: Path) -> None:
    whole, half = note(3, b"whole"), note(4, b"half", end=3)
    too_long = NOTE.pack(MAGIC, 5, MAX_LEN + 1, b"", 5)
    assert campaign.last_input(memory(tmp_path, half, whole, too_long, MAGIC)) == b"whole"
    assert campaign.last_input(memory(tmp_path, MAGIC + b"in a program's text")) is None
    assert campaign.last_input(memory(tmp_path, MAGIC)) is None


def test_figures_of_slices_are_added() -> None:
    result = Campaign("refpmu", "6.12-kcov", True)
    result.add(SUM)
    result.add(SUM.replace("places=1234", "places=1000").replace("ft: 77", "ft: 80"))
    assert (result.programs, result.operations, result.compared, result.opened) == (
        1024,
        8192,
        1800,
        600,
    )
    assert (result.places, result.features, result.seconds) == (1234, 80, 128.0)


def test_a_slice_without_figures_is_not_judged() -> None:
    with pytest.raises(UserError, match="without figures: Killed"):
        Campaign("refpmu", "6.12-kcov", True).add("INFO: Seed: 1\nKilled\n")


def test_finding_takes_precedence_over_not_judged(tmp_path: Path) -> None:
    clean, broken, found = (Campaign("refpmu", "6.12", True) for _ in range(3))
    broken.error = "no kernel"
    found.findings.append(Finding(("it hung",), "x.program", "x.log", "again x.program"))
    assert campaign_results.status([clean]) == 0
    assert campaign_results.status([clean, broken]) == campaign_results.status([]) == 2
    assert campaign_results.status([clean, broken, found]) == 1
    campaign_results.report([clean, broken, found], tmp_path / "results.json")
    totals = json.loads((tmp_path / "results.json").read_text("utf-8"))["totals"]
    assert (totals["cases"], totals["passed"], totals["failed"], totals["findings"]) == (3, 1, 2, 1)
    lines = campaign_results.table([clean, broken, found])
    assert "not judged: no kernel" in lines
    assert "finding on refpmu: it hung\n  x.program\n  repeat with: again x.program" in lines


def test_a_finding_leaves_its_input_and_a_log(tmp_path: Path) -> None:
    result = campaign.save_finding(
        tmp_path, Campaign("software", "6.12", True), b"\1\2", ("oops",), "log"
    )
    assert Path(result.input).read_bytes() == b"\1\2"
    assert Path(result.log).read_text("utf-8") == "log"
    assert result.repeat.endswith(f"--kernel 6.12 --target software --repro {result.input}")


LEAK = """unreferenced object 0xffff888003a1c300 (size 96):
  comm "syscall_fuzzer", pid 77, jiffies 4294900000
  backtrace:
    [<ffffffff81234567>] kmalloc_trace+0x2a/0xa0
    [<ffffffffc0001234>] refpmu_event_init+0x10/0x200 [refpmu]
"""


class Scanned:
    """A guest that runs one slice and scans for memory leaks."""

    def __init__(self, listing: str, status: int = 0) -> None:
        self._said = guest.Done(status, listing, "no such file")
        self.scans = 0

    def exec(self, argv: list[str], deadline_s: int) -> guest.Done:
        assert deadline_s > 0
        if argv == ["leaks"]:
            self.scans += 1
            return self._said
        return guest.Done(0, SUM if "syscall_fuzzer" in argv[-1] else "", "")

    def get(self, path: str, deadline_s: int) -> bytes:
        assert path and deadline_s > 0
        return empty_archive()


def empty_archive() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w"):
        pass
    return data.getvalue()


def sliced(vm: Scanned, folder: Path, debug: bool) -> tuple[bool, Campaign]:
    result = Campaign("refpmu", "6.12-kcov", True)
    slices = campaign.Slices(vm, result, folder, folder, kernel.Needs(12.0, debug=debug))  # type: ignore[arg-type]
    return slices.run([], 1), result


def test_memory_leak_of_a_slice_is_a_finding(tmp_path: Path) -> None:
    found, result = sliced(Scanned(LEAK), tmp_path, True)
    assert found
    (finding,) = result.findings
    assert finding.said == (
        'kmemleak: 96 bytes leaked by "syscall_fuzzer" (77) in refpmu_event_init',
    )
    assert Path(finding.log).read_text("utf-8") == LEAK
    lines = campaign_results.table([result])
    repeat = "python3 -m fuzz.campaign --kernel 6.12-kcov --target refpmu"
    assert f"\n  {finding.log}\n  repeat with: {repeat}" in lines


def test_slice_without_leak_has_no_finding(tmp_path: Path) -> None:
    clean, stock = Scanned(""), Scanned(LEAK)
    assert sliced(clean, tmp_path, True)[0] is False
    assert sliced(stock, tmp_path, False)[0] is False
    assert (clean.scans, stock.scans) == (1, 0)


def test_failed_leak_scan_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no scan for memory leaks: no such file"):
        sliced(Scanned("", 1), tmp_path, True)


# This stub replaces a guest. It removes a file when it ends.
PLAYED = """
import os, pathlib, select, signal, sys
# A shell's background job, as these tests may be, does not hear of ^C, and neither do those that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
from fuzz import campaign
def fuzz(request):
    file = pathlib.Path(sys.argv[1]) / request.target
    try:
        file.touch()
        os.write(1, b"runs\\n")
        # Not at once and for ever: a signal may come just before.
        while True:
            select.select([], [], [], 0.05)
    finally:
        file.unlink()
campaign.fuzz = fuzz
sys.exit(campaign.main([]))
"""


@pytest.fixture(name="played")
def fixture_played(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    words = ["/usr/bin/python3", "-B", "-c", PLAYED]
    words.append(str(tmp_path))
    with subprocess.Popen(words, cwd=store.ROOT, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_guests_run_concurrently_and_end_with_the_runner(
    played: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    assert played.stdout is not None
    # Neither ends by itself, so both lines appear only if both run at the same time.
    assert [played.stdout.readline() for _ in campaign.TARGETS] == ["runs\n", "runs\n"]
    assert {path.name for path in tmp_path.iterdir()} == set(campaign.TARGETS)
    played.send_signal(number)
    assert played.wait(60) == 130
    assert not any(tmp_path.iterdir())


def test_no_guest_outlives_a_killed_runner(played: subprocess.Popen[str]) -> None:
    assert played.stdout is not None
    assert [played.stdout.readline() for _ in campaign.TARGETS] == ["runs\n", "runs\n"]
    played.kill()
    # The pipe ends when all processes that hold it have ended.
    assert played.stdout.read() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--time", "0"], "fuzz-vm: --time must be at least 1 s for each target"),
        (["--module", "/no/such.ko"], "fuzz-vm: no module /no/such.ko"),
    ],
)
def test_invalid_arguments_are_one_line_and_status_2(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert campaign.main(words) == 2
    assert capsys.readouterr().err == f"{said}\n"
