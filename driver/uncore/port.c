// SPDX-License-Identifier: GPL-2.0-only
/* The stimulus port of refpmu_uncore. */
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "port/port.h"
#include "uncore.h"

/* Maximum time that events wait for the driver: ten times the device's guarantee. */
#define POLL_TIMEOUT_NS NSEC_PER_SEC

/* Return the value of a register, bypassing the bus; 0 if the register does not exist. */
static u64 peek(struct refpmu_uncore *uncore, u32 reg)
{
	u64 value = 0;

	refpmu_model_read(&uncore->model, reg, &value);
	return value;
}

/*
 * Return how many events of @code may happen until a counter is half its range ahead of the value
 * that the driver knows.
 */
static u64 headroom(struct refpmu_uncore *uncore, u16 code)
{
	const u64 mask = refpmu_low_bits(uncore->params.width);
	const u64 half = (mask >> 1) + 1;
	const u64 running = peek(uncore, REFPMU_REG_GLOBAL_CTRL);
	u64 least = ~0ULL;
	unsigned int i;

	for (i = 0; i < uncore->params.general; i++) {
		const u64 selects = peek(uncore, REFPMU_REG_EVTSEL(i)) & REFPMU_EVTSEL_CODE;
		const u64 ahead = (peek(uncore, REFPMU_REG_PMC(i)) - uncore->seen[i]) & mask;

		if (running & BIT_ULL(i) && selects == code)
			least = min(least, half > ahead ? half - ahead : 0);
	}
	return least;
}

/* Generate up to @n events, as many as headroom() allows; all of them if @force. */
static u64 generate(struct refpmu_uncore *uncore, u16 code, u64 n, bool force)
{
	unsigned long irqs;
	u64 done;

	raw_spin_lock_irqsave(&uncore->lock, irqs);
	done = force ? n : min(n, headroom(uncore, code));
	refpmu_model_pulse(&uncore->model, code, done, REFPMU_KERNEL, true);
	raw_spin_unlock_irqrestore(&uncore->lock, irqs);
	return done;
}

/*
 * Generate events, at most as fast as the device guarantees. The CPU of the request does not
 * matter. When a counter has advanced by half its range, the request waits until the driver reads
 * the counter. The wait is bounded: a driver that never reads the counter loses events, as on real
 * hardware.
 */
static int run_pulse(struct refpmu_port_request *req)
{
	struct refpmu_pulse *pulse = &req->arg.pulse;
	u64 deadline = ktime_get_ns() + POLL_TIMEOUT_NS;

	pulse->done = 0;
	while (pulse->done < pulse->n) {
		const u64 done = generate(&refpmu_uncore, pulse->event, pulse->n - pulse->done,
					ktime_get_ns() > deadline);

		pulse->done += done;
		if (fatal_signal_pending(req->caller))
			return -EINTR;
		if (done)
			deadline = ktime_get_ns() + POLL_TIMEOUT_NS;
		else
			cpu_relax();
		cond_resched();
	}
	return 0;
}

static int ioctl_reg(struct refpmu_port_request *req)
{
	struct refpmu_reg *reg = &req->arg.reg;
	unsigned long irqs;
	int err;

	raw_spin_lock_irqsave(&refpmu_uncore.lock, irqs);
	err = refpmu_port_access(&refpmu_uncore.model, reg);
	raw_spin_unlock_irqrestore(&refpmu_uncore.lock, irqs);
	return err;
}

/* The statistics are the same for each CPU. */
static int ioctl_stats(struct refpmu_port_request *req)
{
	struct refpmu_uncore *uncore = &refpmu_uncore;
	struct refpmu_stats *stats = &req->arg.stats;
	const __s32 cpu = req->arg.head.cpu;
	unsigned long irqs;

	*stats = (struct refpmu_stats){ .size = sizeof(*stats), .cpu = cpu };
	raw_spin_lock_irqsave(&uncore->lock, irqs);
	memcpy(stats->calls, uncore->calls, sizeof(uncore->calls));
	stats->pmi = uncore->polls;
	stats->pmi_claimed = uncore->polls;
	stats->used = uncore->used;
	raw_spin_unlock_irqrestore(&uncore->lock, irqs);
	stats->calls[REFPMU_CALL_EVENT_INIT] = atomic64_read(&uncore->inits);
	stats->calls[REFPMU_CALL_DESTROY] = atomic64_read(&uncore->destroys);
	stats->live_events = atomic64_read(&uncore->live);
	return 0;
}

static int ioctl_info(struct refpmu_port_request *req)
{
	req->arg.info = (struct refpmu_info){
		.size = sizeof(struct refpmu_info),
		.general = refpmu_uncore.params.general,
		.width = refpmu_uncore.params.width,
	};
	return 0;
}

static int ioctl_reset(struct refpmu_port_request *req)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&refpmu_uncore.lock, irqs);
	memset(refpmu_uncore.calls, 0, sizeof(refpmu_uncore.calls));
	refpmu_uncore.polls = 0;
	raw_spin_unlock_irqrestore(&refpmu_uncore.lock, irqs);
	atomic64_set(&refpmu_uncore.inits, 0);
	atomic64_set(&refpmu_uncore.destroys, 0);
	return 0;
}

static const struct refpmu_port_handler handlers[] = {
	{ .cmd = REFPMU_IOC_RESET, .in_caller = ioctl_reset },
	{ .cmd = REFPMU_IOC_INFO, .in_caller = ioctl_info },
	{ .cmd = REFPMU_IOC_PULSE, .check = refpmu_port_check_plain, .run = run_pulse },
	{ .cmd = REFPMU_IOC_REG, .in_caller = ioctl_reg },
	{ .cmd = REFPMU_IOC_STATS, .in_caller = ioctl_stats },
	{}
};

static struct refpmu_port port = { .handlers = handlers };

int refpmu_uncore_port_register(void)
{
	return refpmu_port_register(&port, REFPMU_UNCORE_NAME);
}

void refpmu_uncore_port_unregister(void)
{
	refpmu_port_unregister(&port);
}
