// SPDX-License-Identifier: GPL-2.0-only
/* The interrupt as an NMI, on x86: a local APIC delivers one to the CPU that asks it to. */
#include <linux/cpufeature.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "refpmu.h"

/*
 * Nobody else's NMI is taken: perf, the watchdog and whoever sends backtraces share the vector,
 * and a handler that claims what is not its own hides theirs.
 */
static int handle(unsigned int type, struct pt_regs *regs)
{
	unsigned int i, handled = NMI_DONE;

	for (i = 0; i < refpmu_devices_count; i++)
		handled += refpmu_nmi(this_cpu_ptr(refpmu_devices[i].cpus)) == IRQ_HANDLED;
	return handled;
}

/* Take part in the NMIs of all CPUs; -EOPNOTSUPP if there is no way to send one. May sleep. */
int refpmu_nmi_setup(void)
{
	if (!boot_cpu_has(X86_FEATURE_APIC))
		return -EOPNOTSUPP;
	return register_nmi_handler(NMI_LOCAL, handle, 0, "refpmu");
}

/* Nothing runs in the handler any more when this returns. */
void refpmu_nmi_teardown(void)
{
	unregister_nmi_handler(NMI_LOCAL, "refpmu");
}

/* One to this CPU, interrupts off. It comes at once, or when the one that is handled is over. */
void refpmu_nmi_send(void)
{
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
}
