// SPDX-License-Identifier: GPL-2.0-only
/* A driver in which the review finds nothing. It is an example to read and is not built. */
#include <linux/cpuhotplug.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>

#define EX_COUNTERS 4
#define EX_EVENT_MASK GENMASK_ULL(7, 0)

struct ex_pmu {
	struct pmu pmu;
	struct device *dev;
	void __iomem *base;
	struct perf_event *events[EX_COUNTERS];
	DECLARE_BITMAP(used, EX_COUNTERS);
	struct hlist_node node;
	unsigned int cpu;
	int irq;
	int id;
};

static int ex_hp_state;

static struct ex_pmu *to_ex_pmu(struct pmu *pmu)
{
	return container_of(pmu, struct ex_pmu, pmu);
}

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ex_pmu *ex = to_ex_pmu(dev_get_drvdata(dev));

	return cpumap_print_to_pagebuf(true, buf, cpumask_of(ex->cpu));
}
static DEVICE_ATTR_RO(cpumask);

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ex_pmu *ex = to_ex_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "0x%x\n", ex->id);
}
static DEVICE_ATTR_RO(identifier);

static struct attribute *ex_event_attrs[] = {
	EX_EVENT_ATTR(cycles, 0x00),
	EX_EVENT_ATTR(reads, 0x01),
	NULL
};

static u64 ex_read_counter(struct ex_pmu *ex, int idx)
{
	u32 high, low, again;

	high = readl_relaxed(ex->base + EX_HIGH(idx));
	do {
		again = high;
		low = readl_relaxed(ex->base + EX_LOW(idx));
		high = readl_relaxed(ex->base + EX_HIGH(idx));
	} while (high != again);

	return (u64)high << 32 | low;
}

static void ex_read(struct perf_event *event)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);
	struct hw_perf_event *hwc = &event->hw;
	u64 now, before;

	do {
		before = local64_read(&hwc->prev_count);
		now = ex_read_counter(ex, hwc->idx);
	} while (local64_cmpxchg(&hwc->prev_count, before, now) != before);

	local64_add(now - before, &event->count);
}

static bool ex_is_own(struct perf_event *event, struct perf_event *other, int *counters)
{
	if (is_software_event(other))
		return true;
	if (other->pmu != event->pmu)
		return false;
	(*counters)++;
	return true;
}

static bool ex_group_fits(struct perf_event *event)
{
	struct perf_event *sibling, *leader = event->group_leader;
	int counters = 0;

	if (leader == event)
		return true;

	if (!ex_is_own(event, leader, &counters))
		return false;

	for_each_sibling_event(sibling, leader) {
		if (!ex_is_own(event, sibling, &counters))
			return false;
	}

	if (!ex_is_own(event, event, &counters))
		return false;

	return counters <= EX_COUNTERS;
}

static int ex_event_init(struct perf_event *event)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);

	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	if (is_sampling_event(event))
		return -EOPNOTSUPP;

	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;

	if (event->attr.config & ~EX_EVENT_MASK) {
		dev_dbg(ex->dev, "unknown event\n");
		return -EINVAL;
	}

	if (!ex_group_fits(event))
		return -EINVAL;

	event->cpu = ex->cpu;
	event->hw.idx = -1;
	return 0;
}

static void ex_start(struct perf_event *event, int flags)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);

	event->hw.state = 0;
	local64_set(&event->hw.prev_count, ex_read_counter(ex, event->hw.idx));
	writel(event->attr.config, ex->base + EX_SELECT(event->hw.idx));
}

static void ex_stop(struct perf_event *event, int flags)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);

	writel(0, ex->base + EX_SELECT(event->hw.idx));
	ex_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int ex_add(struct perf_event *event, int flags)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);
	int idx;

	idx = find_first_zero_bit(ex->used, EX_COUNTERS);
	if (idx == EX_COUNTERS)
		return -EAGAIN;

	__set_bit(idx, ex->used);
	ex->events[idx] = event;
	event->hw.idx = idx;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		ex_start(event, flags);
	return 0;
}

static void ex_del(struct perf_event *event, int flags)
{
	struct ex_pmu *ex = to_ex_pmu(event->pmu);

	ex_stop(event, PERF_EF_UPDATE);
	ex->events[event->hw.idx] = NULL;
	__clear_bit(event->hw.idx, ex->used);
}

static irqreturn_t ex_interrupt(int irq, void *data)
{
	struct ex_pmu *ex = data;
	int idx;

	for_each_set_bit(idx, ex->used, EX_COUNTERS)
		ex_read(ex->events[idx]);
	return IRQ_HANDLED;
}

static int ex_offline(unsigned int cpu, struct hlist_node *node)
{
	struct ex_pmu *ex = hlist_entry_safe(node, struct ex_pmu, node);
	unsigned int target = cpumask_any_but(cpu_online_mask, cpu);

	if (cpu != ex->cpu || target >= nr_cpu_ids)
		return 0;

	perf_pmu_migrate_context(&ex->pmu, cpu, target);
	irq_set_affinity(ex->irq, cpumask_of(target));
	ex->cpu = target;
	return 0;
}

static int ex_probe(struct platform_device *pdev)
{
	struct ex_pmu *ex;
	char *name;
	int ret;

	ex = devm_kzalloc(&pdev->dev, sizeof(*ex), GFP_KERNEL);
	if (!ex)
		return -ENOMEM;

	ex->pmu = (struct pmu) {
		.module = THIS_MODULE,
		.parent = &pdev->dev,
		.task_ctx_nr = perf_invalid_context,
		.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
		.attr_groups = ex_attr_groups,
		.event_init = ex_event_init,
		.add = ex_add,
		.del = ex_del,
		.start = ex_start,
		.stop = ex_stop,
		.read = ex_read,
	};

	name = devm_kasprintf(&pdev->dev, GFP_KERNEL, "example_%d_pmu", pdev->id);
	if (!name)
		return -ENOMEM;

	ret = devm_request_irq(&pdev->dev, ex->irq, ex_interrupt,
			       IRQF_NOBALANCING | IRQF_NO_THREAD, name, ex);
	if (ret)
		return ret;

	ret = cpuhp_state_add_instance(ex_hp_state, &ex->node);
	if (ret)
		return ret;

	ret = perf_pmu_register(&ex->pmu, name, -1);
	if (ret)
		cpuhp_state_remove_instance_nocalls(ex_hp_state, &ex->node);
	return ret;
}

static struct platform_driver ex_driver = {
	.driver = {
		.name = "example-pmu",
		.suppress_bind_attrs = true,
	},
	.probe = ex_probe,
};
module_platform_driver(ex_driver);
MODULE_LICENSE("GPL");
