// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wrappers of kernel functions that the driver calls. One call can be made to fail, and the
 * resources that the driver holds are counted.
 */
#define REFPMU_KUNIT_FAILING_C
#include <linux/spinlock.h>

#include "failing.h"

/* More resources than the driver holds at any time. */
#define MAX_TRACKED 1024

static struct {
	raw_spinlock_t lock;
	/* number of calls until the one that fails, including it; 0: none fails */
	unsigned int left;
	int err; /* errno that the failed call causes */
	unsigned int n;
	const void *tracked[MAX_TRACKED];
} failing = { .lock = __RAW_SPIN_LOCK_UNLOCKED(failing.lock) };

void failing_arm(unsigned int nth)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&failing.lock, flags);
	failing.left = nth;
	failing.err = 0;
	raw_spin_unlock_irqrestore(&failing.lock, flags);
}

bool failing_armed(void)
{
	return READ_ONCE(failing.left);
}

int failing_errno(void)
{
	return READ_ONCE(failing.err);
}

unsigned int failing_unreleased(void)
{
	return READ_ONCE(failing.n);
}

/*
 * Return true if this call must fail. @err is the errno that the caller of the driver must then
 * see.
 */
static bool must_fail(int err)
{
	unsigned long flags;
	bool now;

	raw_spin_lock_irqsave(&failing.lock, flags);
	now = failing.left && !--failing.left;
	if (now)
		failing.err = err;
	raw_spin_unlock_irqrestore(&failing.lock, flags);
	return now;
}

static void track(const void *what)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&failing.lock, flags);
	if (!WARN_ON_ONCE(failing.n == MAX_TRACKED))
		failing.tracked[failing.n++] = what;
	raw_spin_unlock_irqrestore(&failing.lock, flags);
}

static void *track_memory(void *memory)
{
	if (memory)
		track(memory);
	return memory;
}

static int track_registration(const void *what, int err)
{
	if (err >= 0)
		track(what);
	return err;
}

static bool is_tracked(const void *what)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&failing.lock, flags);
	for (i = 0; i < failing.n && failing.tracked[i] != what; i++)
		;
	raw_spin_unlock_irqrestore(&failing.lock, flags);
	return i < failing.n;
}

/* The driver also frees memory that perf allocated, which is not in the list. */
static void untrack(const void *what)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&failing.lock, flags);
	for (i = 0; i < failing.n && failing.tracked[i] != what; i++)
		;
	if (i < failing.n)
		failing.tracked[i] = failing.tracked[--failing.n];
	raw_spin_unlock_irqrestore(&failing.lock, flags);
}

/*
 * Identify a hotplug callback by its state, and an NMI handler by its type. No address is that low.
 */
static const void *as_pointer(unsigned int i)
{
	return (const void *)(uintptr_t)(i + 1);
}

#define NMIS 0x1000 /* larger than each hotplug state */

void *failing_kzalloc(size_t size, gfp_t flags)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(kzalloc(size, flags));
}

void *failing_kcalloc(size_t n, size_t size, gfp_t flags)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(kcalloc(n, size, flags));
}

void *failing_kvzalloc(size_t size, gfp_t flags)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(kvzalloc(size, flags));
}

void *failing_kvcalloc(size_t n, size_t size, gfp_t flags)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(kvcalloc(n, size, flags));
}

void *failing_kvmalloc_array(size_t n, size_t size, gfp_t flags)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(kvmalloc_array(n, size, flags));
}

char *failing_kasprintf(gfp_t flags, const char *format, ...)
{
	va_list args;
	char *text;

	if (must_fail(-ENOMEM))
		return NULL;
	va_start(args, format);
	text = track_memory(kvasprintf(flags, format, args));
	va_end(args);
	return text;
}

void failing_kfree(const void *memory)
{
	untrack(memory);
	kfree(memory);
}

void failing_kvfree(const void *memory)
{
	untrack(memory);
	kvfree(memory);
}

void __percpu *failing_alloc_percpu(size_t size, size_t align)
{
	void __percpu *memory = must_fail(-ENOMEM) ? NULL : __alloc_percpu(size, align);

	track_memory((__force void *)memory);
	return memory;
}

void failing_free_percpu(void __percpu *memory)
{
	untrack((__force void *)memory);
	free_percpu(memory);
}

void *failing_vmap(struct page **pages, unsigned int n, unsigned long flags, pgprot_t prot)
{
	return must_fail(-ENOMEM) ? NULL : track_memory(vmap(pages, n, flags, prot));
}

void failing_vunmap(const void *memory)
{
	untrack(memory);
	vunmap(memory);
}

struct kmem_cache *failing_cache_create(const char *name, unsigned int size, unsigned int align,
					slab_flags_t flags, void (*ctor)(void *memory))
{
	return must_fail(-ENOMEM) ? NULL :
	       track_memory(kmem_cache_create(name, size, align, flags, ctor));
}

void failing_cache_destroy(struct kmem_cache *cache)
{
	untrack(cache);
	kmem_cache_destroy(cache);
}

int failing_misc_register(struct miscdevice *misc)
{
	return must_fail(-EBUSY) ? -EBUSY : track_registration(misc, misc_register(misc));
}

void failing_misc_deregister(struct miscdevice *misc)
{
	untrack(misc);
	misc_deregister(misc);
}

int failing_pmu_register(struct pmu *pmu, const char *name, int type)
{
	return must_fail(-EBUSY) ? -EBUSY :
	       track_registration(pmu, perf_pmu_register(pmu, name, type));
}

void failing_pmu_unregister(struct pmu *pmu)
{
	untrack(pmu);
	perf_pmu_unregister(pmu);
}

/* perf would search its lists for events of a PMU that does not exist. */
void failing_pmu_migrate(struct pmu *pmu, int from, int to)
{
	WARN_ON_ONCE(!is_tracked(pmu));
	perf_pmu_migrate_context(pmu, from, to);
}

static int cpuhp_registered(int state)
{
	return track_registration(as_pointer(state), state);
}

int failing_cpuhp_setup(enum cpuhp_state state, const char *name,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu))
{
	if (must_fail(-ENOSPC))
		return -ENOSPC;
	return cpuhp_registered(cpuhp_setup_state(state, name, startup, teardown));
}

int failing_cpuhp_setup_locked(enum cpuhp_state state, const char *name,
			       int (*startup)(unsigned int cpu),
			       int (*teardown)(unsigned int cpu))
{
	if (must_fail(-ENOSPC))
		return -ENOSPC;
	return cpuhp_registered(cpuhp_setup_state_nocalls_cpuslocked(state, name, startup,
								     teardown));
}

void failing_cpuhp_remove(enum cpuhp_state state)
{
	untrack(as_pointer(state));
	cpuhp_remove_state_nocalls(state);
}

void failing_cpuhp_remove_calls(enum cpuhp_state state)
{
	untrack(as_pointer(state));
	cpuhp_remove_state(state);
}

void failing_cpuhp_remove_locked(enum cpuhp_state state, bool invoke)
{
	untrack(as_pointer(state));
	__cpuhp_remove_state_cpuslocked(state, invoke);
}

#ifdef CONFIG_X86_LOCAL_APIC
/* Without an NMI the driver uses an irq_work, so the failure has no errno. */
int failing_nmi_register(unsigned int type, struct nmiaction *action)
{
	if (must_fail(0))
		return -EBUSY;
	return track_registration(as_pointer(NMIS + type), __register_nmi_handler(type, action));
}

void failing_nmi_unregister(unsigned int type, const char *name)
{
	untrack(as_pointer(NMIS + type));
	unregister_nmi_handler(type, name);
}
#endif
