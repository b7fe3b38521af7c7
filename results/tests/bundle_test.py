# SPDX-License-Identifier: Apache-2.0
"""A bundle is verified by judging its stream again. Each change is refused by name."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results import archive, bundle
from results.__main__ import main
from results.errors import ResultsError
from results.tests import runs

GOOD, BAD = "Counting.WrapIsExactInEachPlace", "Counting.DisabledTimeIsNotCounted"
SKIPPED = "BranchStack.EntriesReportFlagsAndCycles"
Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def fixture_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(runs.PMUCONF))


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with a failed case."""
    run = runs.judged(
        tmp_path_factory.mktemp("run") / "run",
        failed={BAD: "999, not 1000"},
        skipped={SKIPPED: "needs branches"},
    )
    (run.path.parent / "console.log").write_text("[    0.000000] Linux version 6.12.9\n")
    return run.path.parent


@pytest.fixture(scope="module", name="packed")
def fixture_packed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the run."""
    config = folder / "kernel.config"
    config.write_text("CONFIG_PERF_EVENTS=y\n")
    out = tmp_path_factory.mktemp("bundle") / "claim.tar.gz"
    with pytest.MonkeyPatch.context() as patching:
        patching.setenv("PMUCONF_BINARY", str(runs.PMUCONF))
        words = ["bundle", str(folder), "--config", str(config), "--out", str(out)]
        assert main(words) == 0
    return out


def lines_of(files: Files) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files["stream.jsonl"].splitlines()]


def set_lines(files: Files, lines: list[Any]) -> None:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    files["stream.jsonl"] = "".join(f"{text}\n" for text in texts).encode()


def seal(files: Files) -> None:
    """Makes the hashes of the manifest right again."""
    manifest = json.loads(files["manifest.json"])
    named = {name: bundle._fact(data) for name, data in files.items() if name != "manifest.json"}
    manifest["files"] = named
    files["manifest.json"] = json.dumps(manifest).encode()


Change = Callable[[Files], object]


def in_stream(change: Callable[[list[Any]], Any], sealed: bool = True) -> Change:
    """A change of the lines of the stream."""

    def apply(files: Files) -> None:
        lines: list[Any] = lines_of(files)
        change(lines)
        set_lines(files, lines)
        if sealed:
            seal(files)

    return apply


def row(lines: list[Any], case: str) -> dict[str, Any]:
    found: dict[str, Any] = next(line for line in lines if line.get("id") == case)
    return found


def in_json(name: str, change: Callable[[dict[str, Any]], Any], sealed: bool = True) -> Change:
    """A change of a JSON file. The hashes of a changed manifest stay as they are."""

    def apply(files: Files) -> None:
        document = json.loads(files[name])
        change(document)
        files[name] = json.dumps(document).encode()
        if sealed and name != "manifest.json":
            seal(files)

    return apply


def append(name: str, data: bytes) -> Change:
    def apply(files: Files) -> None:
        files[name] = files.get(name, b"") + data

    return apply


def manifest_key(key: str, value: Any) -> Change:
    return in_json("manifest.json", lambda document: document.update({key: value}))


def rule_of(document: dict[str, Any], result: str) -> dict[str, Any]:
    found: dict[str, Any] = next(rule for rule in document["rules"] if rule["result"] == result)
    return found


def sealed_file(name: str, data: bytes) -> Change:
    def apply(files: Files) -> None:
        files[name] = data
        seal(files)

    return apply


def left_out(lines: list[Any]) -> None:
    """Removes a case as if it had not been selected."""
    lines[0]["selected"].remove(BAD)
    lines.remove(row(lines, BAD))


NOT_DESCRIBED = "is not the file that the manifest describes"
NEW_CASE: dict[str, Any] = {
    "t": "result",
    "id": "A.New",
    "result": "PASS",
    "message": "",
    "rules": [],
}
NEW_CASE |= {"duration_s": 0.1}
CHANGES: dict[str, tuple[Change, str]] = {
    "a line is dropped": (
        in_stream(lambda lines: lines.remove(row(lines, GOOD)), sealed=False),
        f"stream.jsonl {NOT_DESCRIBED}",
    ),
    "a result is changed": (
        in_stream(lambda lines: row(lines, BAD).update(result="PASS"), sealed=False),
        f"stream.jsonl {NOT_DESCRIBED}",
    ),
    "the target is edited": (append("target.toml", b"# x\n"), f"target.toml {NOT_DESCRIBED}"),
    "the console is edited": (append("console.log", b"x"), f"console.log {NOT_DESCRIBED}"),
    "the config is edited": (append("kernel.config", b"x"), f"kernel.config {NOT_DESCRIBED}"),
    "the results are edited": (append("results.json", b" "), f"results.json {NOT_DESCRIBED}"),
    "a line is dropped, sealed": (
        in_stream(lambda lines: lines.remove(row(lines, GOOD))),
        f"no result of the selected case {GOOD}",
    ),
    "the end is dropped": (
        in_stream(lambda lines: lines.pop()),
        "the last line is not the end of a run",
    ),
    "the start is dropped": (
        in_stream(lambda lines: lines.pop(0)),
        "stream.jsonl:1: the first line does not describe a run",
    ),
    "a case is added": (
        in_stream(lambda lines: lines.insert(1, NEW_CASE)),
        "stream.jsonl:2: the suite has no case A.New",
    ),
    "a case is selected": (
        in_stream(lambda lines: lines[0]["selected"].append("A.New")),
        "stream.jsonl:1: the suite has no case A.New",
    ),
    "a case is selected twice": (
        in_stream(lambda lines: lines[0]["selected"].append(GOOD)),
        "stream.jsonl:1: a case is selected twice",
    ),
    "a case is not selected": (
        in_stream(lambda lines: lines[0]["selected"].remove(GOOD)),
        f"a result of {GOOD}, which was not selected",
    ),
    "a failed case is left out": (
        in_stream(left_out),
        f"{BAD}: the claim is FAIL, the stream shows not there",
    ),
    "a case has two results": (
        in_stream(lambda lines: lines.insert(-1, {**row(lines, BAD), "result": "PASS"})),
        f"a second result of {BAD}",
    ),
    "a result is changed, sealed": (
        in_stream(lambda lines: row(lines, BAD).update(result="PASS")),
        f"{BAD}: the claim is FAIL, the stream shows PASS",
    ),
    "a result is unknown": (
        in_stream(lambda lines: row(lines, BAD).update(result="FINE")),
        f"unknown result 'FINE' of {BAD}",
    ),
    "a message is changed": (
        in_stream(lambda lines: row(lines, BAD).update(message="1000")),
        f"{BAD}: key 'message' is not what the stream shows",
    ),
    "a case has other rules": (
        in_stream(lambda lines: row(lines, BAD).update(rules=["CNT-001"])),
        f"{BAD} has other rules in this suite",
    ),
    "a line has no JSON": (
        in_stream(lambda lines: lines.insert(1, "{")),
        "stream.jsonl:2: no JSON",
    ),
    "a line is unknown": (
        in_stream(lambda lines: lines.insert(1, {"t": "note"})),
        "stream.jsonl:2: unknown line 'note'",
    ),
    "a line lacks a key": (
        in_stream(lambda lines: row(lines, BAD).pop("message")),
        "key 'message' is missing or has a wrong type",
    ),
    "the stream is cut": (
        lambda files: sealed_file("stream.jsonl", files["stream.jsonl"][:-3])(files),
        "stream.jsonl: the last line is cut",
    ),
    "a failure is claimed as passed": (
        in_json("results.json", lambda d: row(d["cases"], BAD).update(result="PASS", message="")),
        f"{BAD}: the claim is PASS, the stream shows FAIL (999, not 1000)",
    ),
    "a failure is claimed as waived": (
        in_json("results.json", lambda d: row(d["cases"], BAD).update(result="WAIVED")),
        f"{BAD}: the claim is WAIVED, the stream shows FAIL",
    ),
    "a rule is claimed as passed": (
        in_json("results.json", lambda d: rule_of(d, "FAILED").update(result="PASSED")),
        "the claim is PASSED, the stream shows FAILED",
    ),
    "a rule is added": (
        in_json("results.json", lambda d: d["rules"].append({**d["rules"][0], "id": "CNT-999"})),
        "CNT-999: the claim is PASSED, the stream shows not there",
    ),
    "a rule is there twice": (
        in_json("results.json", lambda d: d["rules"].append(d["rules"][0])),
        "rules: an id occurs twice",
    ),
    "the verdict of the results is changed": (
        in_json("results.json", lambda d: d.update(verdict="CONFORMANT")),
        "results.json: key 'verdict' is not what the stream shows",
    ),
    "the results are malformed": (
        in_json("results.json", lambda d: d.pop("rules")),
        "results.json: key 'rules' is missing or has a wrong type",
    ),
    "the claimed verdict is changed": (
        manifest_key("verdict", "CONFORMANT"),
        "the claim is CONFORMANT, the verdict is NOT_CONFORMANT",
    ),
    "the claimed target is changed": (
        manifest_key("target", "intel"),
        "target is 'intel', but the stream is of 'refpmu'",
    ),
    "the claimed release is changed": (
        manifest_key("release", "7.2.1"),
        "release is '7.2.1', but the stream is of '6.12.9'",
    ),
    "the claimed machine is changed": (
        manifest_key("arch", "aarch64"),
        "arch is 'aarch64', but the stream is of 'x86_64'",
    ),
    "the claimed profile is changed": (
        manifest_key("profile", "counting-1.0"),
        "profile is 'counting-1.0', but the stream is of ''",
    ),
    "the catalogue is another one": (
        manifest_key("catalogue", "0" * 64),
        "run by another catalogue, of commit ",
    ),
    "the manifest has another format": (manifest_key("format", 2), "unknown format 2"),
    "the manifest has another key": (manifest_key("note", "x"), "unknown key 'note'"),
    "the manifest lacks a key": (
        in_json("manifest.json", lambda document: document.pop("commit")),
        "manifest.json: key 'commit' is missing or has a wrong type",
    ),
    "the manifest is cut": (
        lambda files: files.update({"manifest.json": files["manifest.json"][:-9]}),
        "manifest.json: no JSON",
    ),
    "the manifest does not name a file": (
        in_json("manifest.json", lambda document: document["files"].pop("console.log")),
        "the manifest does not name console.log",
    ),
    "a file is removed": (
        lambda files: files.pop("console.log"),
        "the manifest names console.log, which is not there",
    ),
    "the stream is removed": (
        lambda files: files.pop("stream.jsonl"),
        "the bundle has no stream.jsonl",
    ),
    "the target is another one": (
        sealed_file("target.toml", b"name = 3\n"),
        "target.toml",
    ),
}


def test_true_claim_is_verified(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(packed)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "NOT_CONFORMANT: refpmu on 6.12.9 x86_64, whole catalogue"
    failed = sorted(row(runs.cases(), BAD)["rules"])
    assert f"failed: {' '.join(failed)}" in lines
    assert any(line.startswith("not run: ") for line in lines)
    assert lines[-1] == "signature: not checked"


def test_bundle_of_the_same_run_has_the_same_bytes(
    folder: Path, packed: Path, tmp_path: Path
) -> None:
    bundle.pack(folder, "", folder / "kernel.config", tmp_path / "again.tar.gz")
    assert (tmp_path / "again.tar.gz").read_bytes() == packed.read_bytes()


@pytest.mark.parametrize("name", CHANGES)
def test_change_is_refused_by_name(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    change, said = CHANGES[name]
    files = archive.read(packed)
    change(files)
    path = tmp_path / "claim.tar.gz"
    archive.write(path, files)
    assert main(["verify", str(path)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.startswith("results: ") and err.count("\n") == 1


def repacked(path: Path, edit: Callable[[tarfile.TarFile], None], files: Files) -> None:
    """Writes an archive with the files and with what `edit` adds."""
    with tarfile.open(path, "w:gz") as packed:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
        edit(packed)


def member(name: str, kind: bytes = tarfile.REGTYPE) -> Callable[[tarfile.TarFile], None]:
    def edit(packed: tarfile.TarFile) -> None:
        entry = tarfile.TarInfo(name)
        entry.type = kind
        entry.linkname = "/etc/passwd" if kind == tarfile.SYMTYPE else ""
        packed.addfile(entry)

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (member("../evil"), "unknown member '../evil'"),
        (member("/etc/passwd"), "unknown member '/etc/passwd'"),
        (member("notes.txt"), "unknown member 'notes.txt'"),
        (member("stream.jsonl"), "member 'stream.jsonl' occurs twice"),
        (member("kernel.config", tarfile.SYMTYPE), "member 'kernel.config' is no regular file"),
        (member("kernel.config", tarfile.DIRTYPE), "member 'kernel.config' is no regular file"),
    ],
)
def test_other_member_is_refused(
    packed: Path, tmp_path: Path, edit: Callable[[tarfile.TarFile], None], said: str
) -> None:
    files = archive.read(packed)
    if "kernel.config" in said:
        del files["kernel.config"]
    path = tmp_path / "claim.tar.gz"
    repacked(path, edit, files)
    with pytest.raises(ResultsError, match=said):
        bundle.verify(path)


def test_damaged_archive_is_one_line(packed: Path, tmp_path: Path) -> None:
    whole = packed.read_bytes()
    path = tmp_path / "claim.tar.gz"
    for data in (whole[: len(whole) // 2], b"no archive", b""):
        path.write_bytes(data)
        with pytest.raises(ResultsError, match="claim.tar.gz: ") as error:
            bundle.verify(path)
        assert "\n" not in str(error.value)
    with pytest.raises(ResultsError, match="No such file"):
        bundle.verify(tmp_path / "nothing.tar.gz")


def test_huge_archive_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    path = tmp_path / "claim.tar.gz"
    archive.write(path, {"stream.jsonl": bytes(2 << 20)})
    with pytest.raises(ResultsError, match="the archive is larger than 1 MiB"):
        bundle.verify(path)


def test_false_claim_cannot_be_packed(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("stream.jsonl", "results.json"):
        text = (folder / name).read_text(encoding="utf-8")
        (copy / name).write_text(text.replace('"NOT_CONFORMANT"', '"CONFORMANT"'))
    with pytest.raises(ResultsError, match="key 'verdict' is not what the stream shows"):
        bundle.pack(copy, "", None, tmp_path / "claim.tar.gz")
    assert not (tmp_path / "claim.tar.gz").exists()


def new_key(folder: Path, name: str) -> Path:
    key = folder / name
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)]
    subprocess.run(words, check=True, timeout=60)
    return key


@dataclasses.dataclass
class Signed:
    """A signed bundle, and the file of the signers that are allowed."""

    path: Path
    signers: Path
    words: list[str]


@pytest.fixture(name="signed")
def fixture_signed(folder: Path, tmp_path: Path) -> Signed:
    key = new_key(tmp_path, "vendor")
    path, signers = tmp_path / "claim.tar.gz", tmp_path / "signers"
    assert main(["bundle", str(folder), "--key", str(key), "--out", str(path)]) == 0
    public = key.with_suffix(".pub").read_text().split()
    signers.write_text(f'vendor@example.org namespaces="pmuconf" {public[0]} {public[1]}\n')
    return Signed(path, signers, ["verify", str(path), "--signers", str(signers)])


def test_signature_of_an_allowed_signer_is_accepted(
    signed: Signed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(signed.words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "signed by: vendor@example.org"


def test_bundle_that_changed_after_its_signature_is_refused(
    signed: Signed, capsys: pytest.CaptureFixture[str]
) -> None:
    files = archive.read(signed.path)
    in_stream(lambda lines: row(lines, SKIPPED).update(message="needs nothing"))(files)
    archive.write(signed.path, files)
    assert main(signed.words) == 2
    said = f"not a valid signature of {signed.path} by vendor@example.org"
    assert said in capsys.readouterr().err


def test_missing_signature_is_refused(signed: Signed, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"{signed.path}.sig").unlink()
    assert main(signed.words) == 2
    assert f"{signed.path}.sig: no such file" in capsys.readouterr().err


def test_signature_of_somebody_else_is_refused(
    signed: Signed, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = new_key(tmp_path, "other")
    words = ["bundle", str(folder), "--key", str(other), "--out", str(signed.path)]
    assert main(words) == 0
    assert main(signed.words) == 2
    assert f"signed by nobody that {signed.signers} allows" in capsys.readouterr().err


def test_key_that_cannot_sign_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "claim.tar.gz"
    words = ["bundle", str(folder), "--key", str(tmp_path / "nokey"), "--out", str(out)]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert f"results: {out}: not signed: " in err and err.count("\n") == 1
