// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: the struct pmu, and its device in sysfs. */
#include <linux/kernfs.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "pmu_contract.h"

void pmu_contract_mandatory_callbacks_are_set(struct kunit *test)
{
	const struct dut *dut = test->priv;
	const struct pmu *pmu = dut->pmu;

	VERIFIES(test, "DRC-001", "DRC-002", "DRC-003", "DRC-005", "DRC-098", "DRC-103", "DRV-036");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->event_init, "event_init");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->add, "add");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->del, "del");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->start, "start");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->stop, "stop");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->read, "read");
	/* perf has filled in callbacks that may only be absent together. */
	KUNIT_EXPECT_TRUE_MSG(test, pmu->pmu_enable && pmu->pmu_disable, "one without the other");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->start_txn && pmu->commit_txn && pmu->cancel_txn,
			      "one without the others");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->check_period && pmu->event_idx, "no default");
	KUNIT_EXPECT_TRUE_MSG(test, !pmu->setup_aux == !pmu->free_aux, "one without the other");
	KUNIT_EXPECT_TRUE_MSG(test, !pmu->nr_addr_filters || (pmu->addr_filters_validate &&
							      pmu->addr_filters_sync),
			      "filters that nobody sets");
}

void pmu_contract_pmu_and_its_device_have_the_same_type_and_name(struct kunit *test)
{
	const struct dut *dut = test->priv;
	const struct pmu *pmu = dev_get_drvdata(dut->dev);

	VERIFIES(test, "DRC-007", "DRC-008", "DRC-104");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->name && !strcmp(pmu->name, dev_name(dut->dev)),
			      "the device is called %s", dev_name(dut->dev));
	KUNIT_EXPECT_TRUE_MSG(test, pmu->dev == dut->dev, "the PMU has another device");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->type >= 0, "its type is %d", pmu->type);
	/* perf found this PMU by its type, so no other PMU may have that type. */
	KUNIT_EXPECT_TRUE_MSG(test, dut->pmu == pmu || dut_is_software(dut),
			      "type %d is that of another PMU", pmu->type);
}

static bool has_attribute(const struct dut *dut, const char *name)
{
	struct kernfs_node *node = kernfs_find_and_get(dut->dev->kobj.sd, name);

	kernfs_put(node);
	return node;
}

void pmu_contract_device_has_the_attributes_of_perf(struct kunit *test)
{
	const struct dut *dut = test->priv;
	const struct pmu *pmu = dev_get_drvdata(dut->dev);

	VERIFIES(test, "DRC-103", "DRC-104");
	KUNIT_EXPECT_TRUE_MSG(test, has_attribute(dut, "type"), "no file type");
	KUNIT_EXPECT_TRUE_MSG(test, has_attribute(dut, "perf_event_mux_interval_ms"),
			      "no file perf_event_mux_interval_ms");
	KUNIT_EXPECT_TRUE_MSG(test, has_attribute(dut, "nr_addr_filters") == !!pmu->nr_addr_filters,
			      "nr_addr_filters, for %u", pmu->nr_addr_filters);
}

/* Visit the driver's files in one folder of its device. */
static void each_file(struct kunit *test, const char *folder, char *page,
		      void (*visit)(struct kunit *test, const char *name, const char *text))
{
	const struct dut *dut = test->priv;
	const struct pmu *pmu = dev_get_drvdata(dut->dev);
	const struct attribute_group **group;
	struct attribute **attr;

	for (group = pmu->attr_groups; group && *group; group++) {
		if (!(*group)->name || strcmp((*group)->name, folder))
			continue;
		for (attr = (*group)->attrs; attr && *attr; attr++) {
			struct device_attribute *file =
				container_of(*attr, struct device_attribute, attr);

			if ((*group)->is_visible &&
			    !(*group)->is_visible(&dut->dev->kobj, *attr, attr - (*group)->attrs))
				continue;
			KUNIT_EXPECT_TRUE_MSG(test, (*attr)->name && file->show,
					      "a file of %s has no name or cannot be read", folder);
			if (!(*attr)->name || !file->show)
				continue;
			memset(page, 0, PAGE_SIZE);
			KUNIT_EXPECT_TRUE_MSG(test, file->show(dut->dev, file, page) > 0,
					      "%s/%s cannot be read", folder, (*attr)->name);
			visit(test, (*attr)->name, page);
		}
	}
}

/*
 * Return true if @text is a format like "config1:0-7,21": a field, and bits in ascending order that
 * the field has.
 */
static bool is_format(const char *text)
{
	unsigned int from, to;
	int length = 0;

	if (sscanf(text, "config%n", &length) != 0 || !length)
		return false;
	text += length;
	if (*text >= '1' && *text <= '3')
		text++;
	do {
		text++; /* skip the colon or the comma */
		length = 0;
		if (sscanf(text, "%u%n", &from, &length) != 1)
			return false;
		text += length;
		to = from;
		if (*text == '-' && sscanf(text, "-%u%n", &to, &length) != 1)
			return false;
		if (*text == '-')
			text += length;
		if (to < from || to > 63)
			return false;
	} while (*text == ',');
	return *text == '\n' || !*text;
}

static void expect_format(struct kunit *test, const char *name, const char *text)
{
	KUNIT_EXPECT_TRUE_MSG(test, is_format(text), "format/%s is %s", name, text);
}

void pmu_contract_formats_name_bits_of_config_fields(struct kunit *test)
{
	char *page = kzalloc(PAGE_SIZE, GFP_KERNEL);

	VERIFIES(test, "DRC-105", "DRC-109");
	if (page)
		each_file(test, "format", page, expect_format);
	KUNIT_EXPECT_TRUE_MSG(test, page, "no memory");
	kfree(page);
}

void pmu_contract_open_event_has_a_reference_to_the_module(struct kunit *test)
{
	struct dut *dut = test->priv;
	char where[128];
	int before, after;

	VERIFIES(test, "DRC-009");
	snprintf(where, sizeof(where), "%ps", dut->pmu->event_init);
	if (!strchr(where, '[')) {
		kunit_mark_skipped(test, "the driver is no module");
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, dut->pmu->module, "pmu.module is not set: %s", where);
	if (!dut->pmu->module)
		return;
	before = dut_references(dut);
	if (!dut_open(dut)) {
		kunit_mark_skipped(test, "a second event cannot be opened");
		return;
	}
	after = dut_references(dut);
	KUNIT_EXPECT_TRUE_MSG(test, after > before, "%d references, and %d with another event",
			      before, after);
}
