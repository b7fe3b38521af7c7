# SPDX-License-Identifier: Apache-2.0
"""PMUs are complete when they are announced. When they are removed, files that are still open fail too."""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

DEADLINE_S = 60
FAULT = "SYS-014"

# The listener prints the content of a PMU's folder when it receives the event. It is ready once it repeats a uevent of
# the software PMU. It receives events in order, so a later uevent of that PMU marks the end.
SCRIPT = """
cd /sys/bus/event_source/devices
mkfifo /tmp/announced
exec 4<>/tmp/announced
uevent sh -c '[ "$SUBSYSTEM" = event_source ] &&
  echo $ACTION ${DEVPATH##*/} $(cat /sys$DEVPATH/type) $(ls /sys$DEVPATH/format | wc -w)' >&4 2>&- &
listener=$!
until read -t 1 line <&4; do echo change >software/uevent; done
insmod /modules/refpmu.ko
echo there refpmu $(cat refpmu/type) $(ls refpmu/format | wc -w)
exec 3<refpmu/type
echo online >software/uevent
while read -t 30 line <&4; do case $line in online*) break;; add*) echo $line; esac; done
rmmod refpmu
ls | grep refpmu
echo offline >software/uevent
while read -t 30 line <&4; do case $line in offline*) break;; remove*) echo $line; esac; done
kill $listener
cat <&3 || echo held file gives an error
"""


def assert_complete_when_announced(
    found: kernel.Kernel, files: Mapping[str, Path] = types.MappingProxyType({})
) -> None:
    """Loads and unloads the module. `files`: path in the guest to path on the host."""
    machine = runs.machine(found, suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as vm:
        vm.boot()
        done = vm.exec(["sh", "-c", SCRIPT], DEADLINE_S)
        reports = vm.kmsg()["reports"]
        vm.bye()
    said = done.stdout.splitlines()
    there = next(line for line in said if line.startswith("there refpmu "))
    assert there.replace("there", "add", 1) in said
    names = {"refpmu", "refpmu_trace", "refpmu_uncore"}
    for action in ("add", "remove"):
        heard = {line.split()[1] for line in said if line.startswith(f"{action} ")}
        assert heard == names, done.stdout
    # After the last removal and before the error no PMU of the module is listed.
    assert not names & set(said), done.stdout
    assert said[-1] == "held file gives an error", done.stdout
    assert reports == []


@pytest.mark.rule("SYS-014")
@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_pmus_are_complete_when_announced_and_gone_when_removed(name: str) -> None:
    assert_complete_when_announced(kernel.find(name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", kernel.known())
def test_files_that_come_after_the_announcement_are_detected(name: str) -> None:
    found = kernel.find(name)
    late = modules.faulty_module(FAULT, found)
    with pytest.raises(AssertionError, match="there"):
        assert_complete_when_announced(found, {"modules/refpmu.ko": late})
