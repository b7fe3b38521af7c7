// SPDX-License-Identifier: GPL-2.0-only
/* The timer that stands in for the overflow interrupt that refpmu_uncore has not. */
#include "uncore.h"

/*
 * Pinned to the CPU that it is started on: that of the events. When they move they are taken off
 * the old CPU, which ends the timer there, and put on the new one, which starts it here.
 */
void refpmu_uncore_timer_start(struct refpmu_uncore *uncore)
{
	hrtimer_start(&uncore->timer, ns_to_ktime(REFPMU_UNCORE_POLL_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* One that is at work just now, waiting for the lock, finds that nothing runs, and ends. */
void refpmu_uncore_timer_stop(struct refpmu_uncore *uncore)
{
	hrtimer_try_to_cancel(&uncore->timer);
}

/*
 * Starts itself again under the lock, not by what it returns: meanwhile another CPU may have ended
 * and started it.
 */
static enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct refpmu_uncore *uncore = container_of(timer, struct refpmu_uncore, timer);

	raw_spin_lock(&uncore->lock);
	if (uncore->running) {
		refpmu_uncore_poll(uncore);
		refpmu_uncore_timer_start(uncore);
	}
	raw_spin_unlock(&uncore->lock);
	return HRTIMER_NORESTART;
}

void refpmu_uncore_timer_setup(struct refpmu_uncore *uncore)
{
	hrtimer_init(&uncore->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	uncore->timer.function = fire;
}
