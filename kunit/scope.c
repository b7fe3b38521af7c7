// SPDX-License-Identifier: GPL-2.0-only
/* Run the cases of a suite with uncore_scope=1, and again with uncore_scope=0. */
#include <linux/moduleparam.h>

#include "failing.h"
#include "module.h"
#include "scope.h"

/* The default of the parameter. */
static bool current_scope = true;

const struct scope_choice scope_choices[] = {
	{ "uncore_scope=1", true },
	{ "uncore_scope=0", false },
};

void scope_desc(const struct scope_choice *choice, char *desc)
{
	strscpy(desc, choice->name, KUNIT_PARAM_DESC_SIZE);
}

/* Set the parameter of the driver like the kernel's command line. */
static int set_parameter(bool scope)
{
	char text[] = "refpmu.uncore_scope=0";
	const void *rest;

	if (scope)
		text[sizeof(text) - 2] = '1';
	rest = parse_args("kunit", text, __start___param, __stop___param - __start___param, -1, -1,
			  NULL, NULL);
	return PTR_ERR_OR_ZERO(rest);
}

static int load_with(bool scope)
{
	int err;

	if (scope == current_scope)
		return 0;
	err = set_parameter(scope);
	if (err)
		return err;
	current_scope = scope;
	/* A case that failed early may have unloaded the driver. */
	if (failing_unreleased())
		refpmu_unload();
	return refpmu_load();
}

int scope_init(struct kunit *test)
{
	const struct scope_choice *choice = test->param_value;

	return load_with(choice ? choice->scope : true);
}

void scope_suite_exit(struct kunit_suite *suite)
{
	WARN_ON(load_with(true));
}
