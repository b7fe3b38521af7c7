# SPDX-License-Identifier: Apache-2.0
"""Equal contents give identical images, and other contents give others."""

from __future__ import annotations

import dataclasses
import gzip
import os
import pathlib
import resource
import subprocess

import pytest

from pmubase.errors import UserError
from vm import image
from vm.testing.stubs import TESTS, write_script


@pytest.fixture
def contents(tmp_path: pathlib.Path) -> image.Contents:
    target, module = tmp_path / "a.toml", tmp_path / "refpmu.ko"
    target.write_text("[target]\n", encoding="utf-8")
    module.write_bytes(b"\x7fELF module")
    return image.Contents(agent=TESTS / "agents/pmuconf", target=target, modules=(module,))


def listing(path: pathlib.Path) -> str:
    archive = gzip.decompress(path.read_bytes())
    done = subprocess.run(["cpio", "-tv"], input=archive, capture_output=True, check=True)
    return done.stdout.decode()


def test_image_has_the_requested_files(cache: pathlib.Path, contents: image.Contents) -> None:
    text = listing(image.build(contents))
    for place in ("init", "bin/busybox", "bin/pmuconf", "target.toml", "modules/refpmu.ko"):
        assert f" {place}\n" in text
    assert "bin/sh -> busybox" in text
    assert "-rwxr-xr-x   1 root     root" in next(
        line for line in text.splitlines() if line.endswith(" init")
    )


def test_equal_contents_make_equal_images(
    contents: image.Contents, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for turn, mask in (("one", 0o022), ("two", 0o077)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / turn))
        assert contents.target is not None
        os.utime(contents.target, (mask, mask))
        old = os.umask(mask)
        try:
            made.append(image.build(contents))
        finally:
            os.umask(old)
    assert made[0] != made[1]
    assert made[0].read_bytes() == made[1].read_bytes()


def test_image_is_built_once(cache: pathlib.Path, contents: image.Contents) -> None:
    first = image.build(contents)
    identity = first.stat().st_ino
    assert image.build(contents).stat().st_ino == identity
    left = {path.name for path in first.parent.iterdir()}
    assert left == {first.name, ".lock"}


def test_changed_byte_changes_the_image(cache: pathlib.Path, contents: image.Contents) -> None:
    first = image.build(contents)
    contents.modules[0].write_bytes(b"\x7fELF modulf")
    assert image.build(contents) != first
    other = dataclasses.replace(contents.arch, channel="ttyS2")
    assert image.build(dataclasses.replace(contents, arch=other)) != first


def test_a_missing_file_is_named(cache: pathlib.Path, contents: image.Contents) -> None:
    lost = dataclasses.replace(contents, files={"etc/x": pathlib.Path("/nowhere/x")})
    with pytest.raises(UserError, match="cannot read /nowhere/x for the image"):
        image.build(lost)


def test_a_full_disk_leaves_no_part_of_an_image(
    cache: pathlib.Path, contents: image.Contents
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))
    try:
        with pytest.raises(UserError, match="cannot write to .*images: File too large"):
            image.build(contents)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.name for path in (cache / "images").iterdir()} == {".lock"}


def test_a_program_comes_with_its_libraries() -> None:
    files = image.with_program("perf")
    assert files["bin/perf"].name.startswith("perf")
    assert any("ld-linux" in place or place.startswith("lib64/ld") for place in files)
    assert any("libc.so.6" in place for place in files)


def test_a_static_program_has_no_libraries() -> None:
    assert image.libraries(image.find_busybox()) == []


def test_missing_program_is_named() -> None:
    with pytest.raises(UserError, match="no program 'no-such-program'"):
        image.with_program("no-such-program")


def test_missing_cpio_is_reported(
    cache: pathlib.Path,
    contents: image.Contents,
    fakes: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("busybox", "ldd"):
        write_script(fakes, name, "exit 0")
    monkeypatch.setenv("PATH", str(fakes))
    with pytest.raises(UserError, match="no program 'cpio'"):
        image.build(contents)
    assert {path.name for path in (cache / "images").iterdir()} == {".lock"}
