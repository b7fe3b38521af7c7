// SPDX-License-Identifier: GPL-2.0-only
/* Events of refpmu_uncore on its counters: add, start, read, stop, del. */
#include "uncore.h"

/*
 * event_init has stored the set in config_base. perf does not use this field of a hardware event.
 */
struct refpmu_want refpmu_uncore_want(const struct perf_event *event)
{
	return (struct refpmu_want){
		.allowed = event->hw.config_base,
		.previous = REFPMU_COUNTER_NONE,
		.previous_extra = REFPMU_REGISTER_NONE,
	};
}

/* Start and stop counters by GLOBAL_CTRL only. Value and selector of a counter are set before. */
static void set_running(struct refpmu_uncore *uncore, u64 running)
{
	const u64 before = uncore->running;

	uncore->running = running;
	refpmu_uncore_bus_write(uncore, REFPMU_REG_GLOBAL_CTRL, running);
	if (running && !before)
		refpmu_uncore_timer_start(uncore);
	else if (!running && before)
		refpmu_uncore_timer_stop(uncore);
}

/* Perform a transition of the state of @event, which has a counter. */
static void step(struct refpmu_uncore *uncore, struct perf_event *event, enum refpmu_op op)
{
	struct hw_perf_event *hwc = &event->hw;
	const struct refpmu_step next = refpmu_state_step(hwc->state, op);
	const u64 bit = BIT_ULL(hwc->idx);

	WARN_ON_ONCE(next.actions & REFPMU_DO_WARN);
	if (next.actions & REFPMU_DO_DISABLE)
		set_running(uncore, uncore->running & ~bit);
	if (next.actions & REFPMU_DO_FOLD)
		refpmu_uncore_fold(uncore, event);
	if (next.actions & REFPMU_DO_RELOAD)
		refpmu_uncore_reload(uncore, event);
	hwc->state = next.next;
	if (next.actions & REFPMU_DO_ENABLE)
		set_running(uncore, uncore->running | bit);
	perf_event_update_userpage(event);
}

static void claim(struct refpmu_uncore *uncore, struct perf_event *event, int idx)
{
	event->hw.idx = idx;
	uncore->owner[idx] = event;
	uncore->used |= BIT_ULL(idx);
	refpmu_uncore_bus_write(uncore, REFPMU_REG_EVTSEL(idx), event->hw.config);
}

/* Free the counter of a stopped event, and clear its selector. */
static void release(struct refpmu_uncore *uncore, struct perf_event *event)
{
	const int idx = event->hw.idx;

	refpmu_uncore_bus_write(uncore, REFPMU_REG_EVTSEL(idx), 0);
	uncore->owner[idx] = NULL;
	uncore->used &= ~BIT_ULL(idx);
	event->hw.idx = -1;
}

/* Assign counters to @event and to all events that have one already. Return 0 or -ENOSPC. */
static int assign(struct refpmu_uncore *uncore, struct perf_event *event, bool pinned,
		  unsigned int *n)
{
	unsigned int i;

	*n = 0;
	for (i = 0; i < uncore->params.general; i++) {
		if (!uncore->owner[i])
			continue;
		uncore->queue[*n] = uncore->owner[i];
		uncore->wants[*n] = refpmu_uncore_want(uncore->owner[i]);
		uncore->wants[*n].previous = i;
		uncore->wants[(*n)++].pinned = pinned;
	}
	if (*n == uncore->params.general)
		return -ENOSPC;
	uncore->queue[*n] = event;
	uncore->wants[(*n)++] = refpmu_uncore_want(event);
	return refpmu_constraint_assign(uncore->wants, *n, uncore->places);
}

/*
 * Find a counter for @event. Other events move only if @event cannot be placed otherwise; they keep
 * their counts. Return 0, or -EAGAIN with nothing changed.
 */
static int schedule_event(struct refpmu_uncore *uncore, struct perf_event *event)
{
	u64 moved = 0, started = 0;
	unsigned int i, n;

	if (assign(uncore, event, true, &n) && assign(uncore, event, false, &n))
		return -EAGAIN;
	for (i = 0; i < n; i++) {
		struct perf_event *other = uncore->queue[i];

		if (other->hw.idx == uncore->places[i].counter)
			continue;
		moved |= BIT_ULL(i);
		if (other == event)
			continue;
		if (!(other->hw.state & REFPMU_STOPPED))
			started |= BIT_ULL(i);
		step(uncore, other, REFPMU_OP_STOP_UPDATE);
		release(uncore, other);
	}
	for (i = 0; i < n; i++) {
		if (!(moved & BIT_ULL(i)))
			continue;
		claim(uncore, uncore->queue[i], uncore->places[i].counter);
		refpmu_uncore_reload(uncore, uncore->queue[i]);
		if (started & BIT_ULL(i))
			step(uncore, uncore->queue[i], REFPMU_OP_START);
	}
	return 0;
}

int refpmu_uncore_add(struct perf_event *event, int flags)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);
	int err;

	raw_spin_lock(&uncore->lock);
	uncore->calls[REFPMU_CALL_ADD]++;
	event->hw.idx = -1;
	err = schedule_event(uncore, event);
	if (!err) {
		event->hw.state = refpmu_state_step(0, REFPMU_OP_ADD).next;
		if (flags & PERF_EF_START)
			step(uncore, event, REFPMU_OP_START_RELOAD);
	}
	raw_spin_unlock(&uncore->lock);
	return err;
}

void refpmu_uncore_del(struct perf_event *event, int flags)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);

	raw_spin_lock(&uncore->lock);
	uncore->calls[REFPMU_CALL_DEL]++;
	step(uncore, event, REFPMU_OP_STOP_UPDATE);
	release(uncore, event);
	raw_spin_unlock(&uncore->lock);
}

void refpmu_uncore_start(struct perf_event *event, int flags)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);
	const bool again = flags & PERF_EF_RELOAD;

	raw_spin_lock(&uncore->lock);
	uncore->calls[REFPMU_CALL_START]++;
	step(uncore, event, again ? REFPMU_OP_START_RELOAD : REFPMU_OP_START);
	raw_spin_unlock(&uncore->lock);
}

void refpmu_uncore_stop(struct perf_event *event, int flags)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);
	const bool update = flags & PERF_EF_UPDATE;

	raw_spin_lock(&uncore->lock);
	uncore->calls[REFPMU_CALL_STOP]++;
	step(uncore, event, update ? REFPMU_OP_STOP_UPDATE : REFPMU_OP_STOP);
	raw_spin_unlock(&uncore->lock);
}

/**
 * refpmu_uncore_read() - Fold the counter of an event.
 * @event: The event.
 *
 * The function may run on any CPU. A BPF program may call it in an NMI that has interrupted the
 * owner of the lock. Waiting would then be a deadlock, so such a call gets the count of the last
 * fold.
 */
void refpmu_uncore_read(struct perf_event *event)
{
	struct refpmu_uncore *uncore = to_refpmu_uncore(event->pmu);

	if (!in_nmi())
		raw_spin_lock(&uncore->lock);
	else if (!raw_spin_trylock(&uncore->lock))
		return;
	uncore->calls[REFPMU_CALL_READ]++;
	if (event->hw.idx >= 0 && !(event->hw.state & REFPMU_UPTODATE))
		refpmu_uncore_fold(uncore, event);
	raw_spin_unlock(&uncore->lock);
}
