# SPDX-License-Identifier: Apache-2.0
"""pmuconf names what of a machine hinders a run. Another user of the counters is stock perf in a guest."""

from __future__ import annotations

import functools

import pytest

from vm import guest, image, kernel, runs, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("ground")]

KERNEL = "6.12"
DEADLINE_S = 120
LAST_S = 300
"""How long the other user would run. The script ends it."""
SCRIPT = """
perf stat -a -C {cpu} -e '{events}' sleep {last} 2>/dev/null &
other=$!
until ls -l /proc/$other/fd | grep -q perf_event; do :; done
pmuconf {command}
status=$?
kill $other
exit $status
"""
UNPRIVILEGED = """
echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd && cp /bin/pmuconf /tmp/unprivileged
exec start-stop-daemon -S -c nobody -x /tmp/unprivileged -- {command}
"""
ONE_CPU = """
echo 0 >/sys/devices/system/cpu/cpu1/online && pmuconf {command}
status=$?
echo 1 >/sys/devices/system/cpu/cpu1/online
exit $status
"""
RUN = "run --pmu refpmu --case AttrSize.*"
USERS = {
    "pinned": ("refpmu/pulse_a/D", RUN),
    "rotating": ("{refpmu/pulse_a/,refpmu/pulse_b/,refpmu/pulse_c/}", RUN),
    "software": ("cpu-clock", RUN),
    "probed": ("refpmu/pulse_a/D", "probe refpmu --out /tmp/draft.toml"),
}


@functools.cache
def outputs() -> dict[str, guest.Done]:
    """The output of pmuconf by condition, and that of `ls` for the draft that must not exist."""
    files = image.with_program("perf")
    machine = runs.machine(kernel.find(KERNEL), suite.find_target("refpmu"), files=files)
    found = {}
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        for name, (events, command) in USERS.items():
            script = SCRIPT.format(cpu=1, events=events, last=LAST_S, command=command)
            found[name] = vm.exec(["sh", "-c", script], DEADLINE_S)
        for name, command in (("run", RUN), ("probe", "probe refpmu")):
            words = ["sh", "-c", UNPRIVILEGED.format(command=command)]
            found[f"unprivileged {name}"] = vm.exec(words, DEADLINE_S)
        found["one CPU"] = vm.exec(["sh", "-c", ONE_CPU.format(command=RUN)], DEADLINE_S)
        found["absent"] = vm.exec(["pmuconf", "run", "--pmu", "cpu"])
        found["draft"] = vm.exec(["ls", "/tmp/draft.toml"])
        vm.bye()
    return found


@pytest.mark.parametrize("name", ["pinned", "rotating", "probed"])
def test_another_user_of_counters_is_one_line_and_status_2(name: str) -> None:
    done = outputs()[name]
    errors = [line for line in done.stderr.splitlines() if line.startswith("pmuconf: ")]
    assert (done.status, len(errors), done.stdout) == (2, 1, "")
    assert errors[0].startswith("pmuconf: counters of PMU refpmu are in use on CPU 1: ")
    assert "; perf (pid " in errors[0] and errors[0].endswith(") has perf events")


def test_probe_with_another_user_leaves_no_draft() -> None:
    assert outputs()["draft"].status != 0


def test_events_of_another_pmu_do_not_disturb_a_run() -> None:
    done = outputs()["software"]
    assert done.status == 0, done.stderr
    assert "PARTIAL: only selected tests ran" in done.stdout


def test_unprivileged_run_and_probe_name_the_setting() -> None:
    reason = "perf_event_open: EACCES (kernel.perf_event_paranoid is 3): run as root"
    run, probe = outputs()["unprivileged run"], outputs()["unprivileged probe"]
    assert (run.status, probe.status) == (2, 2)
    assert f"NOT JUDGED: 8 of 8 cases have no answer: not permitted here ({reason}" in run.stdout
    assert len(probe.stderr.splitlines()) == 1
    assert probe.stderr.startswith(f"pmuconf: not permitted here: {reason}")


def test_one_cpu_is_a_warning() -> None:
    done = outputs()["one CPU"]
    said = "only CPU 0 of PMU refpmu is online: cases that need two are skipped"
    assert (done.status, done.stderr) == (0, f"pmuconf: warning: {said}\n")


def test_absent_pmu_of_the_processor_names_the_hypervisor() -> None:
    done = outputs()["absent"]
    assert (done.status, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("pmuconf: no PMU 'cpu' in /sys/bus/event_source/devices (PMUs: ")
    assert "; this machine is virtual, and its hypervisor may show no PMU" in done.stderr
