// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work page is BAR 2 of an ivshmem device (uapi/refpmu_work.h). A plugin of the emulator writes
 * it; docs/exact-pmu.md describes how to start such a machine.
 */
#include <linux/io.h>
#include <linux/pci.h>

#include "work_page.h"

#define VENDOR 0x1af4
#define IVSHMEM 0x1110
#define BAR 2

/* Without icount an instruction takes a few nanoseconds of the machine's time. */
#define SHIFT_WITHOUT_ICOUNT 2

static struct pci_dev *device;
static u64 *page;

/* Map BAR 2 of @dev. Return NULL if it is not a work page. */
static u64 *map(struct pci_dev *dev)
{
	const size_t size = REFPMU_WORK_WORDS * sizeof(u64);
	u64 *words;

	if (pci_resource_len(dev, BAR) < size)
		return NULL;
	words = memremap(pci_resource_start(dev, BAR), size, MEMREMAP_WB);
	if (words && READ_ONCE(words[REFPMU_WORK_WORD_MAGIC]) != REFPMU_WORK_MAGIC) {
		memunmap(words);
		return NULL;
	}
	return words;
}

static void find(void)
{
	struct pci_dev *dev = NULL;

	while (!page && (dev = pci_get_device(VENDOR, IVSHMEM, dev))) {
		if (pci_enable_device(dev))
			continue;
		page = map(dev);
		if (page)
			device = pci_dev_get(dev);
		else
			pci_disable_device(dev);
	}
	pci_dev_put(dev);
}

static int check(void)
{
	const u64 cpus = page[REFPMU_WORK_WORD_CPUS];

	if (!(page[REFPMU_WORK_WORD_EVENTS] & BIT_ULL(REFPMU_WORK_INSTRUCTIONS))) {
		pr_err("refpmu: work=1: the work page does not count instructions\n");
		return -EINVAL;
	}
	if (nr_cpu_ids > cpus || cpus > REFPMU_WORK_CPUS) {
		pr_err("refpmu: work=1: the work page counts %llu CPUs, and the machine has %u\n",
		       cpus, nr_cpu_ids);
		return -EINVAL;
	}
	return 0;
}

/* Map the work page. Return 0, or an errno after a message about what is missing. */
int refpmu_work_map(void)
{
	int err;

	find();
	if (!page) {
		pr_err("refpmu: work=1: no work page: the emulator runs without its plugin\n");
		return -ENODEV;
	}
	err = check();
	if (err)
		refpmu_work_unmap();
	return err;
}

void refpmu_work_unmap(void)
{
	if (!page)
		return;
	memunmap(page);
	page = NULL;
	pci_disable_device(device);
	pci_dev_put(device);
	device = NULL;
}

/* Let the clock of @cpuc count work, if the page is mapped. The clock must be stopped. */
void refpmu_work_connect(struct refpmu_cpu *cpuc)
{
	const u64 icount = page ? page[REFPMU_WORK_WORD_ICOUNT] : 0;

	if (!page)
		return;
	cpuc->work.events = page[REFPMU_WORK_WORD_EVENTS];
	cpuc->work.shift = icount ? icount - 1 : SHIFT_WITHOUT_ICOUNT;
	cpuc->work.counts = page + (1 + cpuc->cpu) * REFPMU_WORK_BLOCK;
}
