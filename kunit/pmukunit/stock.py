# SPDX-License-Identifier: GPL-2.0-only
"""Runs pmu_contract as a module, with the driver's, in a guest with the distribution's kernel."""

import filecmp
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from kunit.pmukunit.guest import Boot
from pmubase import store
from pmubase.errors import UserError
from vm import accel, image, kbuild, kernel, module, qemu, suite
from vm import guest as machines

NAME = "pmu_contract"
BUILD_DEADLINE_S = 600
# Prints the log from the first result on: earlier lines come from the boot, not from the module.
RESULTS = "dmesg | sed -n '/KTAP version/,$p'"


def run(
    stock: kernel.Kernel,
    driver: Path,
    suites: Path,
    parameters: Sequence[str],
    deadline_s: int,
    log: Path,
) -> Boot:
    """Runs the module on the PMU that @parameters (MODULE.NAME=VALUE) select."""
    own = store.ROOT / "driver"
    out = module.default_out(stock) if driver.resolve() == own else log.parent / "driver"
    files = (module.build(stock, driver, out), _build(stock, suites, log.parent / NAME))
    packed = image.build(
        image.Contents(
            agent=suite.agent(stock.arch),
            target=suite.find_target("refpmu").merged_file(),
            modules=files,
            arch=stock.arch,
        )
    )
    machine = qemu.Machine(stock.arch, stock.image, packed, accel=accel.choose(stock))
    started = time.monotonic()
    console, cut = "", ""
    try:
        with machines.Guest(machine) as vm:
            vm.boot()
            vm.load(files[0].name, _of(module.NAME, parameters))
            words = ["insmod", f"/modules/{NAME}.ko", *_of(NAME, parameters)]
            loaded = vm.exec(words, deadline_s)
            console = vm.exec(["sh", "-c", RESULTS]).stdout
            if loaded.status:
                cut = " ".join(loaded.stderr.split())
            elif error := vm.unload(NAME).get("error"):
                cut = f"{NAME} stays: {error}"
    except machines.ModuleRefused as refused:
        raise UserError(f"a module does not load: {refused}") from refused
    except machines.GuestLost as lost:
        console, cut = lost.tail, f"guest lost: {lost.cause}"
    store.write(log, console.encode())
    return Boot(console.encode(), time.monotonic() - started, cut)


def _of(name: str, parameters: Sequence[str]) -> list[str]:
    """Returns the parameters of a module, without its name."""
    prefix = f"{name}."
    return [word.removeprefix(prefix) for word in parameters if word.startswith(prefix)]


def _build(stock: kernel.Kernel, suites: Path, copy: Path) -> Path:
    if stock.build is None:
        raise UserError(f"no headers for kernel {stock.name}")
    product = copy / f"{NAME}.ko"
    with store.writing(copy):
        copy.mkdir(parents=True, exist_ok=True)
        product.unlink(missing_ok=True)
        ours = {path.name: path for path in (*suites.glob("*.[ch]"), suites / "Kbuild")}
        for path in copy.glob("*.[ch]"):
            if path.name not in ours:
                path.unlink()
        # An unchanged file keeps its time, so that make does not rebuild its object file.
        for name, path in ours.items():
            if not (copy / name).is_file() or not filecmp.cmp(path, copy / name, shallow=False):
                shutil.copyfile(path, copy / name)
    # Nothing here needs the module's BTF, and generating it needs pahole.
    words = ["W=1", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"]
    done = kbuild.external(stock, copy, words, BUILD_DEADLINE_S, f"the build of {NAME}.ko")
    if done.returncode != 0 or not product.is_file():
        details = "\n".join(done.stdout.splitlines()[-module.LOG_LINES :])
        raise UserError(f"could not build {NAME}.ko for {stock.release}", details=details)
    return product
