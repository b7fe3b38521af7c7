# SPDX-License-Identifier: Apache-2.0
"""Drives the model of a device (vm/devices/models) without an emulator, as its driver and its port do."""

from __future__ import annotations

import ctypes
import pathlib
import subprocess

from pmubase import store
from vm import device

STATE_BYTES = 1 << 16
"""More than struct device has."""
PAGE = {
    **{"id": 0x00, "code": 0x08, "pulse": 0x10, "line": 0x18, "hold": 0x20, "interrupts": 0x28},
    **{"reads": 0x30, "enabled": 0x38, "counters": 0x40, "width": 0x48, "polled": 0x50},
    **{"reset": 0x58, "cpu": 0x60},
}
"""The registers of conformance/stimulus/port_page.h."""


class Model:
    """A device after power on."""

    def __init__(self, name: str, folder: pathlib.Path) -> None:
        built = folder / f"{name}.so"
        if not built.is_file():
            sources = [device.FOLDER / "plugin" / "model.c", device.MODELS / f"{name}.c"]
            includes = [f"-I{device.FOLDER}", f"-I{store.ROOT / 'conformance'}"]
            flags = [flag for flag in device.CFLAGS if "visibility" not in flag]
            words = ["gcc", *flags, "-Werror", *includes, "-o", str(built), *map(str, sources)]
            subprocess.run(words, check=True)
        self._library = ctypes.CDLL(str(built))
        for function in ("device_read", "port_read"):
            getattr(self._library, function).restype = ctypes.c_uint64
        self._state = ctypes.create_string_buffer(STATE_BYTES)
        self._library.device_init(self._state)

    def read(self, at: int, bits: int = 32) -> int:
        """The driver reads a register."""
        found = self._library.device_read(self._state, ctypes.c_uint64(at), bits // 8)
        return int(found) & ((1 << bits) - 1)

    def write(self, at: int, value: int, bits: int = 32) -> None:
        """The driver writes a register."""
        place, word = ctypes.c_uint64(at), ctypes.c_uint64(value)
        self._library.device_write(self._state, place, word, bits // 8)

    def page(self, name: str) -> int:
        """Reads a register of the port page."""
        return int(self._library.port_read(self._state, ctypes.c_uint64(PAGE[name])))

    def set_page(self, name: str, value: int) -> None:
        """Writes a register of the port page."""
        place = ctypes.c_uint64(PAGE[name])
        self._library.port_write(self._state, place, ctypes.c_uint64(value))

    def pulse(self, code: int, n: int) -> int:
        """Generates up to n events, and returns how many the device generated."""
        self.set_page("code", code)
        self.set_page("pulse", n)
        return self.page("pulse")
