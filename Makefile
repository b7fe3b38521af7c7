# SPDX-License-Identifier: Apache-2.0
# The commands of ci/commands.py. Each calls a program, which has more options: see its --help.
COMMANDS := run check kunit intree fuzz fuzz-vm oracle compare faults fixes bench soak matrix nightly site rules explain review coverage lines release lint guest-suite deps clean
.PHONY: help $(COMMANDS)

# A new machine may have no Python yet.
help $(COMMANDS):
	@[ -x /usr/bin/python3 ] || ci/install-deps $(if $(RELEASE),guest,$@)
	@/usr/bin/python3 -B -m ci.commands $@
