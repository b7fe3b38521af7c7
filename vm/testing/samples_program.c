// SPDX-License-Identifier: Apache-2.0
/*
 * Samples the instructions of this thread, and prints how many there were and how many samples:
 * "COUNT SAMPLES". Arguments: the period, "user" or "all" privileges, the number of system calls.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define DATA_PAGES 4096

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = strtoull(argv[1], NULL, 0),
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = !strcmp(argv[2], "user"),
	};
	long calls = atol(argv[3]), samples = 0;
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (event < 0)
		fail("perf_event_open");
	char *ring = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, event, 0);

	if (ring == MAP_FAILED)
		fail("mmap");
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	while (calls--)
		syscall(SYS_getppid);
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	uint64_t count;

	if (read(event, &count, sizeof(count)) != sizeof(count))
		fail("read");
	uint64_t head = ((struct perf_event_mmap_page *)ring)->data_head;

	/* The buffer never wraps: a full one has lost samples, which then are too few. */
	for (uint64_t at = 0; at < head;) {
		const struct perf_event_header *record = (void *)(ring + PAGE + at);

		samples += record->type == PERF_RECORD_SAMPLE;
		at += record->size;
	}
	printf("%llu %ld\n", (unsigned long long)count, samples);
	return 0;
}
