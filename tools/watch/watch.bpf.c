/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Checks the callbacks of one struct pmu at their entry and return. Records their durations and
 * breaches of the driver contract.
 *
 * The kernel skips a program that would interrupt another one, so calls can be missed. Therefore
 * each check needs only one call, or assumes correct behaviour for a missed one.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/perf_event.h>

#include <asm/ptrace.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "watch.h"

#ifdef __TARGET_ARCH_aarch64
#define REGISTERS struct user_pt_regs
#define ARGUMENT(ctx, n) ((ctx)->regs[n])
#define RESULT(ctx) ((ctx)->regs[0])
#define INTERRUPTS_ON(ctx) (!((ctx)->pstate & PSR_I_BIT))
#else
#define REGISTERS struct pt_regs
#define ARGUMENT(ctx, n) ((n) == 0 ? (ctx)->rdi : (ctx)->rsi)
#define RESULT(ctx) ((ctx)->rax)
#define INTERRUPTS_ON(ctx) ((ctx)->eflags & (1 << 9))
#endif

/* Values of include/linux/perf_event.h. */
#define STOPPED 1
#define UPTODATE 2
#define EF_START 1
#define EF_RELOAD 2
#define EF_UPDATE 4
#define EF_MASK (EF_START | EF_RELOAD | EF_UPDATE)
#define TXN_ADD 1
#define CAP_NO_INTERRUPT 1

/* judge_program() checks only periods in this range, and accepts a difference of OFF events. */
#define LEAST_PERIOD 512
#define MOST_PERIOD (1 << 20)
#define OFF 128

#define KERNEL __attribute__((preserve_access_index))

/* local64_t: its definition depends on the architecture. */
typedef struct {
} local64___watch;

struct hw_perf_event___watch {
	int idx;
	int state;
	__u64 sample_period;
	__u64 last_period;
	local64___watch prev_count;
	local64___watch period_left;
} KERNEL;

struct pmu___watch {
	__u32 type;
	int capabilities;
	int task_ctx_nr;
	int *pmu_disable_count;
	void *setup_aux;
#define X(name) void *name;
	WATCH_CALLBACKS(X)
#undef X
} KERNEL;

struct perf_event___watch {
	struct pmu___watch *pmu;
	local64___watch count;
	struct perf_event_attr attr;
	struct hw_perf_event___watch hw;
	int oncpu;
	__u64 id;
	void *destroy;
} KERNEL;

struct perf_sample_data___watch {
	__u64 period;
} KERNEL;

struct file___watch {
	void *private_data;
} KERNEL;

struct fdtable___watch {
	struct file___watch **fd;
} KERNEL;

struct files_struct___watch {
	struct fdtable___watch *fdt;
} KERNEL;

struct task_struct___watch {
	struct files_struct___watch *files;
} KERNEL;

/* Absent if kallsyms of this kernel has only functions. */
extern const void __per_cpu_offset __ksym __weak;

/* Set by user space. */
__u32 event_fd = 0;
__u32 sees_enable = 0; /* the driver has its own pmu_enable and pmu_disable */

/* Set by find_pmu(). */
__u64 pmu = 0;
__u64 addresses[WATCH_CALLBACK_COUNT] = {};
__u32 pmu_type = 0;
__u32 event_type = 0;
__u64 event_id = 0;
__u64 disable_count = 0; /* per-CPU pointer; 0: depth() cannot know the count */
__u32 has_state = 0; /* the driver maintains hw.state; software PMUs do not */
__u32 interrupts = 0;

/* Results for user space. */
struct watch_calls calls[WATCH_CALLBACK_COUNT] = {};
struct watch_seen seen[WATCH_BREACH_COUNT] = {};

/* A call that has not returned yet. */
struct call {
	__u64 object; /* event or PMU; 0: none */
	__u64 time;
	__u64 count;
	__s64 left; /* period_left */
	__u32 flags;
	int state;
	int idx;
};

/* The state of a CPU. */
struct cpu {
	__u64 added; /* the event of the last add, until it is checked */
	__u32 txn; /* transaction: 0 unknown, 1 none, 2 open */
	__u32 txn_flags;
	int txn_depth;
};

/* The state of an event, by id: its address may be reused by another event. */
struct told {
	__u64 last; /* count at the newest overflow */
	__u64 counted; /* since the first overflow */
	__u64 periods; /* sum of the reported periods since then */
	__u64 period; /* of the newest overflow */
	__u64 left; /* count at the last del */
	__u32 gone; /* `left` is valid */
	__u32 to_stop; /* perf_event_overflow() returned nonzero */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WATCH_CALLBACK_COUNT);
	__type(key, __u32);
	__type(value, struct call);
} open_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct told);
} events SEC(".maps");

static __always_inline struct cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* Returns NULL if the event has no state. */
static __always_inline struct told *known_of(__u64 object)
{
	struct perf_event___watch *event = (void *)object;
	__u64 id = BPF_CORE_READ(event, id);

	return bpf_map_lookup_elem(&events, &id);
}

static __always_inline struct told *told_of(__u64 object)
{
	struct perf_event___watch *event = (void *)object;
	__u64 id = BPF_CORE_READ(event, id);
	struct told none = {};

	bpf_map_update_elem(&events, &id, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&events, &id);
}

static __always_inline int state_of(struct perf_event___watch *event)
{
	return BPF_CORE_READ(event, hw.state) & (STOPPED | UPTODATE);
}

static __always_inline __u64 count_of(struct perf_event___watch *event)
{
	__u64 count = 0;

	bpf_core_read(&count, sizeof(count), &event->count);
	return count;
}

static __always_inline __s64 left_of(struct perf_event___watch *event)
{
	__s64 left = 0;

	bpf_core_read(&left, sizeof(left), &event->hw.period_left);
	return left;
}

/* Returns pmu_disable_count on this CPU, or 0 if it is unknown. */
static __always_inline int depth(void)
{
	__u64 offset = 0;
	int count = 0;

	if (!disable_count)
		return 0;
	bpf_probe_read_kernel(&offset, sizeof(offset),
			      (const char *)&__per_cpu_offset + 8 * bpf_get_smp_processor_id());
	bpf_probe_read_kernel(&count, sizeof(count), (void *)(disable_count + offset));
	return count;
}

/* `place` has the callback in the lower half and its flags in the upper half. */
static __noinline int keep(__u32 kind, __u64 object, __u64 place, __u64 expected, __u64 found)
{
	struct perf_event___watch *event = (void *)object;
	struct watch_seen *first;

	if (kind >= WATCH_BREACH_COUNT)
		return 0;
	first = &seen[kind];
	if (__sync_fetch_and_add(&first->times, 1))
		return 0;
	first->expected = expected;
	first->found = found;
	first->callback = place;
	first->flags = place >> 32;
	first->cpu = bpf_get_smp_processor_id();
	first->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(first->comm, sizeof(first->comm));
	if (object && object != pmu) {
		first->type = BPF_CORE_READ(event, attr.type);
		first->config = BPF_CORE_READ(event, attr.config);
	}
	return 0;
}

#define breach(kind, object, callback, flags, expected, found)                                     \
	keep(WATCH_BREACH_##kind, object, (__u64)(flags) << 32 | (callback), expected, found)

/* Returns whether the call is for the watched PMU. Other PMUs may share its callbacks. */
static __always_inline int is_ours(__u32 callback, __u64 object)
{
	struct perf_event___watch *event = (void *)object;

	switch (callback) {
	case WATCH_pmu_enable:
	case WATCH_pmu_disable:
	case WATCH_start_txn:
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		return object == pmu;
	}
	return (__u64)BPF_CORE_READ(event, pmu) == pmu;
}

/* perf must call the driver on the event's CPU, with interrupts disabled. */
static __always_inline void judge_place(REGISTERS *ctx, __u32 callback, __u64 object, __u32 flags)
{
	struct perf_event___watch *event = (void *)object;
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 oncpu = BPF_CORE_READ(event, oncpu);

	if (INTERRUPTS_ON(ctx))
		breach(INTERRUPTS_ON, object, callback, flags, 0, 0);
	/* The kernel may read an event of a PMU with a scope on any CPU of the scope. */
	if (callback != WATCH_read && oncpu != cpu)
		breach(WRONG_CPU, object, callback, flags, oncpu, cpu);
}

static __always_inline void judge_entry(REGISTERS *ctx, __u32 callback, struct call *call)
{
	__u64 object = call->object;
	struct told *told;
	struct cpu *cpu;

	switch (callback) {
	case WATCH_add:
	case WATCH_del:
		judge_place(ctx, callback, object, call->flags);
		if (disable_count && !depth())
			breach(PMU_ON, object, callback, call->flags, 0, 0);
		break;
	case WATCH_start:
	case WATCH_stop:
	case WATCH_read:
		judge_place(ctx, callback, object, call->flags);
		break;
	case WATCH_start_txn:
		cpu = this_cpu();
		if (!cpu)
			break;
		if (cpu->txn == 2)
			breach(TXN_NESTED, object, callback, call->flags, 0, 0);
		cpu->txn = 2;
		cpu->txn_flags = call->flags;
		cpu->txn_depth = depth();
		break;
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		cpu = this_cpu();
		if (cpu && cpu->txn == 1)
			breach(TXN_NONE, object, callback, 0, 0, 0);
		break;
	}
	if (!has_state)
		return;
	if (callback == WATCH_start && !(call->flags & ~EF_MASK)) {
		if (!(call->state & STOPPED))
			breach(STARTED_TWICE, object, callback, call->flags, STOPPED, call->state);
		else if ((call->flags & EF_RELOAD) && !(call->state & UPTODATE))
			breach(RELOAD_WITHOUT_UPDATE, object, callback, call->flags,
			       STOPPED | UPTODATE, call->state);
		told = known_of(object);
		if (told)
			told->to_stop = 0;
	}
	if (callback == WATCH_add) {
		told = known_of(object);
		if (told && told->gone && call->count > told->left)
			breach(LATE_COUNT, object, callback, call->flags, told->left, call->count);
		if (told)
			told->to_stop = 0;
	}
}

/*
 * A counter counts period_left events from prev_count to 0, and a read moves both by the same
 * amount. The check accepts small differences and skips long periods, because hardware may round a
 * period, and cannot program one that exceeds its counter.
 */
static __always_inline void judge_program(struct perf_event___watch *event, __u32 callback,
					  __u32 flags, __s64 left)
{
	__u64 prev = 0;
	__s32 off;

	bpf_core_read(&prev, sizeof(prev), &event->hw.prev_count);
	off = (__s32)(-(__u32)prev - (__u32)left);
	if (left >= LEAST_PERIOD && left < MOST_PERIOD && (off < -OFF || off > OFF))
		breach(NOT_PROGRAMMED, (__u64)event, callback, flags, left, -(__u32)prev);
}

static __always_inline void judge_reload(struct perf_event___watch *event, __u32 callback,
					 __u32 flags)
{
	__u64 period = BPF_CORE_READ(event, hw.sample_period);
	__s64 left = left_of(event);
	struct perf_event_attr attr;

	bpf_core_read(&attr, sizeof(attr), &event->attr);
	/* In frequency mode perf changes the period while one is in progress. */
	if (!interrupts || !attr.sample_period || attr.freq)
		return;
	if (left <= 0 || (__u64)left > period)
		breach(PERIOD_LEFT, (__u64)event, callback, flags, period, left);
	if (!attr.precise_ip)
		judge_program(event, callback, flags, left);
}

/* The event of the last add must run when the PMU is enabled. */
static __always_inline void judge_added(__u32 callback)
{
	struct cpu *cpu = this_cpu();
	struct perf_event___watch *event;
	int state;

	if (!cpu || !cpu->added)
		return;
	event = (void *)cpu->added;
	cpu->added = 0;
	if ((__u64)BPF_CORE_READ(event, pmu) != pmu)
		return;
	state = state_of(event);
	if (state)
		breach(ADD_NOT_RUNNING, (__u64)event, callback, 0, 0, state);
	else
		judge_reload(event, callback, 0);
}

static __always_inline void judge_add(struct call *call, int result)
{
	struct perf_event___watch *event = (void *)call->object;
	struct cpu *cpu = this_cpu();
	int state = state_of(event);
	int idx = BPF_CORE_READ(event, hw.idx);

	if (result) {
		if (state != call->state && !(state & STOPPED))
			breach(FAILED_ADD_STATE, call->object, WATCH_add, call->flags,
			       call->state, state);
		if (idx != call->idx)
			breach(FAILED_ADD_INDEX, call->object, WATCH_add, call->flags,
			       call->idx, idx);
		return;
	}
	if (!(call->flags & EF_START)) {
		if (state != (STOPPED | UPTODATE))
			breach(ADD_RUNNING, call->object, WATCH_add, call->flags,
			       STOPPED | UPTODATE, state);
	} else if (cpu) {
		cpu->added = call->object;
		if (!sees_enable)
			judge_added(WATCH_add);
	}
}

static __always_inline void judge_del(struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	struct told *told = told_of(call->object);
	struct cpu *cpu = this_cpu();
	struct perf_event_attr attr;
	int state = state_of(event);

	if (state != (STOPPED | UPTODATE))
		breach(DEL_STATE, call->object, WATCH_del, call->flags, STOPPED | UPTODATE, state);
	if (cpu && cpu->added == call->object)
		cpu->added = 0;
	if (!told)
		return;
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	told->left = count_of(event);
	/* perf may swap the counts of inherited events at a context switch (inherit_stat). */
	told->gone = !attr.inherit;
	told->to_stop = 0;
}

static __always_inline void judge_start(struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	int state = state_of(event);

	if (call->flags & ~EF_MASK)
		return;
	if (state)
		breach(START_STOPPED, call->object, WATCH_start, call->flags, 0, state);
	else if (call->flags & EF_RELOAD)
		judge_reload(event, WATCH_start, call->flags);
}

static __always_inline void judge_stop(struct call *call)
{
	int state = state_of((struct perf_event___watch *)call->object);

	if (call->flags & ~EF_MASK)
		return;
	if (!(state & STOPPED))
		breach(STOP_RUNNING, call->object, WATCH_stop, call->flags, STOPPED, state);
	else if ((call->flags & EF_UPDATE) && !(state & UPTODATE))
		breach(STOP_STALE, call->object, WATCH_stop, call->flags,
		       STOPPED | UPTODATE, state);
}

/* read, stop and del may only add to the count, and only the events since the last fold. */
static __always_inline void judge_count(__u32 callback, struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	__u64 counted = count_of(event) - call->count;
	__u64 period = BPF_CORE_READ(event, hw.sample_period);
	struct perf_event_attr attr;

	if ((__s64)counted < 0)
		breach(COUNT_DOWN, call->object, callback, call->flags, call->count,
		       call->count + counted);
	else if (has_state && call->state == (STOPPED | UPTODATE) && counted)
		breach(COUNTED_STOPPED, call->object, callback, call->flags, call->count,
		       call->count + counted);
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	if (!interrupts || !has_state || attr.precise_ip || !attr.sample_period || !period)
		return;
	/* An NMI during the call may have started the next period. */
	if (counted % period && left_of(event) == call->left)
		breach(PERIOD_LEFT_STUCK, call->object, callback, call->flags,
		       call->left - counted, call->left);
}

static __always_inline void judge_transaction(__u32 callback, struct call *call, int result)
{
	struct cpu *cpu = this_cpu();
	int now = depth();

	/* The transaction stays open if the commit fails. */
	if (!cpu || (callback == WATCH_commit_txn && result))
		return;
	if (cpu->txn == 2 && now != cpu->txn_depth)
		breach(TXN_BALANCE, call->object, callback, cpu->txn_flags, cpu->txn_depth, now);
	cpu->txn = 1;
}

static __always_inline void judge_init(struct call *call, int result)
{
	struct perf_event___watch *event = (void *)call->object;
	__u32 type = BPF_CORE_READ(event, attr.type);

	if (result > 0)
		breach(INIT_POSITIVE, call->object, WATCH_event_init, 0, 0, result);
	/* Several PMUs share the types below PERF_TYPE_MAX. */
	if (type >= PERF_TYPE_MAX && type != pmu_type && result != -ENOENT)
		breach(INIT_FOREIGN, call->object, WATCH_event_init, 0, ENOENT, -result);
	if (result < 0 && BPF_CORE_READ(event, destroy))
		breach(INIT_DESTROY, call->object, WATCH_event_init, 0, 0, -result);
}

static __always_inline void judge_return(__u32 callback, struct call *call, int result)
{
	switch (callback) {
	case WATCH_event_init:
		judge_init(call, result);
		return;
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		judge_transaction(callback, call, result);
		return;
	case WATCH_read:
	case WATCH_stop:
	case WATCH_del:
		judge_count(callback, call);
	}
	if (!has_state)
		return;
	switch (callback) {
	case WATCH_pmu_enable:
		judge_added(callback);
		break;
	case WATCH_add:
		judge_add(call, result);
		break;
	case WATCH_del:
		judge_del(call);
		break;
	case WATCH_start:
		judge_start(call);
		break;
	case WATCH_stop:
		judge_stop(call);
		break;
	}
}

/* User space runs this with BPF_PROG_TEST_RUN in the process that has the event open. */
SEC("raw_tp")
int find_pmu(void *ctx)
{
	struct task_struct___watch *task = (void *)bpf_get_current_task();
	struct file___watch **files = BPF_CORE_READ(task, files, fdt, fd);
	struct file___watch *file = NULL;
	struct perf_event___watch *event;
	struct pmu___watch *found;

	bpf_probe_read_kernel(&file, sizeof(file), &files[event_fd]);
	event = BPF_CORE_READ(file, private_data);
	found = BPF_CORE_READ(event, pmu);
	pmu = (__u64)found;
	pmu_type = BPF_CORE_READ(found, type);
	event_type = BPF_CORE_READ(event, attr.type);
	event_id = BPF_CORE_READ(event, id);
	if (&__per_cpu_offset && bpf_core_field_exists(found->pmu_disable_count))
		disable_count = (__u64)BPF_CORE_READ(found, pmu_disable_count);
	/* 1 is perf_sw_context. A trace event may find no room in the AUX area and stay stopped. */
	has_state = BPF_CORE_READ(found, task_ctx_nr) != 1 && !BPF_CORE_READ(found, setup_aux);
	interrupts = !(BPF_CORE_READ(found, capabilities) & CAP_NO_INTERRUPT);
#define X(name) addresses[WATCH_##name] = (__u64)BPF_CORE_READ(found, name);
	WATCH_CALLBACKS(X)
#undef X
	return 0;
}

SEC("kprobe")
int entered(REGISTERS *ctx)
{
	__u64 callback = bpf_get_attach_cookie(ctx);
	__u32 key = callback;
	__u64 object = ARGUMENT(ctx, 0);
	struct perf_event___watch *event = (void *)object;
	struct call *call = bpf_map_lookup_elem(&open_calls, &key);

	if (!call || !is_ours(callback, object))
		return 0;
	call->object = object;
	call->flags = ARGUMENT(ctx, 1);
	if (callback == WATCH_read || callback == WATCH_event_init)
		call->flags = 0; /* these callbacks have no flags */
	if (callback >= WATCH_add && callback <= WATCH_read) {
		call->state = state_of(event);
		call->idx = BPF_CORE_READ(event, hw.idx);
		call->count = count_of(event);
		call->left = left_of(event);
	}
	judge_entry(ctx, callback, call);
	call->time = bpf_ktime_get_ns();
	return 0;
}

SEC("kretprobe")
int returned(REGISTERS *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 callback = bpf_get_attach_cookie(ctx);
	__u32 key = callback;
	struct call *call = bpf_map_lookup_elem(&open_calls, &key);
	struct watch_calls *all;
	struct call done;
	__u64 time;
	int bucket = 0;

	if (!call || !call->object || callback >= WATCH_CALLBACK_COUNT)
		return 0;
	done = *call;
	call->object = 0;
	judge_return(callback, &done, RESULT(ctx));

	all = &calls[callback];
	time = now - done.time;
	__sync_fetch_and_add(&all->calls, 1);
	__sync_fetch_and_add(&all->total, time);
	if (time > all->longest)
		all->longest = time;
	for (; bucket < WATCH_BUCKETS - 1 && time; time >>= 1)
		bucket++;
	__sync_fetch_and_add(&all->buckets[bucket & (WATCH_BUCKETS - 1)], 1);
	return 0;
}

SEC("kprobe")
int overflowed(REGISTERS *ctx)
{
	__u64 object = ARGUMENT(ctx, 0);
	struct perf_event___watch *event = (void *)object;
	struct perf_sample_data___watch *data = (void *)ARGUMENT(ctx, 1);
	__u32 callback = WATCH_overflow;
	struct call *call = bpf_map_lookup_elem(&open_calls, &callback);
	__u64 period, last, count;
	struct perf_event_attr attr;
	struct told *told;

	if (!call || !is_ours(callback, object))
		return 0;
	call->object = object;
	call->time = bpf_ktime_get_ns();
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	if (!attr.sample_period)
		return 0; /* perf ignores this overflow */
	judge_place(ctx, callback, object, 0);
	period = BPF_CORE_READ(data, period);
	last = BPF_CORE_READ(event, hw.last_period);
	if (period != last)
		breach(LAST_PERIOD, object, callback, 0, last, period);
	/* A driver may drain the records of a precise event after it has stopped. */
	if (!has_state || attr.precise_ip)
		return 0;
	if (state_of(event) & STOPPED)
		breach(OVERFLOW_STOPPED, object, callback, 0, 0, state_of(event));
	judge_reload(event, callback, 0);
	told = told_of(object);
	if (!told)
		return 0;
	if (told->to_stop)
		breach(OVERFLOW_UNSTOPPED, object, callback, 0, 0, 0);
	count = count_of(event);
	if (attr.freq || period != told->period || count < told->last) {
		told->counted = 0;
		told->periods = 0;
		told->period = period;
	} else {
		told->counted += count - told->last;
		told->periods += period;
		/* The interrupt of the first overflow may have been up to a period late. */
		if (told->periods > told->counted + period) {
			breach(OVERFLOW_TOO_OFTEN, object, callback, 0,
			       told->counted, told->periods);
			told->counted = told->periods;
		}
	}
	told->last = count;
	return 0;
}

SEC("kretprobe")
int overflow_returned(REGISTERS *ctx)
{
	__u32 callback = WATCH_overflow;
	struct call *call = bpf_map_lookup_elem(&open_calls, &callback);
	struct told *told;
	__u64 object;

	if (!call || !call->object)
		return 0;
	object = call->object;
	call->object = 0;
	__sync_fetch_and_add(&calls[WATCH_overflow].calls, 1);
	told = known_of(object);
	if (told)
		told->to_stop = (int)RESULT(ctx) != 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
