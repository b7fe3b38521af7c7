/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wrappers of kernel functions that the driver calls, in a kernel with the KUnit suites. One call
 * can be made to fail, and the resources that the driver holds are counted. driver/Kbuild includes
 * this header before each file of the driver except core/ and model/.
 */
#ifndef REFPMU_KUNIT_FAILING_H
#define REFPMU_KUNIT_FAILING_H

#include <linux/cpuhotplug.h>
#include <linux/miscdevice.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/nmi.h>
#endif

/* Let the @nth call from now on fail, counted from 1. 0 disables this. */
void failing_arm(unsigned int nth);

/* Return true until that call has happened. */
bool failing_armed(void);

/*
 * Return the errno that the caller of the driver must see after the failure; 0 if the driver can
 * continue without the failed call.
 */
int failing_errno(void);

/* Return the number of allocations and registrations that the driver has not released. */
unsigned int failing_unreleased(void);

void *failing_kzalloc(size_t size, gfp_t flags);
void *failing_kcalloc(size_t n, size_t size, gfp_t flags);
void *failing_kvzalloc(size_t size, gfp_t flags);
void *failing_kvcalloc(size_t n, size_t size, gfp_t flags);
void *failing_kvmalloc_array(size_t n, size_t size, gfp_t flags);
__printf(2, 3) char *failing_kasprintf(gfp_t flags, const char *format, ...);
void failing_kfree(const void *memory);
void failing_kvfree(const void *memory);
void __percpu *failing_alloc_percpu(size_t size, size_t align);
void failing_free_percpu(void __percpu *memory);
void *failing_vmap(struct page **pages, unsigned int n, unsigned long flags, pgprot_t prot);
void failing_vunmap(const void *memory);
struct kmem_cache *failing_cache_create(const char *name, unsigned int size, unsigned int align,
					slab_flags_t flags, void (*ctor)(void *memory));
void failing_cache_destroy(struct kmem_cache *cache);
int failing_misc_register(struct miscdevice *misc);
void failing_misc_deregister(struct miscdevice *misc);
int failing_pmu_register(struct pmu *pmu, const char *name, int type);
void failing_pmu_unregister(struct pmu *pmu);
/* Warns if the PMU is not registered. */
void failing_pmu_migrate(struct pmu *pmu, int from, int to);
int failing_cpuhp_setup(enum cpuhp_state state, const char *name,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu));
int failing_cpuhp_setup_locked(enum cpuhp_state state, const char *name,
			       int (*startup)(unsigned int cpu),
			       int (*teardown)(unsigned int cpu));
void failing_cpuhp_remove(enum cpuhp_state state);
void failing_cpuhp_remove_calls(enum cpuhp_state state);
void failing_cpuhp_remove_locked(enum cpuhp_state state, bool invoke);
#ifdef CONFIG_X86_LOCAL_APIC
int failing_nmi_register(unsigned int type, struct nmiaction *action);
void failing_nmi_unregister(unsigned int type, const char *name);
#endif

/* Some of these functions are macros on some kernels. */
#ifndef REFPMU_KUNIT_FAILING_C
#undef kzalloc
#undef kcalloc
#undef kvzalloc
#undef kvcalloc
#undef kvmalloc_array
#undef kasprintf
#undef alloc_percpu
#undef kmem_cache_create
#define kzalloc failing_kzalloc
#define kcalloc failing_kcalloc
#define kvzalloc failing_kvzalloc
#define kvcalloc failing_kvcalloc
#define kvmalloc_array failing_kvmalloc_array
#define kasprintf failing_kasprintf
#define kfree failing_kfree
#define kvfree failing_kvfree
#define alloc_percpu(type)							\
	((typeof(type) __percpu *)failing_alloc_percpu(sizeof(type), __alignof__(type)))
#define free_percpu failing_free_percpu
#define vmap failing_vmap
#define vunmap failing_vunmap
#define kmem_cache_create failing_cache_create
#define kmem_cache_destroy failing_cache_destroy
#define misc_register failing_misc_register
#define misc_deregister failing_misc_deregister
#define perf_pmu_register failing_pmu_register
#define perf_pmu_unregister failing_pmu_unregister
#define perf_pmu_migrate_context failing_pmu_migrate
#define cpuhp_setup_state failing_cpuhp_setup
#define cpuhp_setup_state_nocalls_cpuslocked failing_cpuhp_setup_locked
#define cpuhp_remove_state_nocalls failing_cpuhp_remove
#define cpuhp_remove_state failing_cpuhp_remove_calls
#define __cpuhp_remove_state_cpuslocked failing_cpuhp_remove_locked
#ifdef CONFIG_X86_LOCAL_APIC
#define __register_nmi_handler failing_nmi_register
#define unregister_nmi_handler failing_nmi_unregister
#endif
#endif

#endif /* REFPMU_KUNIT_FAILING_H */
