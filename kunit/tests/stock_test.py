# SPDX-License-Identifier: GPL-2.0-only
"""pmu_contract as a vendor runs it: a module, with the driver's, on a kernel without KUnit."""

import json
from typing import Any

import pytest

from kunit.pmukunit import cli, results
from pmubase import store
from vm.arch import AMD64, ARCHES, Arch, foreign

pytestmark = pytest.mark.guest


KERNELS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.xdist_group(f"kunit-stock-{name}"),
            *([] if name == "6.12" else [pytest.mark.nightly]),
        ],
    )
    for name in cli.KERNELS
]
OUT = store.ROOT / "build" / "kunit-stock"
"""The module is built in this folder, once for all tests of a kernel."""


def ran(kernel: str, pmu: str, event: str, of: Arch = AMD64) -> tuple[int, dict[str, Any]]:
    out = OUT / kernel / of.name
    words = ["--kernel", kernel, "--arch", of.name, "--stock", "--pmu", pmu, "--event", event]
    status = cli.main([*words, "--out", str(out)])
    return status, json.loads((out / "results.json").read_text())


def ids(found: dict[str, Any], result: str) -> set[str]:
    return {case["id"] for case in found["cases"] if case["result"] == result}


@pytest.mark.parametrize("kernel", KERNELS)
def test_reference_driver_passes_the_contract(kernel: str) -> None:
    status, found = ran(kernel, "refpmu", "0x3c")
    assert status == results.PASSED, found
    # Only here is the driver a module.
    assert "pmu_contract.open_event_has_a_reference_to_the_module" in ids(found, "PASS")
    assert {rule for case in found["cases"] for rule in case["rules"]} >= {"DRC-009", "DRV-004"}


@pytest.mark.nightly
@pytest.mark.parametrize("name", [of.name for of in ARCHES.values() if foreign(of)])
def test_reference_driver_passes_the_contract_on_other_architectures(name: str) -> None:
    status, found = ran("6.12", "refpmu", "0x3c", ARCHES[name])
    assert status == results.PASSED, found
    assert found["arch"] == ARCHES[name].machine
    assert {rule for case in found["cases"] for rule in case["rules"]} >= {"DRC-009", "DRV-004"}


@pytest.mark.xdist_group("kunit-stock-6.12")
def test_clock_that_counts_while_it_is_stopped_is_detected() -> None:
    status, found = ran("6.12", "software", "0")
    assert status == results.FAILED
    assert ids(found, "FAIL") == {
        "pmu_contract.add_without_start_does_not_count",
        "pmu_contract.del_of_a_stopped_event_adds_nothing",
        "pmu_contract.second_stop_changes_nothing",
        "pmu_contract.stopped_event_does_not_count",
    }
