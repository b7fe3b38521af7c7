// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the work page, as any user program can: BAR 2 of the PCI device 1af4:1110. Executes loops
 * of two lengths and prints what the longer one has more, for each event in user mode and in kernel
 * mode: "LOOP EVENT USER KERNEL". The costs of reading the page cancel out. Arguments: the number of
 * the block, the number of turns, the names of loops. The first line has the words of the header, and
 * the kernel instructions of the first block.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/refpmu_work.h"

#define DEVICES "/sys/bus/pci/devices"

/* Turns of the shorter loop. They evict what they can from the cache, as the longer one does. */
#define SHORT 1024

static volatile uint64_t *page;

static void find_page(void)
{
	DIR *folder = opendir(DEVICES);
	char path[512], id[16];
	struct dirent *each;

	while ((each = readdir(folder))) {
		snprintf(path, sizeof(path), DEVICES "/%s/device", each->d_name);
		FILE *file = fopen(path, "r");

		if (!file)
			continue;
		int same = fgets(id, sizeof(id), file) && !strcmp(id, "0x1110\n");

		fclose(file);
		if (!same)
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/resource2", each->d_name);
		int bar = open(path, O_RDWR);
		void *mapped = mmap(NULL, REFPMU_WORK_WORDS * 8, PROT_READ, MAP_SHARED, bar, 0);

		if (bar < 0 || mapped == MAP_FAILED)
			break;
		page = mapped;
		return;
	}
	fprintf(stderr, "no work page\n");
	exit(1);
}

struct counts {
	uint64_t words[2 * REFPMU_WORK_EVENTS];
};

static void read_counts(int block, struct counts *now)
{
	for (int i = 0; i < 2 * REFPMU_WORK_EVENTS; i++)
		now->words[i] = page[REFPMU_WORK_BLOCK * (1 + block) + i];
}

static char memory[1 << 20] __attribute__((aligned(4096)));

/* Two instructions and a branch, taken except the last one. */
static void empty(long n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r"(n));
}

/* A load, a store, and an instruction that does both. */
static void accesses(long n)
{
	uint64_t value;

	asm volatile("1: mov (%2), %1; mov %1, 8(%2); addq $1, 16(%2); dec %0; jnz 1b"
		     : "+r"(n), "=&r"(value) : "r"(memory) : "memory", "cc");
}

/* A near call (a store) and a near return (a load), besides the branch. */
static void calls(long n)
{
	asm volatile("sub $128, %%rsp; jmp 2f; 3: ret; 2: 1: call 3b; dec %0; jnz 1b; add $128, %%rsp"
		     : "+r"(n) : : "memory", "cc");
}

/* An indirect call through memory: two accesses by one instruction. */
static void indirect(long n)
{
	uint64_t target = 0;

	asm volatile("sub $128, %%rsp; lea 3f(%%rip), %1; mov %1, (%2); jmp 1f; 3: ret;"
		     "1: call *(%2); dec %0; jnz 1b; add $128, %%rsp"
		     : "+r"(n), "+r"(target) : "r"(memory) : "memory", "cc");
}

/* A branch that is never taken, and a jump to the next instruction. */
static void untaken(long n)
{
	asm volatile("xor %%eax, %%eax; 1: test %%eax, %%eax; jnz 2f; jmp 3f; 3: dec %0; 2: jnz 1b"
		     : "+r"(n) : : "eax", "cc");
}

/* A load of the next line of 64 KiB, in a circle: the cache never has it. */
static void misses(long n)
{
	char *at = memory;

	asm volatile("1: mov (%1), %%eax; add $64, %1; cmp %2, %1; jb 2f; mov %3, %1; 2: dec %0; jnz 1b"
		     : "+r"(n), "+&r"(at) : "r"(memory + 65536), "r"(memory) : "eax", "memory", "cc");
}

static void syscalls(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static const struct {
	const char *name;
	void (*run)(long n);
} loops[] = {
	{ "empty", empty }, { "accesses", accesses }, { "calls", calls }, { "indirect", indirect },
	{ "untaken", untaken }, { "misses", misses }, { "syscalls", syscalls },
};

static const char *const names[REFPMU_WORK_EVENTS] = {
	"instructions", "branches", "calls", "returns", "loads", "stores", "taken",
	"l1d-load-misses", "l1d-store-misses", "l1i-misses",
};

static struct counts spend(int block, void (*run)(long n), long n)
{
	struct counts before, after;

	read_counts(block, &before);
	run(n);
	read_counts(block, &after);
	for (int i = 0; i < 2 * REFPMU_WORK_EVENTS; i++)
		after.words[i] -= before.words[i];
	return after;
}

int main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 1 };

	/* No other program of this CPU counts in a loop. */
	if (sched_setscheduler(0, SCHED_FIFO, &first)) {
		perror("sched_setscheduler");
		return 1;
	}
	find_page();
	memset(memory, 1, sizeof(memory));
	printf("header %d %llu %llu %llu %llu\n", page[REFPMU_WORK_WORD_MAGIC] == REFPMU_WORK_MAGIC,
	       (unsigned long long)page[REFPMU_WORK_WORD_EVENTS],
	       (unsigned long long)page[REFPMU_WORK_WORD_CPUS],
	       (unsigned long long)page[REFPMU_WORK_WORD_ICOUNT],
	       (unsigned long long)page[REFPMU_WORK_BLOCK +
					REFPMU_WORK_WORD(REFPMU_WORK_INSTRUCTIONS, 1)]);
	int block = atoi(argv[1]);
	long turns = atol(argv[2]);

	for (int i = 3; i < argc; i++) {
		for (unsigned int k = 0; k < sizeof(loops) / sizeof(*loops); k++) {
			if (strcmp(loops[k].name, argv[i]))
				continue;
			spend(block, loops[k].run, SHORT); /* the pages are present after it */
			struct counts little = spend(block, loops[k].run, SHORT);
			struct counts much = spend(block, loops[k].run, SHORT + turns);

			for (int e = 0; e < REFPMU_WORK_EVENTS; e++)
				printf("%s %s %lld %lld\n", argv[i], names[e],
				       (long long)(much.words[2 * e] - little.words[2 * e]),
				       (long long)(much.words[2 * e + 1] - little.words[2 * e + 1]));
		}
	}
	return 0;
}
