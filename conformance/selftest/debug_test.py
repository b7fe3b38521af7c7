# SPDX-License-Identifier: Apache-2.0
"""A debug kernel detects the driver's bugs, and exactly the case that ran at that time fails."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from pmubase import store
from vm import kernel, module, runs, session, suite, together
from vm.channel import Message

# The test takes minutes, and half an hour more if the kernel is not built yet.
pytestmark = [pytest.mark.guest, pytest.mark.nightly, pytest.mark.timeout(3600)]

# One fault for each event type: opening such an event triggers it.
FAULTS = """\
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(one);
static DEFINE_SPINLOCK(other);

static void fault(struct perf_event *event)
{
	unsigned int i;

	if (event->attr.precise_ip) {
		char *gone = kzalloc(96, GFP_KERNEL);

		kfree(gone);
		WRITE_ONCE(*gone, 1);
	} else if (event->attr.branch_sample_type) {
		spin_lock(&one);
		kfree(kzalloc(96, GFP_KERNEL));
		spin_unlock(&one);
	} else if (event->attr.freq) {
		for (i = 0; i < 8; i++)
			WRITE_ONCE(*(char *)kzalloc(96, GFP_KERNEL), 1);
	} else if (event->attr.exclude_user) {
		spin_lock(&one);
		spin_lock(&other);
		spin_unlock(&other);
		spin_unlock(&one);
		spin_lock(&other);
		spin_lock(&one);
		spin_unlock(&one);
		spin_unlock(&other);
	}
}

static void refpmu_destroy("""
MADE = "	event->destroy = refpmu_destroy;\n"

# Each type of fault, the case that opens such an event, and the kernel's message.
SAID = {
    "Precise.CountIsExactBetweenRecords": "use-after-free in refpmu_event_init",
    "Counting.DisabledTimeIsNotCounted": "",
    "Sampling.EventsSlowerThanTheFrequencyAreAllSampled": "kmemleak: 96 bytes leaked",
    "BranchStack.HoldsTheNewestBranchFirst": "sleeping function called from invalid context",
    "Counting.NeighboursKeepTheirOwnExcludes": "possible circular locking dependency",
    "Interrupt.ClosingRightAfterAnOverflowIsHarmless": "",
}


def seeded_driver(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the driver with the seeded faults."""
    shutil.copytree(store.ROOT / "driver", folder, dirs_exist_ok=True)
    path = folder / "core_pmu" / "init.c"
    text = path.read_text(encoding="utf-8")
    for old, new in (("static void refpmu_destroy(", FAULTS), (MADE, f"{MADE}	fault(event);\n")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", kernel.debug_known())
def test_only_the_case_that_ran_fails(name: str, tmp_path: pathlib.Path) -> None:
    found = kernel.find(name)
    product = module.build(found, seeded_driver(tmp_path / "driver"), tmp_path / "out")
    target = suite.find_target("refpmu")
    known = {case.id: case for case in suite.cases(target, suite.Selection())}
    records: list[Message] = []
    with session.Session(runs.plan(target, found, product), None, records.append) as guests:
        together.run([guests], [known[case] for case in SAID], lambda _: None)
    results = [record for record in records if record["t"] == "result"]
    for case, said in SAID.items():
        verdicts = [(r["result"], r["message"]) for r in results if r["id"] == case]
        if said:
            assert any(r == "CRASH" and said in message for r, message in verdicts), (
                case,
                verdicts,
            )
        else:
            assert [r for r, _ in verdicts] == ["PASS"], (case, verdicts)
