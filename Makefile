# SPDX-License-Identifier: Apache-2.0
# The commands of ci/commands.py. Each calls a program, which has more options: see its --help.
COMMANDS := run check kunit intree fuzz fuzz-vm oracle mutants regressions lies bench soak matrix nightly site rules coverage lines lint guest-suite deps clean
.PHONY: help $(COMMANDS)

help: ## print this list
	@/usr/bin/python3 -B -m ci.commands help

$(COMMANDS):
	@/usr/bin/python3 -B -m ci.commands $@
