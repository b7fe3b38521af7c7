/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Writes the program's context of each overflow to a ring buffer, and may suppress the sample. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

struct overflow_fact {
	__u64 sample_period;
	__u64 addr;
	__u64 counter;
	__u64 enabled;
	__u64 running;
	__u64 cookie;
	__s64 read_error;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} facts SEC(".maps");

__u64 dropped = 0; /* facts that did not fit into the buffer */
__u64 drop_mask = 0; /* bit i % 64: suppress the sample of overflow i */
__u64 overflows = 0;

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_value value = {};
	struct overflow_fact *fact;
	__u64 number = __sync_fetch_and_add(&overflows, 1);

	fact = bpf_ringbuf_reserve(&facts, sizeof(*fact), 0);
	if (fact) {
		fact->read_error = bpf_perf_prog_read_value(ctx, &value, sizeof(value));
		fact->sample_period = ctx->sample_period;
		fact->addr = ctx->addr;
		fact->counter = value.counter;
		fact->enabled = value.enabled;
		fact->running = value.running;
		fact->cookie = bpf_get_attach_cookie(ctx);
		bpf_ringbuf_submit(fact, 0);
	} else {
		__sync_fetch_and_add(&dropped, 1);
	}
	return !((drop_mask >> (number % 64)) & 1);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
