// SPDX-License-Identifier: GPL-2.0-only
/* Deliver the interrupt as an NMI, on x86: the local APIC can send an NMI to its own CPU. */
#include <linux/cpufeature.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "irq.h"
#include "nmi.h"

/*
 * Claim only NMIs that this driver has raised. perf, the watchdog and backtraces share the vector,
 * and a handler that claims a foreign NMI hides it from its owner.
 */
static int handle(unsigned int type, struct pt_regs *regs)
{
	unsigned int i, handled = NMI_DONE;

	for (i = 0; i < refpmu_devices_count; i++)
		handled += refpmu_nmi(this_cpu_ptr(refpmu_devices[i].cpus)) == IRQ_HANDLED;
	return handled;
}

/*
 * Register a handler for the NMIs of all CPUs. Return -EOPNOTSUPP if the machine cannot send NMIs.
 * May sleep.
 */
int refpmu_nmi_setup(void)
{
	if (!boot_cpu_has(X86_FEATURE_APIC))
		return -EOPNOTSUPP;
	return register_nmi_handler(NMI_LOCAL, handle, 0, "refpmu");
}

/* The handler does not run on any CPU after this returns. */
void refpmu_nmi_teardown(void)
{
	unregister_nmi_handler(NMI_LOCAL, "refpmu");
}
