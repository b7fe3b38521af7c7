# SPDX-License-Identifier: Apache-2.0
"""Makes target files collectable: `pytest conformance/targets/refpmu.toml --pmuconf-kernel 6.12`."""

pytest_plugins = ["pmuvm.plugin"]
