# SPDX-License-Identifier: Apache-2.0
# Each target calls a program, which has more options: see its --help.
SHELL := /bin/bash
PYTHON := /usr/bin/python3
export PYTHONDONTWRITEBYTECODE := 1

KERNEL ?= 6.12
TARGET ?= refpmu
ARCH ?= amd64
# A variable JOBS of the environment selects nothing.
SELECTED_JOBS := $(if $(filter command,$(firstword $(origin JOBS))),$(JOBS))
DEBUGGED := $(if $(filter-out 0 1,$(DEBUG))$(word 2,$(DEBUG)),$(error DEBUG='$(DEBUG)': 1 for a debug kernel, or nothing))$(if $(filter 1,$(DEBUG)),-debug)
SELECT := $(if $(RULE),--rule '$(RULE)') $(if $(CASE),--case '$(CASE)') $(if $(PROFILE),--profile '$(PROFILE)')

.PHONY: help run rules check kunit intree fuzz fuzz-vm oracle mutants regressions lies soak matrix nightly site bench coverage lines lint deps clean guest-suite

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: TARGET= KERNEL=6.1|6.12|FILE ARCH= RULE= CASE= PROFILE= PMU= LIKE=TARGET MODULE= PARAMETERS= CPU_MODEL= ICOUNT= CMDLINE= WORK= SHUFFLE=SEED ISOLATE=1 BOOT=1 LOAD=1 VERDICT=all LAYERS=all|LIST DEBUG=1 MUTANTS=FOLDER REGRESSIONS=FOLDER PART=K/N TIME=SECONDS RUNS=N CALLS=N LIES='GLOB,...' MERGE=1 STAGES=LIST FRESH=1 STOP=1 SHARD=K/N N=ROUNDS JOBS='GLOB ...'"

run: deps guest-suite ## judge TARGET (or all, or probe: a draft for PMU) on KERNEL in a virtual machine; exit status 0 conformant, 1 not, 2 not judged
	@$(PYTHON) -m vm run --target '$(TARGET)' $(if $(filter all-file-,$(TARGET)-$(origin KERNEL)-$(DEBUGGED)),,--kernel '$(KERNEL)$(DEBUGGED)') $(if $(SHUFFLE),--shuffle '$(SHUFFLE)') $(if $(ISOLATE),--isolate) $(if $(BOOT),--boot) $(if $(LAYERS),--layers '$(LAYERS)') --arch '$(ARCH)' $(SELECT) $(if $(PMU),--pmu '$(PMU)') $(if $(LIKE),--like '$(LIKE)') $(if $(MODULE),--module '$(MODULE)') $(if $(PARAMETERS),--parameters '$(PARAMETERS)') $(if $(CPU_MODEL),--cpu-model '$(CPU_MODEL)') $(if $(ICOUNT),--icount '$(ICOUNT)') $(if $(CMDLINE),--cmdline '$(CMDLINE)') $(if $(WORK),--work '$(WORK)') $(if $(VERDICT),--verdict '$(VERDICT)') $(if $(filter-out 0,$(LOAD)),--load)

check: deps ## run the tests that a change needs; STAGES=? lists them, STAGES='lint,run/*' selects, FRESH=1 runs all, STOP=1 ends at the first failure
	@$(PYTHON) -m ci.check $(if $(filter-out 0,$(STOP)),--stop) $(if $(STAGES),--stages '$(STAGES)') $(if $(filter-out 0,$(FRESH)),--fresh)

kunit: deps ## run the KUnit suites in a kernel built for them
	@$(PYTHON) -m kunit.pmukunit $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)') $(if $(DEBUGGED),--debug)

intree: deps ## build the driver in kernel trees, as a module and linked in; minutes, longer the first time
	@$(PYTHON) -m ci.intree $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

fuzz: deps ## replay the corpora, then fuzz each harness; TIME= seconds in total, or RUNS= inputs for each; MERGE=1 minimises the found inputs and adds them to the corpora
	@ci/build fuzz && $(PYTHON) -m fuzz.run $(if $(TIME),--time '$(TIME)') $(if $(RUNS),--runs '$(RUNS)') $(if $(MERGE),--merge)

fuzz-vm: deps guest-suite ## fuzz system calls in guests; TIME= seconds in total; MERGE=1 minimises the found inputs
	@$(PYTHON) -m fuzz.campaign $(if $(TIME),--time '$(TIME)') $(if $(MERGE),--merge) $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)') $(if $(filter file,$(origin TARGET)),,--target '$(TARGET)')

oracle: deps guest-suite ## compare KERNEL with the errno model, CALLS= calls of each type; and detect mutants that way
	@$(PYTHON) -m ci.oracle $(if $(CALLS),--calls '$(CALLS)') $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

mutants: deps guest-suite ## prove that broken drivers are caught; MUTANTS= a folder of patches
	@$(PYTHON) -m ci.mutants $(if $(MUTANTS),--folder '$(MUTANTS)') $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

regressions: deps guest-suite ## re-introduce real bugs in the kernel's own code, and show which ones the suite catches; REGRESSIONS= a folder of patches, PART=K/N a shard
	@$(PYTHON) -m ci.regressions $(if $(REGRESSIONS),--folder '$(REGRESSIONS)') $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)') $(if $(PART),--part '$(PART)')

lies: deps guest-suite ## prove that cases can fail: give them wrong answers of the kernel; LIES='GLOB,...' selects
	@$(PYTHON) -m ci.lies $(if $(LIES),--lies '$(LIES)') $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

bench: deps guest-suite ## benchmark the driver's decisions and the model; compare costs with cpu-clock in a guest
	@ci/build bench core_bench && $(PYTHON) -m ci.bench $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

soak: deps guest-suite ## repeat the suite in random order, on 1, 2 and 4 CPUs and with a fixed clock; N= rounds
	@$(PYTHON) -m ci.soak $(if $(N),-n '$(N)') $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)') $(if $(CASE),--case '$(CASE)')

matrix: deps guest-suite ## run all jobs of ci/matrix.toml (kernel, architecture, accelerator, target, profile), or JOBS='globs'; 90 minutes
	@$(PYTHON) -m ci.matrix $(if $(SELECTED_JOBS),--jobs '$(SELECTED_JOBS)')

nightly: deps guest-suite ## run all tests; continues an interrupted run; SHARD=k/n runs a shard, N= rounds of the soak
	@$(PYTHON) -m ci.check --nightly $(if $(N),--rounds '$(N)') $(if $(STAGES),--stages '$(STAGES)') $(if $(SHARD),--shard '$(SHARD)') $(if $(filter-out 0,$(FRESH)),--fresh)

site: deps guest-suite ## make a static site of the documents, the rules and the history of results: build/site
	@$(PYTHON) -m results site --out build/site

rules: deps guest-suite ## write the catalogue, with the evidence for each rule, to docs/generated/rules.md and build/rules
	@$(PYTHON) -m ci.judged
	@mkdir -p docs/generated && build/guest/conformance/pmuconf explain --markdown >docs/generated/rules.md && echo docs/generated/rules.md
	@build/guest/conformance/pmuconf explain --markdown --out build/rules && echo build/rules/README.md

coverage: deps lines ## report the branches of driver/core and driver/model that the unit tests take; and make lines
	@ci/build coverage driver_tests && $(PYTHON) -m ci.coverage

lines: deps guest-suite ## report the lines of the driver's kernel code that KUnit and the suite reach, in a kernel that counts them
	@$(PYTHON) -m ci.lines $(if $(filter file,$(origin KERNEL)),,--kernel '$(KERNEL)')

lint: deps ## check format, static analysis, spelling, wording, structure
	@$(PYTHON) -m ci.lint

deps: ## install missing packages
	@ARCH='$(ARCH)' ci/install-deps

clean: ## remove build/, but not the cache of kernels
	@rm -rf build

guest-suite: deps
	@ci/build guest pmuconf
	@$(if $(filter-out amd64,$(ARCH)),ci/build 'guest-$(ARCH)' pmuconf)
