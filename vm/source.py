# SPDX-License-Identifier: Apache-2.0
"""Fetches the distribution's kernel source package, without root and without installing it."""

import shutil
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

from . import arch, packages, stock

FULL = "No space left on device"
NEARLY_NOTHING = 1 << 20

# This folder is large, and no build of this configuration reads it.
UNUSED = (
    "*/Documentation/devicetree",
    "*/arch/*/boot/dts",
    "*/drivers/gpu/drm/amd/include",
    "*/tools/testing/selftests",
)


def present(series: str, cache: Path) -> Path | None:
    """The newest source package of @series in the cache, if there is one."""
    found = (cache / "packages").glob(f"linux-source-{series}_*.deb")
    newest = sorted(found, key=lambda path: path.stat().st_mtime)[-1:]
    return newest[0] if newest else None


def ensure(series: str, cache: Path) -> Path:
    """The newest source package of @series in the cache. It is fetched if the cache has none.

    Its file name has the exact version.
    """
    name = f"linux-source-{series}"
    kept = cache / "packages"
    with store.locked(cache / "packages.lock"), store.writing(cache):
        found = present(series, cache)
        if found is None:
            print(f"fetching {name}", flush=True)
            apt, wanted = packages.search(
                cache,
                arch.host().name,
                stock.suites(series),
                lambda apt: apt.closure([name], lambda _: False),
            )
            with store.new_folder(kept / ".new") as scratch:
                for deb in apt.download(wanted, scratch):
                    found = deb.rename(kept / deb.name)
    assert found is not None
    return found


def unpack(package: Path, into: Path, part: str = "") -> None:
    """Unpacks the kernel tree of @package, or only its folder @part, into the empty folder @into."""
    with store.new_folder(into / ".deb") as scratch:
        packages.unpack(package, scratch)
        tarballs = list(scratch.glob("usr/src/linux-source-*.tar.xz"))
        if len(tarballs) != 1:
            raise UserError(f"{package} has no kernel source; remove it and run again")
        excludes = [f"--exclude={glob}" for glob in UNUSED]
        what = f"unpack {tarballs[0].name}"
        argv = ["tar", "-xJf", str(tarballs[0]), "--strip-components=1", *excludes]
        argv += ["--wildcards", f"*/{part}/*"] if part else []
        try:
            packages.run(argv, what, into)
        except UserError as error:
            # tar reports a full disk on one of many lines; its last line has no cause.
            if shutil.disk_usage(into).free < NEARLY_NOTHING:
                raise UserError(f"cannot write to {into.parent}: {FULL}") from error
            raise
    # The sources are unpacked. The package stays, its copy is not needed.
    shutil.rmtree(into / ".deb")
