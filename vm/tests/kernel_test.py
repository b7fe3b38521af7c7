# SPDX-License-Identifier: Apache-2.0
"""A kernel is found by name or path. Fetching it is atomic, happens once, and needs no root."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import subprocess

import pytest

from pmubase.errors import UserError
from vm import cli, kernel, packages, source, stock, tree
from vm import arch as arches
from vm.packages import STATUS_NO_PACKAGE, NoPackage
from vm.testing.stubs import FakeBuilds, boot_image, write_script

RELEASE = "6.12.9+deb12-cloud-amd64"

# The index of the distribution in these tests: only the relevant fields.
APT_CACHE = f"""
case " $* " in *" pkgnames "*) echo linux-image-{RELEASE} linux-headers-{RELEASE}; exit ;; esac
for name; do
    case $name in
    linux-image-{RELEASE})
        echo "Package: $name"; echo "Depends: kmod, linux-base (>= 4.12~)" ;;
    linux-headers-{RELEASE})
        echo "Package: $name"
        echo "Depends: linux-headers-6.12.9+deb12-common, linux-kbuild-6.12.9+deb12, gcc-12" ;;
    linux-headers-6.12.9+deb12-common | linux-kbuild-6.12.9+deb12)
        echo "Package: $name" ;;
    *) continue ;;
    esac
    printf 'Version: 1\\nSHA256: 00%s\\n\\n' "$name"
done
"""
APT_GET = """
sed -n 's/^APT::Architecture "\\(.*\\)";/for \\1:/p' "$2" | tr '\\n' ' ' >>"$APT_LOG"
echo "$@" >>"$APT_LOG"
case " $* " in
*" download "*) for name; do case $name in *=*) touch "${name%%=*}.deb" ;; esac; done ;;
esac
"""
# A fake package unpacks to files that match its name.
DPKG = f"""
mkdir -p "$3/boot" "$3/usr/src/linux-headers-{RELEASE}"
case $2 in
*linux-image-{RELEASE}.deb) cp "$BOOT_IMAGE" "$3/boot/vmlinuz-{RELEASE}" ;;
*linux-headers-{RELEASE}.deb)
    echo "include /usr/src/linux-headers-6.12.9+deb12-common/Makefile" \\
        >"$3/usr/src/linux-headers-{RELEASE}/Makefile" ;;
esac
"""


@pytest.fixture
def apt_log(
    apt_log: pathlib.Path,
    fakes: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> pathlib.Path:
    """A fake distribution. The file lists the calls of apt-get."""
    monkeypatch.setenv("BOOT_IMAGE", str(boot_image(tmp_path / "stock-image", RELEASE)))
    write_script(fakes, "apt-cache", APT_CACHE)
    write_script(fakes, "apt-get", APT_GET)
    write_script(fakes, "dpkg", DPKG)
    return apt_log


def test_a_fetched_kernel_has_image_release_and_headers(apt_log: pathlib.Path) -> None:
    found = kernel.find("6.12")
    assert found.release == RELEASE
    assert kernel.image_release(found.image) == RELEASE
    assert found.build is not None
    assert "/usr/src/linux" not in (found.build / "Makefile").read_text("utf-8")
    fetched = [line for line in apt_log.read_text("utf-8").splitlines() if " download " in line]
    assert len(fetched) == 1
    assert "linux-kbuild-6.12.9+deb12=1" in fetched[0]
    assert "kmod" not in fetched[0] and "gcc-12" not in fetched[0]


def test_modules_for_another_architecture_are_built_by_programs_of_this_one(
    apt_log: pathlib.Path, fakes: pathlib.Path
) -> None:
    foreign = next(arch for arch in arches.ARCHES.values() if arches.foreign(arch))
    write_script(fakes, "apt-cache", APT_CACHE.replace("amd64", foreign.name))
    write_script(fakes, "dpkg", DPKG.replace("amd64", foreign.name))
    found = kernel.find("6.12", foreign)
    assert found.arch == foreign and found.build is not None
    fetched = [line for line in apt_log.read_text("utf-8").splitlines() if " download " in line]
    tools = [line for line in fetched if "linux-kbuild" in line]
    assert len(fetched) == 2 and len(tools) == 1
    assert tools[0].startswith(f"for {arches.host().name}:")


@pytest.mark.parametrize(
    ("machine", "slowness", "says"),
    [
        ("", 1.0, ""),
        ("slowness = 3.0", 3.0, ""),
        ("speed = 3.0", 0.0, "6.12.toml: machine: .*'speed'"),
        ("3", 0.0, "6.12.toml: .*line"),
    ],
)
def test_fetched_kernel_has_its_requirements(
    apt_log: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    slowness: float,
    says: str,
) -> None:
    text = (stock.KERNELS / "6.12.toml").read_text(encoding="utf-8")
    (tmp_path / "6.12.toml").write_text(f"{text}\n[machine]\n{machine}\n", encoding="utf-8")
    monkeypatch.setattr(stock, "KERNELS", tmp_path)
    if says:
        with pytest.raises(UserError, match=says):
            kernel.find("6.12")
    else:
        assert kernel.find("6.12").needs.slowness == slowness


OTHER_SUITE = """
[kernel]
name = "7.2"
suite = "sid"
"""


@pytest.fixture
def other_suite(
    apt_log: pathlib.Path,
    fakes: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> pathlib.Path:
    """A fake suite with two versions of a kernel, whose image is in the folder of its modules."""
    (tmp_path / "os-release").write_text('VERSION_CODENAME="bookworm"\n')
    monkeypatch.setattr(packages, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(stock, "KERNELS", tmp_path)
    (tmp_path / "7.2.toml").write_text(OTHER_SUITE)
    names = [
        f"linux-{part}-7.2.{version}-cloud-amd64"
        for part in ("image", "headers")
        for version in (9, 10)
    ]
    write_script(
        fakes,
        "apt-cache",
        f"""grep -q sourcelist "$2" || exit 0
case " $* " in *" pkgnames "*) echo "{' '.join(names)}"; exit ;; esac
for name; do case $name in
linux-image-*) echo "Package: $name"; echo "Depends: linux-binary-7.2.10-cloud-amd64" ;;
linux-binary-* | linux-headers-* | libelf1t64) echo "Package: $name" ;;
linux-kbuild-*) echo "Package: $name"; echo "Depends: pahole, libelf1t64 (>= 0.144)" ;;
*) continue ;;
esac
case $name in linux-headers-*) echo "Depends: linux-kbuild-7.2.10, gcc-16-for-host" ;; esac
printf 'Version: 1\\nSHA256: 00%s\\n\\n' "$name"
done""",
    )
    write_script(
        fakes,
        "apt-get",
        APT_GET
        + """case " $* " in
*" indextargets "*) echo "other http://other/"; echo "bookworm http://archive/debian/" ;;
*" update "*) cat "${2%/*}/sources.list" >>"$APT_LOG" 2>/dev/null ;;
esac
true""",
    )
    write_script(
        fakes,
        "dpkg",
        """case $2 in
*linux-binary*) mkdir -p "$3/usr/lib/modules/7.2.10"; cp "$BOOT_IMAGE" "$3/usr/lib/modules/7.2.10/vmlinuz" ;;
*linux-headers*) mkdir -p "$3/usr/src/linux-headers-7.2.10" ;;
esac""",
    )
    return apt_log


def test_kernel_of_another_suite_comes_from_the_same_archive(other_suite: pathlib.Path) -> None:
    found = kernel.find("7.2")
    assert found.release == "7.2.10"
    assert found.image.name == "vmlinuz" and found.build is not None
    log = other_suite.read_text("utf-8")
    assert " http://archive/debian/ sid main\n" in log
    [fetched] = [line for line in log.splitlines() if " download " in line]
    assert "linux-image-7.2.10-cloud-amd64=1" in fetched and "7.2.9" not in fetched
    # The programs of linux-kbuild need the libraries of the suite, but no compiler.
    assert "libelf1t64=1" in fetched and "gcc" not in fetched and "pahole" not in fetched


def edit_index(log: pathlib.Path, old: str, new: str) -> None:
    """Changes the fake apt-cache next to `log`."""
    fake = log.parent / "fakes" / "apt-cache"
    text = fake.read_text("utf-8")
    assert old in text
    fake.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_kernel_of_the_host_is_preferred(other_suite: pathlib.Path) -> None:
    edit_index(other_suite, 'grep -q sourcelist "$2" || exit 0', "")
    kernel.find("7.2")
    assert " sid main" not in other_suite.read_text("utf-8")


def test_image_and_headers_are_of_one_version(other_suite: pathlib.Path) -> None:
    edit_index(other_suite, " linux-headers-7.2.10-cloud-amd64", "")
    kernel.find("7.2")
    log = other_suite.read_text("utf-8")
    assert "linux-image-7.2.9-cloud-amd64=1" in log and "linux-image-7.2.10" not in log


def test_kernel_of_another_series_is_not_used(
    apt_log: pathlib.Path, cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.find("6.12")
    pointer = cache / "kernels" / "6.12-amd64.json"
    shutil.copy(pointer, pointer.with_name("6.1-amd64.json"))
    with pytest.raises(NoPackage, match="no package 'linux-headers-6.1.[*]-cloud-amd64'"):
        kernel.find("6.1")


def test_backports_come_with_their_release(
    other_suite: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stock, "suites", lambda *_: ["forky-backports"])
    kernel.find("7.2")
    log = other_suite.read_text("utf-8")
    assert " http://archive/debian/ forky main\n" in log
    assert " http://archive/debian/ forky-backports main\n" in log


def test_source_of_another_suite_has_its_own_state(
    other_suite: pathlib.Path, cache: pathlib.Path
) -> None:
    edit_index(other_suite, "linux-binary-* |", "linux-binary-* | linux-source-* |")
    assert source.ensure("7.2", cache).name.startswith("linux-source-7.2")
    assert " sid main" in (cache / "apt-sid" / "sources.list").read_text("utf-8")
    assert " sid main" in other_suite.read_text("utf-8")


def test_other_suite_needs_the_archive_of_the_host(
    other_suite: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "os-release").write_text("VERSION_CODENAME=trixie\n")
    with pytest.raises(UserError, match="the host's apt sources have no release 'trixie'"):
        kernel.find("7.2")


def test_kernel_that_left_its_suite_is_a_one_line_error(
    other_suite: pathlib.Path, fakes: pathlib.Path
) -> None:
    write_script(fakes, "apt-cache", "exit 0")
    wanted = "no package 'linux-headers-7.2.[*]-cloud-amd64' in the suite sid"
    with pytest.raises(NoPackage, match=wanted):
        kernel.find("7.2")
    assert cli.main(["fetch", "--kernel", "7.2"]) == STATUS_NO_PACKAGE


def test_kernel_without_headers_is_fetched_as_an_image(
    other_suite: pathlib.Path, fakes: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages_of = dataclasses.replace(arches.AMD64.kernels["7.2"], headers=None)
    arch = dataclasses.replace(arches.AMD64, kernels={"7.2": packages_of})
    assert kernel.find("7.2", arch).build is None


@pytest.mark.parametrize("top", ["usr/lib", "lib"])
def test_unpacked_programs_use_the_unpacked_c_library(tmp_path: pathlib.Path, top: str) -> None:
    root, place = tmp_path / "root", tmp_path / "place"
    loader = pathlib.Path(top) / arches.host().triple / arches.host().loader
    (root / loader).parent.mkdir(parents=True)
    (root / loader).touch()
    programs = root / "usr/lib/linux-kbuild-7.2/scripts"
    programs.mkdir(parents=True)
    shutil.copyfile("/bin/true", programs / "program")
    (programs / "script").write_text("#!/bin/sh\n")
    packages.relink(root, place, "usr/lib/linux-kbuild-*", arches.host())
    shown = subprocess.run(
        ["patchelf", "--print-interpreter", "--print-rpath", str(programs / "program")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    folders = [place / each / arches.host().triple for each in ("usr/lib", "lib")]
    assert set(shown) == {str(place / loader), ":".join(map(str, folders))}
    assert (programs / "script").read_text() == "#!/bin/sh\n"


def test_second_fetch_uses_the_cache(apt_log: pathlib.Path) -> None:
    first = kernel.find("6.12")
    calls = apt_log.read_text("utf-8")
    assert kernel.find("6.12") == first
    assert apt_log.read_text("utf-8") == calls


def test_refresh_fetches_only_newer_packages(apt_log: pathlib.Path) -> None:
    first = kernel.find("6.12")
    assert kernel.find("6.12", refresh=True) == first
    words = apt_log.read_text("utf-8").split()
    assert (words.count("update"), words.count("download")) == (2, 1)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("update", "E: Could not resolve the archive"),
        ("download", "E: Failed to fetch it: No space left on device"),
    ],
)
def test_failed_fetch_is_one_line_and_leaves_nothing(
    apt_log: pathlib.Path, fakes: pathlib.Path, cache: pathlib.Path, step: str, says: str
) -> None:
    write_script(
        fakes,
        "apt-get",
        f'case " $* " in *" {step} "*) touch half.deb; echo "{says}" >&2; exit 100 ;; esac',
    )
    with pytest.raises(UserError, match=says) as error:
        kernel.find("6.12")
    assert "\n" not in str(error.value)
    assert [path.name for path in (cache / "kernels").iterdir()] == [".lock"]


def test_a_package_that_the_sources_lack_is_named(
    apt_log: pathlib.Path, fakes: pathlib.Path
) -> None:
    write_script(fakes, "apt-cache", "")
    with pytest.raises(UserError, match="no package 'linux-headers-6.12.[*]-cloud-amd64'"):
        kernel.find("6.12")


def test_missing_apt_is_reported(apt_log: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="no program 'apt-get'"):
        kernel.find("6.12")


def test_debug_kernel_is_built_once_with_its_requirements(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = FakeBuilds(monkeypatch, tmp_path, "6.12.9-debug")
    for _ in range(2):
        found = kernel.find("6.12-debug")
        assert (found.release, found.build) == ("6.12.9-debug", tmp_path)
        assert found.needs.debug and found.needs.slowness > 1 and found.needs.memory_mb > 512
        assert found.lock == tree.lock(tmp_path)
    assert builds.made == [("bzImage", "modules")]
    assert all("CONFIG_KASAN=y" in options for options in builds.options)


def test_an_unknown_kernel_names_the_known_ones(cache: pathlib.Path) -> None:
    names = ", ".join([*stock.names(), *kernel.built_known()])
    assert {"6.1", "6.12-rt", "6.12-debug", "6.1-msr"} < set(names.split(", "))
    with pytest.raises(UserError, match=f"unknown KERNEL '5.10'; known: {names}, or"):
        kernel.find("5.10")


def test_an_image_of_the_users_has_its_own_release(
    cache: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = boot_image(tmp_path / "bzImage", "6.19.0-mine")
    found = kernel.find(str(path))
    assert (found.release, found.image, found.build) == ("6.19.0-mine", path, None)


def test_an_image_of_a_fetched_release_can_have_modules(
    apt_log: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    stock = kernel.find("6.12")
    assert kernel.find(str(boot_image(tmp_path / "bzImage", RELEASE))).build == stock.build


@pytest.mark.parametrize("content", [b"", b"\x7fELF" + bytes(4096), bytes(0x202) + b"HdrS"])
def test_file_without_kernel_header_is_refused(
    cache: pathlib.Path, tmp_path: pathlib.Path, content: bytes
) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UserError, match="is not an x86 kernel image"):
        kernel.find(str(tmp_path / "file"))


@pytest.mark.parametrize(
    "kind, header", [("Image", bytes(0x38) + b"ARM\x64"), ("vmlinux", b"\x7fELF")]
)
def test_an_image_without_a_field_for_it_states_its_release_in_its_banner(
    cache: pathlib.Path, tmp_path: pathlib.Path, kind: str, header: bytes
) -> None:
    of = dataclasses.replace(arches.ARM64, image_format=kind)
    banner = b"Linux version 6.19.0-mine (a@b) #1\0"
    (tmp_path / "file").write_bytes(header + bytes(64) + banner)
    assert kernel.find(str(tmp_path / "file"), of).release == "6.19.0-mine"
    for content in (b"", bytes(4096) + banner, header + bytes(64)):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(UserError, match="is not an arm64 kernel image"):
            kernel.find(str(tmp_path / "file"), of)


def test_kernel_without_packages_for_an_architecture_is_refused(cache: pathlib.Path) -> None:
    with pytest.raises(UserError, match="no packages of KERNEL '6.12-rt' for ARCH=arm64; known: "):
        kernel.find("6.12-rt", arches.ARM64)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[kernel\n", r"6.12.toml: .*\(at line 1"),
        ('[kernel]\nname = "6.12"\n[machine]\nspeed = 3\n', "6.12.toml: machine: .*'speed'"),
    ],
)
def test_a_malformed_table_names_file_and_place(
    cache: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    says: str,
) -> None:
    (tmp_path / "6.12.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(stock, "KERNELS", tmp_path)
    with pytest.raises(UserError, match=says):
        kernel.find("6.12")


def test_the_index_is_read_with_versions_and_alternatives() -> None:
    text = "Package: a\nVersion: 1:2\nSHA256: ff\nDepends: b (= 1) | c, d:any, e\nX: y\n\n"
    assert packages.parse_show(text) == [packages.Package("a", "1:2", "ff", ("b", "d", "e"))]
