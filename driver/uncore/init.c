// SPDX-License-Identifier: GPL-2.0-only
/* Open an event of refpmu_uncore: check its attr and its group. */
#include <linux/slab.h>

#include "compat/compat.h"
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
 * Malformed attributes are EINVAL; well-formed ones that the device does not support are
 * EOPNOTSUPP. perf itself rejects the exclude bits, because of PERF_PMU_CAP_NO_EXCLUDE. The driver
 * must reject sampling: PERF_PMU_CAP_NO_INTERRUPT makes perf reject it only for user space.
 */
static int check(struct perf_event *event, const struct refpmu_uncore_event *found)
{
	const struct perf_event_attr *attr = &event->attr;

	/* Reject fields without a meaning, so that a later version can give them one. */
	if (!found || attr->config1 || attr->config2 || refpmu_compat_config3(attr))
		return -EINVAL;
	/* The counts belong to the whole machine, so the event needs a CPU and may have no task. */
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

/* Software events need no counter. Events of another PMU may be on another CPU. */
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
 * A new event is not on its leader's sibling list yet, so it is collected separately. If the new
 * event is itself the leader, its list must not be walked. Disabled members count too, because they
 * can be enabled at any time.
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

/*
 * Return -EINVAL unless an idle device can count @event together with its group. Changes no event.
 */
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
 * If the kernel chooses the CPU, the event stays on the requested CPU, and its scope allows reads
 * from any CPU. Otherwise the event moves to the designated CPU; perf uses event->cpu only after
 * event_init. Return -ENODEV if there is no such CPU.
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

	/* Check the type first: the other fields of a foreign event have another meaning. */
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

	/* Set destroy last: nothing below can fail, so perf calls destroy exactly once. */
	event->destroy = refpmu_uncore_destroy;
	atomic64_inc(&uncore->live);
	return 0;
}
