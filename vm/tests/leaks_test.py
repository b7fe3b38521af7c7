# SPDX-License-Identifier: Apache-2.0
"""The parser of kmemleak listings of two kernels reports the owner and function of each memory leak."""

from __future__ import annotations

import pytest

from vm import leaks

LISTING = """unreferenced object 0xffff8880001e2640 (size 216):
  comm "{comm}", pid {pid}, jiffies 4294892296
  hex dump (first 32 bytes):
    00 e2 03 00 00 00 00 00 00 00 00 48 00 00 00 00  ...........H....
  backtrace:
    {place}slab_post_alloc_hook.constprop.0+0x7a/0x8b
    {place}kmem_cache_alloc+0xf7/0x121
    {place}{maker}+0x16/0x18
    {place}{caller}+0x1e/0x4f
"""
# The prefix of a function name; 6.12 has none.
PLACES = ["[<(____ptrval____)>] ", "[<00000000deadbeef>] ", ""]


@pytest.mark.parametrize("place", PLACES)
def test_leak_has_its_function_and_owner(place: str) -> None:
    (leak,) = leaks.parse(
        LISTING.format(comm="pmuconf", pid=77, place=place, maker="setup", caller="refpmu_load")
    )
    assert (leak.size, leak.comm, leak.pid) == (216, "pmuconf", 77)
    assert str(leak) == 'kmemleak: 216 bytes leaked by "pmuconf" (77) in setup, refpmu_load'


@pytest.mark.parametrize("place", PLACES)
def test_leaks_before_any_driver_have_no_owner(place: str) -> None:
    early = LISTING.format(
        comm="swapper/0", pid=0, place=place, maker="acpi_early_init", caller=leaks.START
    )
    timer = LISTING.format(
        comm="swapper/0", pid=0, place=place, maker="refpmu_fire", caller="__hrtimer_run_queues"
    )
    (leak,) = leaks.parse(early + timer)
    assert leak.frames[-2:] == ("refpmu_fire", "__hrtimer_run_queues")
