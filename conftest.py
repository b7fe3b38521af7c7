# SPDX-License-Identifier: Apache-2.0
"""Lets pytest collect target files: `pytest conformance/targets/refpmu.toml --pmuconf-kernel 6.12`."""

pytest_plugins = ["vm.plugin"]
