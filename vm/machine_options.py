# SPDX-License-Identifier: Apache-2.0
"""The options of a guest's machine, from the command line and [vm] of a target file to QEMU."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import shlex
from typing import Any

from pmubase.errors import UserError

from . import accel, arch, device, kernel, qemu, work


@dataclasses.dataclass(frozen=True)
class MachineOptions:
    """Options that select a machine. None: not given."""

    cpus: int | None = None
    memory_mb: int | None = None
    accel: str | None = None
    """A key of qemu.ACCELS."""
    icount: int | None = None
    """As in qemu.Machine."""
    cpu: str | None = None
    """The processor model of QEMU, instead of the accelerator's default."""
    cmdline: str | None = None
    """Additional parameters of the kernel."""
    work: tuple[str, ...] | None = None
    """The executed work that a plugin of QEMU counts: names of work.EVENTS."""
    device: tuple[str, ...] | None = None
    """Devices that a plugin of QEMU adds: names in vm/devices/models, or files."""
    qemu_args: str | None = None
    """More arguments of QEMU."""

    @staticmethod
    def add_arguments(command: argparse.ArgumentParser) -> None:
        """The command-line options that override [vm] of a target file."""
        command.add_argument(
            "--cpus", type=int, choices=range(1, 17), help="instead of the target's"
        )
        command.add_argument(
            "--icount",
            type=int,
            choices=range(11),
            help="a clock of 2^ICOUNT ns for each instruction, independent of the host; some architectures need --cpus 1",
        )
        command.add_argument(
            "--cpu-model",
            metavar="MODEL",
            help="the processor model of QEMU, which determines its PMU",
        )
        command.add_argument(
            "--cmdline", metavar="WORDS", help="additional words of the kernel's command line"
        )
        command.add_argument(
            "--work",
            metavar="EVENT,...",
            help="count executed work for the guest: " + ", ".join(work.EVENTS),
        )
        command.add_argument(
            "--device",
            metavar="NAME,...",
            help="add modelled PMUs: names in vm/devices/models, or files *.toml",
        )
        command.add_argument("--qemu-args", metavar="WORDS", help="more arguments of QEMU")

    @classmethod
    def of_arguments(cls, arguments: argparse.Namespace) -> MachineOptions:
        """The options of add_arguments(). UserError for an unknown event."""
        events = None if arguments.work is None else arguments.work.split(",")
        return cls(
            cpus=arguments.cpus,
            icount=arguments.icount,
            cpu=arguments.cpu_model,
            cmdline=arguments.cmdline,
            work=None if events is None else work.parse(events, "--work"),
            device=tuple(arguments.device.split(",")) if arguments.device else None,
            qemu_args=arguments.qemu_args,
        )

    @classmethod
    def of_target(cls, table: dict[str, Any], path: pathlib.Path) -> MachineOptions:
        """The options in the object `vm` of `pmuconf target --json`. UserError for an unknown accelerator or
        event."""
        if table["accel"] is not None and table["accel"] not in qemu.ACCELS:
            known = ", ".join(qemu.ACCELS)
            raise UserError(f"{path}: vm.accel is '{table['accel']}'; known: {known}")
        return cls(
            cpus=table["smp"],
            memory_mb=table["memory_mb"],
            accel=table["accel"],
            icount=table["icount"],
            cpu=table["cpu"],
            cmdline=table["cmdline"],
            work=work.parse(table["work"], f"{path}: vm.work") or None,
            device=tuple(_beside(path, name) for name in table["device"]) or None,
        )

    def over(self, base: MachineOptions) -> MachineOptions:
        """These options, and those of `base` where none is given."""
        given = {key: value for key, value in vars(self).items() if value is not None}
        return dataclasses.replace(base, **given)

    def variables(self) -> dict[str, str]:
        """The options as variables of `make run`; empty texts are not given."""
        return {
            "CPU_MODEL": self.cpu or "",
            "ICOUNT": "" if self.icount is None else str(self.icount),
            "CMDLINE": self.cmdline or "",
            "WORK": ",".join(self.work or ()),
            "DEVICE": ",".join(self.device or ()),
            "QEMU_ARGS": self.qemu_args or "",
        }

    def table(self) -> str:
        """The keys for [vm] of a target file, except those with default values."""
        keys = {
            "cpu": self.cpu,
            "icount": self.icount,
            "cmdline": self.cmdline,
            "accel": self.accel,
            "work": self.work,
            "device": self.device,
            "smp": self.cpus if self.cpus != qemu.Machine.cpus else None,
            "memory_mb": self.memory_mb if self.memory_mb != qemu.Machine.memory_mb else None,
        }
        # These values have no quotes or backslashes, since Linux and QEMU do not accept them, so JSON strings are valid
        # TOML.
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items() if value)

    def configure(
        self, found: kernel.Kernel, initrd: pathlib.Path, cmdline: str = ""
    ) -> qemu.Machine:
        """The machine with these options, a kernel and an image. UserError if they exclude each other."""
        needs = found.needs
        cpus = self.cpus or qemu.Machine.cpus
        accelerator = self.accel or accel.choose(
            found, emulated=bool(self.icount is not None or self.work or self.device)
        )
        words = f"{needs.parameters} {self.cmdline or ''} {cmdline}"
        machine = qemu.Machine(
            arch=found.arch,
            kernel=found.image,
            initrd=initrd,
            cpus=cpus,
            memory_mb=max(self.memory_mb or qemu.Machine.memory_mb, needs.memory_mb),
            accel=accelerator,
            icount=self._icount(found, cpus, accelerator),
            cpu=self.cpu,
            cmdline=" ".join(words.split()),
            work=self.work or (),
            plugin=work.plugin(found.arch, accelerator) if self.work else None,
        )
        given = shlex.split(self.qemu_args or "")
        board = [*qemu.board(machine), *given]
        devices = device.arguments(self.device or (), found.arch, accelerator, board)
        return dataclasses.replace(machine, more=(*devices, *given))

    def _icount(self, found: kernel.Kernel, cpus: int, accelerator: str) -> int | None:
        """The clock: the given one, or else that of the architecture if it is emulated."""
        icount = self.icount
        if icount is None and accelerator == "tcg":
            icount = found.arch.icount
        if icount is not None:
            if accelerator != "tcg":
                raise UserError(f"icount needs the accelerator tcg, not {accelerator}")
            if cpus != 1 and not found.arch.icount_smp:
                raise UserError(f"icount on {found.arch.name} needs one CPU: --cpus 1")
        return icount


def foreign_arch(found: kernel.Kernel) -> str | None:
    """The architecture of a kernel for [vm] of a target file; None if it is the default."""
    return found.arch.name if found.arch != arch.AMD64 else None


def _beside(path: pathlib.Path, name: str) -> str:
    """A device that the target file at `path` names: its file is relative to that of the target."""
    return str((path.parent / name).resolve()) if name.endswith(".toml") else name
