// SPDX-License-Identifier: GPL-2.0-only
/* The timer that replaces the overflow interrupt, which refpmu_uncore does not have. */
#include "compat/compat.h"
#include "uncore.h"

/*
 * The timer is pinned to the CPU that starts it, the CPU of the events. When the events move, their
 * removal stops the timer on the old CPU, and their addition starts it on the new one.
 */
void refpmu_uncore_timer_start(struct refpmu_uncore *uncore)
{
	hrtimer_start(&uncore->timer, ns_to_ktime(REFPMU_UNCORE_POLL_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * If the timer function runs now and waits for the lock, it will find no running counter and end.
 */
void refpmu_uncore_timer_stop(struct refpmu_uncore *uncore)
{
	hrtimer_try_to_cancel(&uncore->timer);
}

/*
 * The timer function restarts the timer under the lock and returns HRTIMER_NORESTART. While it
 * waited for the lock, another CPU may have stopped and restarted the timer.
 */
static enum hrtimer_restart handle_timer(struct hrtimer *timer)
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
	refpmu_compat_timer(&uncore->timer, handle_timer, HRTIMER_MODE_REL_PINNED_HARD);
}
