# SPDX-License-Identifier: GPL-2.0-only
"""Builds a kernel with driver/ and kunit/, whose changed files are copied to a cached tree."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from pmubase.errors import UserError
from vm import kernel, tree


@dataclass(frozen=True)
class Inputs:
    """Inputs of a kernel. @debug: use the debug kernel's options instead of those of @fragment."""

    series: str
    fragment: Path
    driver: Path
    kunit: Path
    log: Path
    debug: bool = False


def overlaid_options(kunitconfig: str) -> str:
    """Returns the options in @kunitconfig that belong to the driver and its suites."""
    lines = tree.wanted_options(kunitconfig)
    return "".join(f"{line}\n" for line in lines if line.startswith("CONFIG_REFPMU"))


def build(inputs: Inputs, cache: Path) -> Path:
    """Builds outdated files and returns a copy of the bzImage for the caller."""
    options, overlaid = inputs.fragment.read_text(encoding="utf-8"), ""
    if inputs.debug:
        options, overlaid = kernel.debug_options(), overlaid_options(options)
    with tree.opened(inputs.series, options, cache, inputs.log) as opened:
        _overlay(inputs, opened.path / tree.OVERLAY)
        opened.configure(options + overlaid)
        print("kunit: building (first time: minutes, then seconds)", flush=True)
        opened.make("bzImage")
        # Copied under the lock: another run may rebuild the tree while this one boots.
        image = inputs.log.parent / f"bzImage-{inputs.series}"
        shutil.copyfile(opened.image, image)
        return image


def _overlay(inputs: Inputs, target: Path) -> None:
    """Copies the sources to @target; a file with the same content keeps its time."""
    wanted: dict[Path, bytes] = {
        Path("Kconfig"): "".join(
            f'source "{tree.OVERLAY}/{part}/Kconfig"\n' for part in ("driver", "kunit")
        ).encode(),
        # Not for the whole kernel: other sources may have warnings with debug options.
        Path("Kbuild"): b"subdir-ccflags-y := -Werror\nobj-y += driver/ kunit/\n",
    }
    for part, folder in (("driver", inputs.driver), ("kunit", inputs.kunit)):
        if not (folder / "Kbuild").is_file():
            raise UserError(f"{folder}: has no Kbuild")
        for path in sorted(folder.rglob("*")):
            if path.is_file() and tree.is_source(path):
                wanted[Path(part) / path.relative_to(folder)] = path.read_bytes()
    tree.update_sources(target, wanted)
