// SPDX-License-Identifier: GPL-2.0-only
/* Opening an event of refpmu_uncore: what it counts, what is refused, and its group. */
#include <linux/slab.h>

#include "compat.h"
#include "uncore.h"

static const struct refpmu_uncore_event *find(u64 config)
{
	unsigned int i;

	for (i = 0; i < refpmu_uncore_events_count; i++) {
		if (refpmu_uncore_events[i].code == config)
			return &refpmu_uncore_events[i];
	}
	return NULL;
}

/*
 * What the attribute says wrongly is EINVAL, what it says rightly and the device does not do is
 * EOPNOTSUPP. The exclude bits are left to perf, which PERF_PMU_CAP_NO_EXCLUDE tells to refuse
 * them; sampling is not, since PERF_PMU_CAP_NO_INTERRUPT keeps it from user space alone.
 */
static int check(struct perf_event *event, const struct refpmu_uncore_event *found)
{
	const struct perf_event_attr *attr = &event->attr;

	/* Bits without a meaning are refused, so that they can get one. */
	if (!found || attr->config1 || attr->config2 || refpmu_compat_config3(attr))
		return -EINVAL;
	/* What it counts belongs to no task, on whichever CPU that is. */
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;
	if (is_sampling_event(event) || has_branch_stack(event) || attr->precise_ip)
		return -EOPNOTSUPP;
	return 0;
}

static void refpmu_uncore_destroy(struct perf_event *event)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);

	atomic64_inc(&uncore->destroys);
	atomic64_dec(&uncore->live);
}

struct trial {
	struct refpmu_want wants[REFPMU_MAX_GENERAL];
	struct refpmu_place places[REFPMU_MAX_GENERAL];
	unsigned int n;
};

/* Software events need nothing of this PMU; with one of another PMU there is no common CPU. */
static int collect(struct trial *trial, struct perf_event *event, const struct pmu *pmu)
{
	if (event->pmu != pmu)
		return is_software_event(event) ? 0 : -EINVAL;
	if (trial->n == REFPMU_MAX_GENERAL)
		return -EINVAL;
	trial->wants[trial->n++] = refpmu_uncore_want(event);
	return 0;
}

/*
 * The new event is not on its leader's list yet; a leader's own list must not be walked. Members
 * that are off count too: they can be switched on at any time.
 */
static int collect_group(struct trial *trial, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int err = collect(trial, event, event->pmu);

	if (err || leader == event)
		return err;
	err = collect(trial, leader, event->pmu);
	for_each_sibling_event(sibling, leader) {
		if (!err)
			err = collect(trial, sibling, event->pmu);
	}
	return err;
}

/* -EINVAL unless an idle device could count @event together with its group. Touches no event. */
static int validate_group(struct perf_event *event)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	int err;

	if (!trial)
		return -ENOMEM;
	err = collect_group(trial, event);
	if (!err && refpmu_constraint_assign(trial->wants, trial->n, trial->places))
		err = -EINVAL;
	kfree(trial);
	return err;
}

/*
 * Where the kernel keeps the PMU on one CPU by itself, an event stays on the CPU that was asked
 * for, and its scope lets it be read from any. Otherwise it goes to the designated one, as all
 * others do: perf looks at event->cpu only later. -ENODEV if there is none.
 */
static int choose_cpu(const struct refpmu_uncore *uncore, struct perf_event *event)
{
	const unsigned int cpu = READ_ONCE(uncore->cpu);

	if (uncore->scoped)
		return 0;
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	event->cpu = cpu;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	return 0;
}

int refpmu_uncore_event_init(struct perf_event *event)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);
	const struct refpmu_uncore_event *found;
	struct hw_perf_event *hwc = &event->hw;
	int err;

	/* Before anything else is looked at: the rest of a foreign event means something else. */
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	atomic64_inc(&uncore->inits);

	found = find(event->attr.config);
	err = check(event, found);
	if (err)
		return err;

	hwc->config = found->code | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS | REFPMU_EVTSEL_EN;
	hwc->config_base = found->counters & refpmu_low_bits(uncore->params.general);
	hwc->idx = -1;
	err = hwc->config_base ? validate_group(event) : -EINVAL;
	if (err)
		return err;
	err = choose_cpu(uncore, event);
	if (err)
		return err;

	/* Last: from here on nothing fails, and perf calls destroy exactly once. */
	event->destroy = refpmu_uncore_destroy;
	atomic64_inc(&uncore->live);
	return 0;
}
