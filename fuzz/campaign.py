# SPDX-License-Identifier: Apache-2.0
"""Fuzzes system calls in guests, all targets concurrently, and reports findings.

The cache keeps the corpus between runs. A finding writes the input, which `pmuconf repro` replays, and the output of
the fuzzer or the console. --merge runs no new inputs. It keeps only the inputs of the cache that reach more code than
the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import math
import mmap
import multiprocessing
import os
import re
import shutil
import signal
import struct
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fuzz import campaign_results, page
from fuzz.campaign_results import Campaign, Finding
from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel, leaks, orphan, qemu, runs, suite

OUT = store.ROOT / "build" / "fuzz-vm"
TARGETS = ("refpmu", "software")
KERNEL = "6.12"
SLICE_S = 600
"""Seconds between copies of the corpus out of the guest. Each time the guest also scans for memory leaks, which takes
half a minute."""
MARGIN_S = 120
MAX_LEN = 1536
WORDS = (f"-max_len={MAX_LEN}", "-len_control=0", "-reload=0", "-timeout=0", "-rss_limit_mb=0")
MAGIC = b"PMUCONF-PROGRAM\0"
NOTE = struct.Struct(f"<16sQQ{MAX_LEN}sQ")
FINDING = re.compile(r"^FINDING: (.*)$", re.M)


def last_input(memory: Path) -> bytes | None:
    """The last input before a guest died, from its memory; None if there is none."""
    best, found = 0, None
    with memory.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(MAGIC)
        while at >= 0:
            note = data[at : at + NOTE.size]
            if len(note) == NOTE.size:
                _, number, size, text, end = NOTE.unpack(note)
                if number == end and number > best and size <= MAX_LEN:
                    best, found = number, text[:size]
            at = data.find(MAGIC, at + 1)
    return found


def has_coverage(name: str) -> bool:
    """Whether a kernel reports the code that calls reach, because it was built for that."""
    return name.endswith("-kcov")


SEEDS = store.ROOT / "fuzz" / "corpus"


def seeds(target: str) -> Path:
    """The folder of the project's programs to start with. It may be missing."""
    return SEEDS / f"syscall_{target}"


def cache(target: str) -> Path:
    """The folder in which inputs are kept between runs."""
    return store.cache() / "fuzz" / f"syscall-{target}"


def memory_file(target: str, size_mb: int) -> Path:
    """The file for the guest's memory: in a RAM file system, if that has room."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and shutil.disk_usage(shared).free > size_mb << 20
    return (shared if roomy else OUT) / f"pmuconf-fuzz-{target}-{os.getpid()}.ram"


class Slices:
    """A guest that fuzzes in slices of time."""

    def __init__(
        self, vm: guest.Guest, campaign: Campaign, kept: Path, found: Path, needs: kernel.Needs
    ) -> None:
        self._vm = vm
        self._campaign = campaign
        self._kept = kept
        self._found = found
        self._needs = needs
        self._margin = int(MARGIN_S * max(1.0, needs.slowness / 2))

    def run(self, limit: Sequence[str], seconds: int) -> bool:
        """Runs one slice. Returns whether it has a finding."""
        done = self._fuzzer([*limit, "/tmp/corpus", "/corpus", "/seeds"], seconds)
        crashed = "Test unit written to" in done.stdout
        if not crashed or campaign_results.FIGURES.search(done.stdout):
            self._campaign.add(done.stdout)
        if not crashed and done.status != 0:
            raise UserError(f"the fuzzer: status {done.status}: {done.stdout.strip()[-300:]}")
        for name, data in self._out_of("/tmp/corpus").items():
            store.write(self._kept / name, data)
        self._campaign.corpus = sum(1 for _ in self._kept.iterdir())
        if crashed:
            self._save(done.stdout)
        return crashed or self._has_leaks()

    def merge(self, seconds: int) -> None:
        """Keeps the inputs that reach more code than the seeds. UserError if that fails; all inputs are kept then."""
        # The project's seeds come first, so that a random input is kept only if it reaches more code.
        before = "cp /seeds/* /tmp/corpus 2>/dev/null"
        done = self._fuzzer(["-merge=1", "/tmp/corpus", "/corpus"], seconds, before)
        if done.status != 0 or "MERGE-OUTER: " not in done.stdout:
            raise UserError(f"the merge: status {done.status}: {done.stdout.strip()[-300:]}")
        worth = self._out_of("/tmp/corpus")
        with store.new_folder(self._kept) as made:
            for name, data in worth.items():
                if not (seeds(self._campaign.target) / name).exists():
                    (made / name).write_bytes(data)
        self._campaign.corpus = sum(1 for _ in self._kept.iterdir())

    def _fuzzer(self, limit: Sequence[str], seconds: int, before: str = ":") -> guest.Done:
        words = [
            "syscall_fuzzer",
            f"--target={self._campaign.target}",
            *([] if self._campaign.coverage else ["--coverage=off"]),
            *WORDS,
            *("-artifact_prefix=/tmp/found/", "-print_final_stats=1"),
            *limit,
        ]
        script = (
            f"mkdir -p /tmp/found /tmp/corpus /corpus /seeds; {before};"
            f" {' '.join(words)} >/tmp/log 2>&1; s=$?; tail -c 40000 /tmp/log; exit $s"
        )
        return self._vm.exec(["sh", "-c", script], seconds + self._margin)

    def _file(self, script: str) -> bytes:
        """The output of a script."""
        done = self._vm.exec(["sh", "-c", f"({script}) >/tmp/out"], self._margin)
        if done.status != 0:
            raise UserError(f"the guest cannot send its files: {done.stderr.strip()}")
        return self._vm.get("/tmp/out", self._margin)

    def _out_of(self, folder: str) -> dict[str, bytes]:
        """The files of a folder of the guest, by name."""
        with tarfile.open(fileobj=io.BytesIO(self._file(f"tar c -C {folder} ."))) as archive:
            return {
                Path(member.name).name: source.read()
                for member in archive.getmembers()
                if member.isfile() and (source := archive.extractfile(member)) is not None
            }

    def _has_leaks(self) -> bool:
        """The memory leaks of the programs so far, on a kernel that detects leaks."""
        if not self._needs.debug:
            return False
        done = self._vm.exec(["leaks"], math.ceil(leaks.SCAN_S * self._needs.slowness))
        if done.status != 0:
            raise UserError(f"no scan for memory leaks: {done.stderr.strip()}")
        said = tuple(dict.fromkeys(str(leak) for leak in leaks.parse(done.stdout)))
        if said:
            log = self._found / f"{self._campaign.target}-lost.log"
            store.write(log, done.stdout.encode())
            repeat = f"python3 -m fuzz.campaign {target_options(self._campaign)}"
            self._campaign.findings.append(Finding(said, "", str(log), repeat))
        return bool(said)

    def _save(self, output: str) -> None:
        said = tuple(FINDING.findall(output)) or ("the fuzzer itself crashed",)
        for data in self._out_of("/tmp/found").values():
            self._campaign.findings.append(
                save_finding(self._found, self._campaign, data, said, output)
            )


def target_options(campaign: Campaign) -> str:
    """The target, kernel and module as options of this program."""
    return f"--kernel {campaign.kernel} --target {campaign.target}"


def save_finding(
    folder: Path, campaign: Campaign, data: bytes, said: tuple[str, ...], log: str
) -> Finding:
    """Writes a finding to files."""
    name = f"{campaign.target}-{store.digest([data])[:12]}"
    store.write(folder / f"{name}.program", data)
    store.write(folder / f"{name}.log", log.encode())
    path = folder / f"{name}.program"
    repeat = f"python3 -m fuzz.campaign {target_options(campaign)} --repro {path}"
    return Finding(said, str(path), str(folder / f"{name}.log"), repeat)


@dataclass(frozen=True)
class Request:
    """The options of a campaign."""

    target: str
    kernel: str = KERNEL
    seconds: int = 60
    runs: int = 0
    """Number of programs, instead of a time."""
    merge: bool = False
    """Run no new inputs. Keep only the inputs that reach more code than the others."""
    coverage: bool = True
    module: Path | None = None
    parameters: tuple[str, ...] = ()
    """Parameters of the module."""
    corpus: Path | None = None
    """The folder of kept inputs, instead of the cache."""

    @property
    def kept(self) -> Path:
        return self.corpus or cache(self.target)


def files_of(request: Request) -> dict[str, Path]:
    """The files of the guest in addition to the suite."""
    folders = {"corpus": request.kept, "seeds": seeds(request.target)}
    files = {
        f"{name}/{path.name}": path for name, folder in folders.items() for path in folder.glob("*")
    }
    return files | {"bin/syscall_fuzzer": fuzzer()}


def machine(request: Request, found: kernel.Kernel, files: dict[str, Path]) -> qemu.Machine:
    """The configuration of the guest's machine."""
    if request.module is not None:
        files = files | {f"modules/{request.module.name}": request.module}
    return runs.machine(found, suite.find_target(request.target), files=files)


def boot_and_load(vm: guest.Guest, request: Request, found: kernel.Kernel) -> None:
    """Boots the guest and loads the driver, if the target has a module."""
    vm.boot(guest.BOOT_S * found.needs.slowness)
    own = suite.find_target(request.target).module
    name = request.module.name if request.module else f"{own}.ko"
    if own:
        vm.load(name, request.parameters)


def fuzzer() -> Path:
    """The path of the fuzzer, which ci/build guest builds."""
    path = suite.binary().parent.parent / "fuzz" / "guest" / "syscall_fuzzer"
    if not path.is_file():
        raise UserError(f"no program {path}: build it with ci/build guest")
    return path


def fuzz(request: Request, folder: Path = OUT / "findings") -> Campaign:
    """Boots a guest and fuzzes in it until the time is over or there is a finding."""
    campaign = Campaign(request.target, request.kernel, request.coverage)
    folder.mkdir(parents=True, exist_ok=True)
    request.kept.mkdir(parents=True, exist_ok=True)
    memory: Path | None = None
    try:
        found = kernel.find(request.kernel)
        off = machine(request, found, files_of(request))
        memory = memory_file(request.target, off.memory_mb)
        _fuzz(request, found, dataclasses.replace(off, ram=memory), campaign, folder)
    except guest.GuestLost as lost:
        data = last_input(memory) if memory is not None and memory.is_file() else None
        if data is None:
            campaign.error = f"guest lost before the first program: {lost.cause}"
        else:
            said = (f"guest lost: {lost.cause}",)
            campaign.findings.append(save_finding(folder, campaign, data, said, lost.tail))
    except UserError as error:
        campaign.error = str(error)
    finally:
        if memory is not None:
            memory.unlink(missing_ok=True)
    return campaign


def _fuzz(
    request: Request,
    found: kernel.Kernel,
    off: qemu.Machine,
    campaign: Campaign,
    folder: Path,
) -> None:
    log = OUT / f"{request.target}.console"
    log.unlink(missing_ok=True)
    with guest.Guest(off, log) as vm:
        boot_and_load(vm, request, found)
        slices = Slices(vm, campaign, request.kept, folder, found.needs)
        if request.merge:
            slices.merge(request.seconds)
            return
        if request.runs:
            slices.run([f"-runs={request.runs}", "-seed=1"], request.seconds)
            return
        until = time.monotonic() + request.seconds
        while (left := int(until - time.monotonic())) > 0:
            now = min(left, SLICE_S)
            if slices.run([f"-max_total_time={now}"], now):
                return
            said = f"{campaign.operations} operations, {campaign.corpus} inputs kept, no finding"
            print(f"fuzz-vm: {request.target}: {campaign.seconds:.0f} s, {said}", file=sys.stderr)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    # A second signal must not interrupt the cleanup.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(130)


def _worker(bind: Callable[[], None]) -> None:
    bind()
    # The terminal sends ^C to all processes of the group. The first process ends this one in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)


def fuzz_all(requests: Sequence[Request], jobs: int) -> list[Campaign]:
    """Fuzzes the targets concurrently. Each guest has a process of its own, which ends with this one."""
    with multiprocessing.Pool(jobs, _worker, (orphan.dies_with_parent(),)) as pool:
        return pool.map(fuzz, requests, chunksize=1)


def repro(request: Request, file: Path) -> int:
    """Replays a program in a guest with `pmuconf repro`. Returns its exit status."""
    found = kernel.find(request.kernel)
    with guest.Guest(machine(request, found, {"program": file})) as vm:
        boot_and_load(vm, request, found)
        done = vm.exec(["pmuconf", "repro", "--target", request.target, "/program"], MARGIN_S)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.status


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m fuzz.campaign", description=__doc__)
    parser.add_argument("--time", type=int, default=120, metavar="S", help="seconds in total (120)")
    parser.add_argument("--merge", action="store_true", help="minimise the kept inputs instead")
    parser.add_argument("--kernel", default=KERNEL, help=f"a name ({KERNEL})")
    parser.add_argument("--target", action="append", choices=TARGETS, help="fuzz only this target")
    parser.add_argument(
        "--coverage",
        choices=("on", "off"),
        help="parameters of the kernel's module (if it has one)",
    )
    parser.add_argument("--module", type=Path, help="another refpmu.ko")
    parser.add_argument("--repro", type=Path, metavar="FILE", help="replay a finding instead")
    options = parser.parse_args(argv)
    targets: Sequence[str] = options.target or TARGETS
    jobs = min(len(targets), len(os.sched_getaffinity(0)))
    seconds = options.time * jobs // len(targets)
    if seconds < 1:
        print("fuzz-vm: --time must be at least 1 s for each target", file=sys.stderr)
        return 2
    if options.module is not None and not options.module.is_file():
        print(f"fuzz-vm: no module {options.module}", file=sys.stderr)
        return 2
    coverage = options.coverage == "on" if options.coverage else has_coverage(options.kernel)
    requests = [
        Request(
            target,
            options.kernel,
            seconds,
            coverage=coverage,
            module=options.module,
            merge=options.merge,
        )
        for target in targets
    ]
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if options.repro is not None:
            return repro(requests[0], options.repro)
        campaigns = fuzz_all(requests, jobs)
    except UserError as error:
        print(f"fuzz-vm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fuzz-vm: interrupted; the next run continues with the kept inputs", file=sys.stderr)
        return 130
    if options.merge:
        for campaign in campaigns:
            what = campaign.error or f"{campaign.corpus} inputs are kept"
            print(f"{campaign.target}: {what}")
        return campaign_results.status(campaigns)
    campaign_results.report(campaigns, OUT / "results.json")
    written = page.write(
        campaign_results.as_run(campaign) for campaign in campaigns if not campaign.error
    )
    print(campaign_results.table(campaigns))
    print(f"page of all runs on this machine: {written}")
    return campaign_results.status(campaigns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
