# SPDX-License-Identifier: Apache-2.0
"""Mistakes in other words than those of the examples are found too, and what only looks like one is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from review import examples
from review.engine import review

EXCHANGE = """	do {
		before = local64_read(&hwc->prev_count);
		now = ex_read_counter(ex, hwc->idx);
	} while (local64_cmpxchg(&hwc->prev_count, before, now) != before);
"""
READ_ONLY = """	before = local64_read(&hwc->prev_count);
	now = ex_read_counter(ex, hwc->idx);
"""
REGISTRATION = """	if (ret)
		cpuhp_state_remove_instance_nocalls(ex_hp_state, &ex->node);
	return ret;
"""
IDENTIFIER = """char *buf)
{
	struct ex_pmu *ex = to_ex_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "0x%x"""
READ = """	high = readl_relaxed(ex->base + EX_HIGH(idx));
	do {
		again = high;
		low = readl_relaxed(ex->base + EX_LOW(idx));
		high = readl_relaxed(ex->base + EX_HIGH(idx));
	} while (high != again);
"""
STORED = """	regmap_read(ex->map, EX_HIGH(idx), &high);
	regmap_read(ex->map, EX_LOW(idx), &low);
"""
IN_PLACE = """	pci_read_config_dword(ex->pci, EX_LOW(idx), (u32 *)&low);
	pci_read_config_dword(ex->pci, EX_HIGH(idx), (u32 *)&low + 1);
"""
ADDED = "	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;\n	if (flags & PERF_EF_START)\n"
WAIT = """	u32 high, low;
	int i;

	for (i = 1000; i > 0; i--) {
		if (readl(base) & 1)
			break;
	}
	low = readl(base + 4);
	high = readl(base + 8);
	return (u64)high << 32 | low;
"""


@pytest.mark.parametrize(
    "right, wrong, check, verdict",
    [
        (EXCHANGE, READ_ONLY, "prev-count", "BREACH"),
        (
            REGISTRATION,
            '	if (ret) {\n		dev_err(ex->dev, "no");\n		return ret;\n	}\n	return 0;\n',
            "cpuhp-order",
            "BREACH",
        ),
        (
            "	if (event->attr.config & ~EX_EVENT_MASK) {",
            "	if (ex_names[event->attr.config] == NULL) {",
            "config-range",
            "BREACH",
        ),
        (
            "	if (event->attr.config & ~EX_EVENT_MASK) {",
            "	if (event->attr.config > EX_COUNTERS) {",
            "config-range",
            "SUSPECT",
        ),
        (
            "	event->cpu = ex->cpu;\n",
            "	event->cpu = ex->cpu;\n	set_bit(event->group_leader->attr.config, &ex->mask);\n",
            "group-software",
            "BREACH",
        ),
        (
            "	event->cpu = ex->cpu;\n",
            "	event->cpu = ex->cpu;\n	on_each_cpu(ex_reset, NULL, 1);\n",
            "init-hardware",
            "SUSPECT",
        ),
        ('"example_%d_pmu", pdev->id', "EX_NAME", "name-index", "SUSPECT"),
        ("local64_add(now - before,", "local64_add(now,", "prev-count", "BREACH"),
        ("config & ~EX_EVENT_MASK)", "config && EX_EVENT_MASK)", "config-range", "BREACH"),
        ("EX_EVENT_ATTR(reads, 0x01)", "EX_TIME_ATTR(Reads_all, 0x01)", "event-name", "BREACH"),
        ('dev_dbg(ex->dev, "unknown', 'ex_err(ex, "unknown', "user-print", "BREACH"),
        (
            IDENTIFIER,
            IDENTIFIER.replace("buf", "out").replace("sysfs_emit", "sprintf"),
            "sysfs-emit",
            "BREACH",
        ),
        (READ, STORED, "torn-read", "BREACH"),
        (READ, IN_PLACE, "torn-read", "BREACH"),
        (
            ADDED,
            f"	ex->last = event;\n	if (ex->broken)\n		return -EIO;\n{ADDED}",
            "add-undo",
            "BREACH",
        ),
    ],
)
def test_mistake_in_other_words_is_found(
    right: str, wrong: str, check: str, verdict: str, tmp_path: Path
) -> None:
    source = examples.CLEAN.read_text("utf-8")
    assert source.count(right) == 1
    (tmp_path / "a.c").write_text(source.replace(right, wrong), "utf-8")
    findings, errors = review([tmp_path / "a.c"])
    assert not errors
    assert (check, verdict) in {(finding.check, finding.verdict) for finding in findings}


def test_function_of_a_table_is_followed(tmp_path: Path) -> None:
    source = examples.CLEAN.read_text("utf-8")
    table = (
        'static void ex_shout(struct ex_pmu *ex)\n{\n	dev_warn(ex->dev, "loud");\n}\n\n'
        "static void (*ex_table[2])(struct ex_pmu *ex) = {\n	[0] = ex_shout,\n};\n\n"
        "static int ex_event_init(struct perf_event *event)\n"
    )
    source = source.replace("static int ex_event_init(struct perf_event *event)\n", table)
    source = source.replace("	event->hw.idx = -1;\n", "	ex_table[0](ex);\n	event->hw.idx = -1;\n")
    (tmp_path / "a.c").write_text(source, "utf-8")
    findings, _ = review([tmp_path / "a.c"])
    assert {finding.check for finding in findings} == {"user-print"}


def test_driver_that_is_never_a_module_needs_no_owner(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(examples.read()["module-owner"].text(), "utf-8")
    (tmp_path / "Makefile").write_text("obj-$(CONFIG_EXAMPLE) += a.o\n")
    (tmp_path / "Kconfig").write_text('config EXAMPLE\n	bool "Example"\n	help\n	  It.\n')
    assert review([tmp_path / "a.c"]) == ([], [])


def test_snapshot_that_the_driver_waits_for_is_not_torn(tmp_path: Path) -> None:
    source = examples.CLEAN.read_text("utf-8")
    start = source.index("{", source.index("ex_read_counter(struct"))
    end = source.index("\n}\n", start)
    (tmp_path / "a.c").write_text(source[:start] + "{\n" + WAIT + source[end + 1 :], "utf-8")
    assert review([tmp_path / "a.c"]) == ([], [])


def findings(source: str, folder: Path) -> set[tuple[str, str]]:
    """The checks and verdicts of a source."""
    (folder / "a.c").write_text(source, "utf-8")
    found, errors = review([folder / "a.c"])
    assert not errors
    return {(finding.check, finding.verdict) for finding in found}


def test_exclude_bits_that_start_programs_are_no_mistake(tmp_path: Path) -> None:
    source = examples.read()["no-exclude"].text()
    assert ("no-exclude", "BREACH") in findings(source, tmp_path)
    filtered = source.replace(
        "	event->hw.state = 0;\n", "	ex_filter(event->attr.exclude_user);\n", 1
    )
    assert findings(filtered, tmp_path) == set()


def test_table_that_config_indexes_has_one_counter_for_each_event(tmp_path: Path) -> None:
    source = examples.read()["group-capacity"].text()
    start = source.index("	idx = find_first_zero_bit")
    end = source.index("	event->hw.idx = idx;")
    source = (
        f"{source[:start]}	idx = event->attr.config;\n	ex->events[idx] = event;\n{source[end:]}"
    )
    assert ("group-capacity", "BREACH") in findings(source, tmp_path)


def test_samples_of_another_pmu_of_the_module_do_not_count(tmp_path: Path) -> None:
    source = examples.read()["refuse-sampling"].text()
    other = (
        "static void ex_trace_read(struct perf_event *event)\n{\n"
        "	perf_event_overflow(event, &data, regs);\n}\n\n"
        "static struct pmu ex_trace = {\n	.module = THIS_MODULE,\n	.event_init = ex_event_init,\n"
        "	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,\n	.read = ex_trace_read,\n};\n"
    )
    source = source.replace("static int ex_probe(", f"{other}\nstatic int ex_probe(")
    assert ("refuse-sampling", "BREACH") in findings(source, tmp_path)
    writes = source.replace(
        "	struct ex_pmu *ex = data;\n", "	perf_event_overflow(event, &data, regs);\n", 1
    )
    assert ("refuse-sampling", "BREACH") not in findings(writes, tmp_path)


def test_events_that_no_callback_of_hotplug_moves_are_a_mistake(tmp_path: Path) -> None:
    start = '	return cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "ex", NULL, ex_offline);\n'
    source = f"{examples.CLEAN.read_text('utf-8')}\nstatic int ex_start_all(void)\n{{\n{start}}}\n"
    assert findings(source, tmp_path) == set()
    moved = "	perf_pmu_migrate_context(&ex->pmu, cpu, target);\n"
    assert findings(source.replace(moved, ""), tmp_path) == {("migrate-order", "BREACH")}
