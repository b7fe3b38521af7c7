// SPDX-License-Identifier: GPL-2.0-only
/* Open an event: check its perf_event_attr, and store its settings in hw. */
#include "compat/compat.h"
#include "cpu.h"
#include "init.h"
#include "port/log.h"
#include "schedule.h"

static struct refpmu_attr copy_attr(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return (struct refpmu_attr){
		.type = attr->type,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.config3 = refpmu_compat_config3(attr),
		.sample_period = attr->sample_period,
		.sample_type = attr->sample_type,
		.branch_sample_type = attr->branch_sample_type,
		.precise_ip = attr->precise_ip,
		.freq = attr->freq,
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv,
		.exclude_idle = attr->exclude_idle,
		.exclude_host = attr->exclude_host,
		.exclude_guest = attr->exclude_guest,
	};
}

/*
 * Store the settings in hw for the other callbacks. perf does not use these fields of a hardware
 * event.
 */
static void store_request(struct perf_event *event, const struct refpmu_request *req)
{
	struct hw_perf_event *hwc = &event->hw;

	hwc->config = req->evtsel;
	hwc->config_base = req->allowed;
	hwc->event_base = req->preferred;
	hwc->event_base_rdpmc = req->record;
	hwc->idx = -1;
	hwc->flags = (req->wide ? REFPMU_HW_WIDE : 0) | (req->precise ? REFPMU_HW_PRECISE : 0) |
		     (req->branches ? REFPMU_HW_BRANCHES : 0);
	hwc->extra_reg = (struct hw_perf_event_extra){
		.idx = req->extra,
		.config = req->extra_value,
	};
	hwc->branch_reg = (struct hw_perf_event_extra){
		.idx = req->branches,
		.config = req->branch_select,
		.reg = req->branch_filter,
	};
	if (!req->sampling || req->freq) {
		/*
		 * The interrupts of a counting event only extend the narrow counter. An event with
		 * a frequency starts with the shortest period of the device; perf has set it to 1.
		 */
		hwc->sample_period = req->period;
		hwc->last_period = req->period;
		local64_set(&hwc->period_left, req->period);
	}
	/* not programmed yet: an inherited event may still get its parent's period */
	hwc->last_tag = 0;
}

/*
 * Request sched_task. Branch records and precise records of one task must not appear in samples of
 * the next one, so the driver needs a callback at each context switch while such an event exists. A
 * call stack needs memory for each task in addition.
 */
static void request_sched_task(struct perf_event *event, const struct refpmu_request *req)
{
	if (req->branches || req->precise)
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	if ((req->branch_filter & PERF_SAMPLE_BRANCH_CALL_STACK) && event->pmu->task_ctx_cache)
		event->attach_state |= PERF_ATTACH_TASK_DATA;
}

static void refpmu_destroy(struct perf_event *event)
{
	struct refpmu_device *dev = to_refpmu(event->pmu);

	refpmu_log_call(REFPMU_CALL_DESTROY, event, 0);
	atomic64_inc(&dev->destroys);
	atomic64_dec(&dev->live);
}

/**
 * refpmu_event_init() - Check and set up a new event.
 * @event: The event.
 *
 * A rejected event leaves no state behind.
 *
 * Context: A task; may sleep.
 * Return: 0; -ENOENT if the event belongs to another PMU, so that perf tries the next one; another
 * errno if the event is invalid or not supported.
 */
int refpmu_event_init(struct perf_event *event)
{
	struct refpmu_device *dev = to_refpmu(event->pmu);
	const struct refpmu_attr attr = copy_attr(event);
	struct refpmu_caps caps = dev->caps;
	struct refpmu_request req;
	int err;

	refpmu_log_call(REFPMU_CALL_EVENT_INIT, event, 0);
	atomic64_inc(&dev->inits);

	/*
	 * Events of another core type are rejected like events of another PMU type, before any
	 * other check: the PMU of that core type has the same event types and may accept them.
	 */
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &dev->supported))
		return -ENOENT;
	caps.own_type = event->pmu->type;
	err = refpmu_config_parse(&attr, &caps, &req);
	if (err)
		return err;

	store_request(event, &req);
	err = refpmu_validate_group(event);
	if (err)
		return err;

	request_sched_task(event, &req);
	/* Set destroy last: nothing below can fail, so perf calls destroy exactly once. */
	event->destroy = refpmu_destroy;
	atomic64_inc(&dev->live);
	return 0;
}
