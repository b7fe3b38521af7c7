# SPDX-License-Identifier: Apache-2.0
"""Signatures of bundles, by `ssh-keygen -Y`. The signature of FILE is FILE.sig."""

from __future__ import annotations

import subprocess
from pathlib import Path

from results.errors import ResultsError

NAMESPACE = "pmuconf"
DEADLINE_S = 60


def _keygen(*words: str, stdin: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        with open(stdin or "/dev/null", "rb") as data:
            return subprocess.run(
                ["ssh-keygen", "-Y", *words],
                stdin=data,
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
                check=False,
            )
    except FileNotFoundError as error:
        name = error.filename if error.filename != "ssh-keygen" else "program ssh-keygen"
        raise ResultsError(f"{name}: no such file") from error
    except subprocess.TimeoutExpired as error:
        raise ResultsError(
            f"ssh-keygen did not end within {DEADLINE_S} s: has the key a passphrase?"
        ) from error


def of(path: Path) -> Path:
    """The file with the signature of a file."""
    return path.with_name(f"{path.name}.sig")


def sign(path: Path, key: Path) -> Path:
    """Signs a file with a private key, or with the agent that has the public key."""
    of(path).unlink(missing_ok=True)
    done = _keygen("sign", "-f", str(key), "-n", NAMESPACE, str(path))
    if done.returncode != 0 or not of(path).is_file():
        said = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise ResultsError(f"{path}: not signed: {said[0]}")
    return of(path)


def check(path: Path, signers: Path) -> str:
    """The identity that signed a file, of those that the file `signers` allows. ResultsError if there is none."""
    signature = of(path)
    for needed in (path, signers, signature):
        if not needed.is_file():
            raise ResultsError(f"{needed}: no such file")
    found = _keygen("find-principals", "-s", str(signature), "-f", str(signers))
    if found.returncode != 0 or not found.stdout.strip():
        raise ResultsError(f"{signature}: signed by nobody that {signers} allows")
    identity = found.stdout.split()[0]
    words = ["verify", "-f", str(signers), "-I", identity, "-n", NAMESPACE, "-s", str(signature)]
    if _keygen(*words, stdin=path).returncode != 0:
        raise ResultsError(f"{signature}: not a valid signature of {path} by {identity}")
    return identity
