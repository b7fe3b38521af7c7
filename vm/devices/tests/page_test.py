# SPDX-License-Identifier: Apache-2.0
"""The part that all models share: the port page, the held line, and the registers' names in tests."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pmubase import store
from vm.device import MODELS
from vm.testing.model import PAGE, Model

HEADER = store.ROOT / "conformance" / "stimulus" / "port_page.h"
MAGIC = 0x706D75636F6E6601


def test_the_registers_are_those_of_the_header() -> None:
    found = re.findall(r"PORT_PAGE_(\w+) = (0x\w+)", HEADER.read_text("utf-8"))
    assert {name.lower(): int(at, 16) for name, at in found} == PAGE


@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.c")))
def test_each_model_has_a_page_and_a_place_in_a_guest(
    make_model: Callable[[str], Model], name: str
) -> None:
    model = make_model(name)
    assert model.page("id") == MAGIC
    assert 0 < model.page("counters") <= 64
    assert 16 <= model.page("width") <= 64
    assert (MODELS / f"{name}.toml").is_file()


def test_overflows_do_not_stop_a_device_whose_line_is_held(
    make_model: Callable[[str], Model],
) -> None:
    drw = make_model("ali_drw")
    drw.write(0xCB8, 0xFFFF00)
    drw.write(0xC68, 0x81)
    drw.write(0xC00, 1)
    drw.set_page("hold", 1)
    assert drw.pulse(1, (1 << 33) + 5) == (1 << 33) + 5
    assert [drw.read(0xC78), drw.page("line")] == [5, 0]
    drw.set_page("hold", 0)
    assert [drw.page("line"), drw.page("interrupts")] == [1, 1]
