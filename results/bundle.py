# SPDX-License-Identifier: Apache-2.0
"""Packs the record of a run for somebody else, and verifies such a bundle.

The verification trusts only the stream. It judges the stream again, with the rules, cases and waivers of this checkout,
and compares the result with the claim.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pmubase import store
from results import archive, document, reports, stream
from results.archive import MANIFEST
from results.errors import ResultsError

FORMAT = 1
KEYS: dict[str, Any] = {
    **{"format": int, "commit": str, "catalogue": str, "files": dict},
    **{key: str for key in ("target", "kernel", "release", "arch", "profile", "verdict")},
}
SUBJECT = ("target", "kernel", "release", "arch", "profile")
BINARY = store.ROOT / "build" / "guest" / "conformance" / "pmuconf"
CATALOGUE = ("rules/*.toml", "profiles/*.toml", "waivers/*.toml", "untested.toml")
"""The files of conformance/ that decide a verdict, besides the cases."""
JUDGE_S = 120


@dataclass(frozen=True)
class Verified:
    """A bundle whose claim is what its stream shows."""

    manifest: dict[str, Any]
    results: dict[str, Any]
    """The document results.json of the judgement here."""
    signer: str
    """The identity that signed it; "" if no signature was checked."""

    def rules(self, result: str) -> list[str]:
        """The rules with a result."""
        return [rule["id"] for rule in self.results["rules"] if rule["result"] == result]


def binary() -> Path:
    """The suite's program. ResultsError if it is not built."""
    named = os.environ.get("PMUCONF_BINARY")
    path = Path(named) if named else BINARY
    if not path.is_file():
        raise ResultsError(f"no program {path}: build it with ci/build guest pmuconf")
    return path


def _pmuconf(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [str(binary()), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=JUDGE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ResultsError(f"pmuconf {words[0]} did not end within {JUDGE_S} s") from error


def cases(target: str) -> dict[str, list[str]]:
    """The rules of each case of the suite."""
    done = _pmuconf("list", "--target", target, "--json")
    if done.returncode != 0:
        raise ResultsError(done.stderr.strip().removeprefix("pmuconf: "))
    return {case["id"]: case["rules"] for case in json.loads(done.stdout)["cases"]}


def catalogue_digest(of: Mapping[str, list[str]]) -> str:
    """A hash of all that decides a verdict: rules, profiles, waivers, and the cases with their rules."""
    digest = hashlib.sha256()
    folder = store.ROOT / "conformance"
    for pattern in CATALOGUE:
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(json.dumps(dict(of), sort_keys=True).encode())
    return digest.hexdigest()


def judge(files: Mapping[str, bytes], profile: str, verdict_of: str) -> dict[str, Any]:
    """Judges the stream of a bundle, and returns the document results.json. `verdict_of`: as `pmuconf report --verdict`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("stream.jsonl", "target.toml"):
            (folder / file).write_bytes(files[file])
        words = ["--stream", str(folder / "stream.jsonl"), "--target", str(folder / "target.toml")]
        words += ["--profile", profile] if profile else []
        words += ["--verdict", verdict_of]
        done = _pmuconf("report", *words, "--out", str(folder / "out"))
        if not (folder / "out" / document.NAME).is_file():
            said = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
            raise ResultsError(said[0].removeprefix("pmuconf: ").replace(f"{folder}/", ""))
        return document.read(folder / "out").data


def _comparable(results: dict[str, Any]) -> dict[str, Any]:
    """A document without the repro commands, which name the place of a target file."""
    plain = dict(results)
    plain["cases"] = [{k: v for k, v in case.items() if k != "repro"} for case in plain["cases"]]
    return plain


def _difference(claimed: dict[str, Any], judged: dict[str, Any]) -> str:
    """The first difference of two documents; "" if there is none."""
    one, other = _comparable(claimed), _comparable(judged)
    for key in ("cases", "rules", "drafts"):
        mine = {row["id"]: row for row in one[key]}
        theirs = {row["id"]: row for row in other[key]}
        if len(mine) != len(one[key]):
            return f"{key}: an id occurs twice"
        for name in sorted(mine.keys() | theirs.keys()):
            if mine.get(name) != theirs.get(name):
                return _row_difference(name, mine.get(name, {}), theirs.get(name, {}))
    for key in sorted(one.keys() | other.keys()):
        if one.get(key) != other.get(key):
            return f"key '{key}' is not what the stream shows"
    return ""


def _row_difference(name: str, claim: dict[str, Any], judged: dict[str, Any]) -> str:
    """The difference of a case or a rule. The message of a case may state that a waiver has expired."""
    mine, theirs = claim.get("result", "not there"), judged.get("result", "not there")
    if mine == theirs:
        keys = [key for key in {**claim, **judged} if claim.get(key) != judged.get(key)]
        return f"{name}: key '{keys[0]}' is not what the stream shows"
    why = str(judged.get("message", "")).partition("\n")[0]
    return f"{name}: the claim is {mine}, the stream shows {theirs}{f' ({why})' if why else ''}"


def pack(folder: Path, target: str, config: Path | None, out: Path) -> dict[str, Any]:
    """Packs the run in a folder, and returns the manifest. `target`: the name of a built-in target, or a file."""
    files = {}
    for name in ("stream.jsonl", document.NAME):
        files[name] = _read(folder / name)
    claimed = document.read(folder).data
    if claimed.get("layers"):
        raise ResultsError(
            f"{folder}: joins results of other layers: bundle a run of the suite alone"
        )
    printed = _pmuconf("target", "--target", target or claimed["target"])
    if printed.returncode != 0:
        raise ResultsError(printed.stderr.strip().removeprefix("pmuconf: "))
    files["target.toml"] = printed.stdout.encode()
    if (folder / "console.log").is_file():
        files["console.log"] = _read(folder / "console.log")
    if config is not None:
        files["kernel.config"] = _read(config)
    manifest = {
        "format": FORMAT,
        "commit": reports.commit_of_checkout(),
        "catalogue": catalogue_digest(cases(claimed["target"] if not target else target)),
        **{key: claimed[key] for key in (*SUBJECT, "verdict")},
        "files": {name: _fact(data) for name, data in files.items()},
    }
    files[MANIFEST] = json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n"
    checked(files, str(folder))
    archive.write(out, files)
    return manifest


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from error


def _fact(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _manifest(files: Mapping[str, bytes], where: str) -> dict[str, Any]:
    try:
        found = json.loads(files[MANIFEST])
    except ValueError as error:
        raise ResultsError(f"{where}: {MANIFEST}: no JSON") from error
    for key, kind in KEYS.items():
        if not isinstance(found, dict) or not isinstance(found.get(key), kind):
            raise ResultsError(f"{where}: {MANIFEST}: key '{key}' is missing or has a wrong type")
    unknown = found.keys() - KEYS.keys()
    if unknown:
        raise ResultsError(f"{where}: {MANIFEST}: unknown key '{min(unknown)}'")
    if found["format"] != FORMAT:
        raise ResultsError(f"{where}: {MANIFEST}: unknown format {found['format']}")
    return dict(found)


def checked(files: Mapping[str, bytes], where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the judgement of a bundle. ResultsError names the first part that is not as it must be."""
    manifest = _manifest(files, where)
    for name in sorted(manifest["files"].keys() | (files.keys() - {MANIFEST})):
        if name not in files:
            raise ResultsError(f"{where}: the manifest names {name}, which is not there")
        if manifest["files"].get(name) is None:
            raise ResultsError(f"{where}: the manifest does not name {name}")
        if manifest["files"][name] != _fact(files[name]):
            raise ResultsError(f"{where}: {name} is not the file that the manifest describes")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "target.toml"
        path.write_bytes(files["target.toml"])
        known = cases(str(path))
    if manifest["catalogue"] != catalogue_digest(known):
        raise ResultsError(f"{where}: run by another catalogue, of commit {manifest['commit']}")
    found = stream.check(f"{where}: stream.jsonl", files["stream.jsonl"], known)
    for key in SUBJECT:
        if manifest[key] != found.run[key]:
            raise ResultsError(
                f"{where}: {key} is '{manifest[key]}', but the stream is of '{found.run[key]}'"
            )
    claimed = _claim(files, where)
    judged = judge(files, found.run["profile"], str(claimed["verdict_of"]))
    difference = _difference(claimed, judged)
    if difference:
        raise ResultsError(f"{where}: {document.NAME}: {difference}")
    if manifest["verdict"] != judged["verdict"]:
        raise ResultsError(
            f"{where}: the claim is {manifest['verdict']}, the verdict is {judged['verdict']}"
        )
    return manifest, judged


def _claim(files: Mapping[str, bytes], where: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / document.NAME
        path.write_bytes(files[document.NAME])
        try:
            return document.read(path).data
        except ResultsError as error:
            raise ResultsError(f"{where}: {str(error).replace(f'{folder}/', '')}") from error


def verify(path: Path, signer: str = "") -> Verified:
    """Verifies a bundle. `signer`: the identity whose signature was checked before."""
    manifest, judged = checked(archive.read(path), str(path))
    return Verified(manifest, judged, signer)
