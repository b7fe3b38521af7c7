// SPDX-License-Identifier: GPL-2.0-only
/* Opening an event: from the perf_event_attr to what the driver keeps of it, or a refusal. */
#include "compat.h"
#include "refpmu.h"

static struct refpmu_attr translate(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return (struct refpmu_attr){
		.type = attr->type,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.config3 = refpmu_compat_config3(attr),
		.sample_period = attr->sample_period,
		.branch_sample_type = attr->branch_sample_type,
		.precise_ip = attr->precise_ip,
		.freq = attr->freq,
		.branch_stack = has_branch_stack(event),
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv,
		.exclude_idle = attr->exclude_idle,
		.exclude_host = attr->exclude_host,
		.exclude_guest = attr->exclude_guest,
	};
}

static void refpmu_destroy(struct perf_event *event)
{
	struct refpmu_device *dev = to_refpmu(event->pmu);

	refpmu_log_call(REFPMU_CALL_DESTROY, event, 0);
	atomic64_inc(&dev->destroys);
	atomic64_dec(&dev->live);
}

int refpmu_event_init(struct perf_event *event)
{
	struct refpmu_device *dev = to_refpmu(event->pmu);
	const struct refpmu_attr attr = translate(event);
	struct refpmu_caps caps = dev->caps;
	struct hw_perf_event *hwc = &event->hw;
	struct refpmu_request req;
	int err;

	refpmu_log_call(REFPMU_CALL_EVENT_INIT, event, 0);
	atomic64_inc(&dev->inits);

	caps.own_type = event->pmu->type;
	err = refpmu_config_parse(&attr, &caps, &req);
	if (err)
		return err;

	hwc->config = req.evtsel;
	hwc->config_base = req.allowed;
	hwc->event_base = req.preferred;
	hwc->idx = -1;
	if (!req.sampling) {
		/* Its interrupts only extend the short counter. */
		hwc->sample_period = req.period;
		hwc->last_period = req.period;
		local64_set(&hwc->period_left, req.period);
	}
	hwc->last_tag = hwc->sample_period;

	err = refpmu_validate_group(event);
	if (err)
		return err;

	/* Last: from here on nothing fails, and perf calls destroy exactly once. */
	event->destroy = refpmu_destroy;
	atomic64_inc(&dev->live);
	return 0;
}
