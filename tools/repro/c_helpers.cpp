// SPDX-License-Identifier: Apache-2.0
// The helper functions of programs in C.
// Longer than 500 lines: it is one text, which a printed program contains whole.
#include "tools/repro/c_helpers.h"

namespace pmuconf {

const char kProgramCHelpers[] = R"c(#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum who { THIS_TASK, OTHER_TASK, EVERYONE, NOBODY, EXITED, CGROUP, A_FILE };
enum group { NONE, CLOSED, GROUP_FILE };

int fds[SLOTS], ring_writable[SLOTS], file_fd, cgroup_fd, child_fd, second_off;
unsigned char *rings[SLOTS], *auxes[SLOTS];
__thread unsigned char *memory;
size_t ring_sizes[SLOTS], aux_sizes[SLOTS], page;
pid_t child = -1, exited_child = -1;

void report(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

long missing(int error)
{
	errno = error;
	return -1;
}

void nothing(int number)
{
	(void)number;
}

/* Reads a number from a file; an invalid one if there is none. */
uint64_t number_in(const char *path, uint64_t otherwise)
{
	unsigned long long number = otherwise;
	FILE *file = fopen(path, "r");

	if (file && fscanf(file, "%llu", &number) != 1)
		number = otherwise;
	if (file)
		fclose(file);
	return number;
}

void read_at(int folder, const char *name, char *text, size_t size)
{
	const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	const ssize_t length = read(fd, text, size - 1);

	text[length > 0 ? length : 0] = 0;
	text[strcspn(text, " \n")] = 0;
	close(fd);
}

/* Enabling any controller for a cgroup creates perf's state of cgroups. */
int order(int folder, char sign, const char *controller)
{
	const int fd = openat(folder, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
	const int length = dprintf(fd, "%c%s", sign, controller);

	close(fd);
	return length > 0;
}

/* Returns the root cgroup, of a mount without a mount point; -1 if there is none. */
int root_cgroup(void)
{
	const int context = syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC);
	const int made = !syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	const int mounted = made ? syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0) : -1;
	const int folder = openat(mounted, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char known[256], given[256];

	close(context);
	if (!made)
		return -1;
	close(mounted);
	read_at(folder, "cgroup.controllers", known, sizeof(known));
	read_at(folder, "cgroup.subtree_control", given, sizeof(given));
	if (!*known || (!*given && (!order(folder, '+', known) || !order(folder, '-', known))))
		return -1;
	return folder;
}

sigset_t signal_set(int slot);

void start(void)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	const sigset_t set = signal_set(-1);
	int i;

	sigprocmask(SIG_BLOCK, &set, NULL);
	setrlimit(RLIMIT_SIGPENDING, &all);
	for (i = 0; i < SLOTS; i++)
		fds[i] = -1;
	page = sysconf(_SC_PAGESIZE);
	file_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	cgroup_fd = root_cgroup();
	if (file_fd < 0) {
		perror("cannot start");
		exit(2);
	}
	signal(SIGTRAP, nothing);
	signal(SIGIO, nothing);
}

/* Numbers of this machine: types of PMUs and ids of tracepoints. */
void bind_numbers(struct perf_event_attr *attr)
{
	const uint32_t own = number_in("/sys/bus/event_source/devices/" PMU "/type", 0x40f00001);

	if ((attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
	    attr->config >> 32 == OWN_TYPE)
		attr->config = (attr->config & 0xffffffff) | (uint64_t)own << 32;
	if (attr->type == OWN_TYPE)
		attr->type = own;
	if (attr->type == TRACE_TYPE)
		attr->type = number_in("/sys/bus/event_source/devices/" PMU "_trace/type", 0x40f00002);
	if (attr->type != PERF_TYPE_TRACEPOINT)
		return;
	if (attr->config == TRACEPOINTS)
		attr->config = number_in("/sys/kernel/tracing/events/sched/sched_switch/id", 1ull << 40);
	else if (attr->config == TRACEPOINTS + 1)
		attr->config = number_in("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", 1ull << 40);
	else
		attr->config |= 1ull << 40;
}

unsigned char *place(const unsigned char *bytes, size_t readable)
{
	unsigned char whole[256];
	struct perf_event_attr attr;

	/* Two pages for each task, of which it can read one. */
	if (!memory) {
		memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE)) {
			perror("cannot map memory");
			exit(2);
		}
	}
	memcpy(whole, bytes, sizeof(whole));
	memcpy(&attr, whole, 128);
	bind_numbers(&attr);
	memcpy(whole, &attr, 128);
	memcpy(memory + page - readable, whole, readable);
	return memory + page - readable;
}

long unmap(int slot)
{
	long value;

	if (!rings[slot])
		return missing(ENOENT);
	value = munmap(rings[slot], ring_sizes[slot]);
	rings[slot] = NULL;
	return value;
}

long unmap_aux(int slot)
{
	long value;

	if (!auxes[slot])
		return missing(ENOENT);
	value = munmap(auxes[slot], aux_sizes[slot]);
	auxes[slot] = NULL;
	return value;
}

long open_event(int slot, int leader, const unsigned char *bytes, size_t readable, enum who who,
		int cpu, int group, unsigned long flags, int descriptors, int rights)
{
	const pid_t pids[] = {0, child > 0 ? child : 0x3fffffff, -1, 0x3fffffff,
			      exited_child > 0 ? exited_child : 0x3fffffff,
			      cgroup_fd < 0 ? file_fd : cgroup_fd, file_fd};
	const unsigned char *attr = place(bytes, readable);
	int group_fd = -1;
	struct rlimit before, none;
	long value;
	int error;

	if (group != NONE)
		group_fd = group == GROUP_FILE ? file_fd : group == CLOSED ? 99999 : fds[leader];
	if (group != NONE && group_fd < 0)
		group_fd = 99999;
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	if (!descriptors)
		setrlimit(RLIMIT_NOFILE, &none);
	if (!rights && syscall(SYS_setresuid, 65534, 65534, 0))
		return -1;
	value = syscall(SYS_perf_event_open, attr, pids[who], cpu, group_fd, flags);
	error = errno;
	if (!rights && syscall(SYS_setresuid, 0, 0, 0))
		exit(2);
	if (!descriptors)
		setrlimit(RLIMIT_NOFILE, &before);
	if (value >= 0) {
		unmap_aux(slot);
		unmap(slot);
		if (fds[slot] >= 0)
			close(fds[slot]);
		fds[slot] = value;
	}
	errno = error;
	return value;
}

long map(int slot, unsigned order, int writable)
{
	const size_t size = page * (1 + (1ul << order));
	void *at;

	if (rings[slot])
		return missing(EBUSY);
	at = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fds[slot], 0);
	if (at == MAP_FAILED)
		return -1;
	rings[slot] = at;
	ring_sizes[slot] = size;
	ring_writable[slot] = writable;
	return 0;
}

/* The control page must have the offset and size of the area. */
long map_aux(int slot, unsigned order, int writable)
{
	struct perf_event_mmap_page *user = (void *)rings[slot];
	const size_t size = page << order;
	void *at;

	if (auxes[slot])
		return missing(EBUSY);
	if (user && ring_writable[slot]) {
		user->aux_offset = AUX_PAGE * page;
		user->aux_size = size;
	}
	at = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fds[slot],
		  AUX_PAGE * page);
	if (at == MAP_FAILED)
		return -1;
	auxes[slot] = at;
	aux_sizes[slot] = size;
	return 0;
}

/* A mapping of an unusual length or offset; without the control page it is unmapped again. */
long map_any(int slot, size_t size, size_t offset, int shared, int writable)
{
	void *at = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			shared ? MAP_SHARED : MAP_PRIVATE, fds[slot], offset * page);

	if (at == MAP_FAILED)
		return -1;
	if (offset)
		return munmap(at, size);
	if (rings[slot]) {
		munmap(at, size);
		return missing(EBUSY);
	}
	rings[slot] = at;
	ring_sizes[slot] = size;
	ring_writable[slot] = writable;
	return 0;
}

/* Makes the ring buffer smaller, or read-only. */
long remap(int slot, int read_only)
{
	void *at;

	if (!rings[slot])
		return missing(ENOENT);
	if (read_only) {
		ring_writable[slot] = 0;
		return mprotect(rings[slot], ring_sizes[slot], PROT_READ);
	}
	at = mremap(rings[slot], ring_sizes[slot], page, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		return -1;
	rings[slot] = at;
	ring_sizes[slot] = page;
	return 0;
}

long tail(int slot, int aux, uint64_t value)
{
	struct perf_event_mmap_page *user = (void *)rings[slot];

	if (!user || !ring_writable[slot])
		return missing(ENOENT);
	__atomic_store_n(aux ? &user->aux_tail : &user->data_tail, value, __ATOMIC_RELEASE);
	return 0;
}

/* Each CPU, the first, or the second. */
long affinity(int which)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!which || cpu == which - 1)
			CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

long drain(int slot)
{
	struct perf_event_mmap_page *user = (void *)rings[slot];
	uint64_t head, aux_head;

	if (!user)
		return missing(ENOENT);
	head = __atomic_load_n(&user->data_head, __ATOMIC_ACQUIRE);
	aux_head = __atomic_load_n(&user->aux_head, __ATOMIC_ACQUIRE);
	if (ring_writable[slot]) {
		__atomic_store_n(&user->data_tail, head, __ATOMIC_RELEASE);
		__atomic_store_n(&user->aux_tail, aux_head, __ATOMIC_RELEASE);
	}
	return head + aux_head;
}

long read_event(int slot, size_t size)
{
	char bytes[512];

	return read(fds[slot], bytes, size);
}

long poll_event(int slot)
{
	struct pollfd waited = {fds[slot], POLLIN, 0};

	return poll(&waited, 1, 0);
}

long duplicate(int slot, int to)
{
	int fd;

	if (fds[slot] < 0)
		return missing(EBADF);
	if (fds[to] >= 0 || rings[to] || auxes[to])
		return missing(EBUSY);
	fd = fcntl(fds[slot], F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		fds[to] = fd;
	return fd;
}

/* The signals of the slots; of one of them, if the number is not negative. */
sigset_t signal_set(int slot)
{
	sigset_t set;
	int i;

	sigemptyset(&set);
	for (i = 0; i < SLOTS; i++)
		if (slot < 0 || slot == i)
			sigaddset(&set, SIGRTMIN + i);
	return set;
}

long signals(int slot, int take)
{
	const struct f_owner_ex owner = {F_OWNER_TID, syscall(SYS_gettid)};
	const struct timespec at_once = {0, 0};
	const sigset_t set = signal_set(slot);
	long count = 0;

	if (!take) {
		if (fcntl(fds[slot], F_SETSIG, SIGRTMIN + slot) ||
		    fcntl(fds[slot], F_SETOWN_EX, &owner))
			return -1;
		return fcntl(fds[slot], F_SETFL, O_ASYNC);
	}
	while (sigtimedwait(&set, NULL, &at_once) > 0)
		count++;
	return count;
}

long close_event(int slot)
{
	const int fd = fds[slot];

	fds[slot] = -1;
	return close(fd);
}

long work(int which, uint64_t rounds)
{
	volatile uint64_t spun = 0;
	volatile char *bytes;
	uint64_t i;

	if (which == 1) {
		bytes = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if ((void *)bytes == MAP_FAILED)
			return -1;
		for (i = 0; i < rounds && i < 8; i++)
			bytes[i * page] = 1;
		return munmap((void *)bytes, 8 * page);
	}
	for (i = 0; i < rounds; i++) {
		if (which == 0)
			spun += i;
		if (which == 2)
			sched_yield();
		if (which == 3)
			syscall(SYS_getppid);
	}
	return 0;
}

/* As in the reference driver's include/uapi/refpmu.h. */
struct pulse {
	uint32_t size;
	int32_t cpu;
	uint32_t event, privilege;
	uint64_t n, ip, addr;
	uint32_t skid, per_pulse, latency, reserved;
	uint64_t source, response, regs, done;
};

long pulse(uint32_t code, uint64_t n)
{
	struct pulse arg = {.size = sizeof(arg), .cpu = -1, .event = code, .privilege = n % 2, .n = n};
	const int fd = open("/dev/" PMU, O_RDWR | O_CLOEXEC);
	long value;

	if (fd < 0)
		return missing(ENXIO);
	value = ioctl(fd, _IOWR(0xB7, 2, struct pulse), &arg);
	close(fd);
	return value;
}

struct advance {
	uint32_t size;
	int32_t cpu;
	uint32_t privilege, skid;
	uint64_t ticks, ip, done;
};

long advance(uint32_t privilege, uint64_t ticks)
{
	struct advance arg = {.size = sizeof(arg), .cpu = -1, .privilege = privilege, .ticks = ticks};
	const int fd = open("/dev/" PMU, O_RDWR | O_CLOEXEC);
	long value;

	if (fd < 0)
		return missing(ENXIO);
	value = ioctl(fd, _IOWR(0xB7, 4, struct advance), &arg);
	close(fd);
	return value;
}

struct pulses {
	uint32_t code, n;
};

void obey(int fd)
{
	struct pulses pulses;
	char letter;
	int way;

	while (read(fd, &letter, 1) == 1 && letter != '0') {
		if (letter == '1') {
			execl("/bin/true", "/bin/true", NULL);
			_exit(127);
		}
		if (letter == 'p') {
			if (read(fd, &pulses, sizeof(pulses)) != sizeof(pulses))
				break;
			if (pulse(pulses.code, pulses.n))
				letter = 'e';
			if (write(fd, &letter, 1) != 1)
				break;
			continue;
		}
		for (way = 0; way < 4; way++)
			work(way, 16);
		if (write(fd, &letter, 1) != 1)
			break;
	}
	_exit(0);
}

long fork_one(void)
{
	int ends[2];
	pid_t pid;

	if (child > 0)
		return missing(EBUSY);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		obey(ends[1]);
	}
	close(ends[1]);
	if (pid > 0) {
		child = pid;
		child_fd = ends[0];
	}
	return pid;
}

long child_pulse(uint32_t code, uint64_t n)
{
	const struct pulses pulses = {code, n};
	char letter = 'p';

	if (child < 0)
		return missing(ECHILD);
	if (send(child_fd, &letter, 1, MSG_NOSIGNAL) != 1 ||
	    send(child_fd, &pulses, sizeof(pulses), MSG_NOSIGNAL) != sizeof(pulses) ||
	    read(child_fd, &letter, 1) != 1)
		return missing(EPIPE);
	return letter == 'p' ? 0 : missing(EIO);
}

long let_child(int which)
{
	char letter = '0' + which;
	siginfo_t info;
	long value;

	if (child < 0)
		return missing(ECHILD);
	if (send(child_fd, &letter, 1, MSG_NOSIGNAL) != 1)
		letter = '0';
	if (letter == '2' && read(child_fd, &letter, 1) == 1)
		return 0;
	value = waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	if (exited_child > 0)
		waitpid(exited_child, NULL, 0);
	exited_child = child;
	child = -1;
	close(child_fd);
	return value;
}

struct branch_entry {
	uint64_t from, to;
	uint32_t kind, flags, cycles, privilege;
};

struct branches {
	uint32_t size;
	int32_t cpu;
	uint64_t entries;
	uint32_t count, reserved;
	uint64_t done;
};

long branch(const char *port, uint64_t n)
{
	struct branch_entry entries[256];
	struct branches arg = {.size = sizeof(arg), .cpu = -1, .entries = (uintptr_t)entries};
	const int fd = open(port, O_RDWR | O_CLOEXEC);
	long value;

	if (fd < 0)
		return missing(ENXIO);
	memset(entries, 0, sizeof(entries));
	for (arg.count = 0; arg.count < n && arg.count < 256; arg.count++) {
		struct branch_entry *entry = &entries[arg.count];

		entry->privilege = (n + arg.count) % 2;
		entry->from = (entry->privilege ? 0xffffffff81000000ull : 0x401000) + arg.count * 0x40;
		entry->to = entry->from + 0x40;
		entry->kind = arg.count % 7;
	}
	value = ioctl(fd, _IOWR(0xB7, 10, struct branches), &arg);
	close(fd);
	return value;
}

int bpf_program(void)
{
	static int fd = -1;
	struct bpf_insn code[2] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	if (fd < 0)
		fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd;
}

/* PERF_EVENT_IOC_MODIFY_ATTRIBUTES changes the breakpoint. */
long modify(int slot, uint64_t value)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = 128, .disabled = 1};

	attr.bp_type = 1 + value % 3;
	attr.bp_addr = value & ~7ull & 0xffffff;
	attr.bp_len = 8;
	return ioctl(fds[slot], PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

long second_cpu(int on)
{
	const int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC);
	const long value = fd < 0 ? -1 : write(fd, on ? "1" : "0", 1);

	if (fd >= 0)
		close(fd);
	if (value >= 0)
		second_off = !on;
	return value;
}

void finish(void)
{
	if (child > 0)
		kill(child, SIGKILL);
	if (second_off)
		second_cpu(1);
}
)c";

}  // namespace pmuconf
