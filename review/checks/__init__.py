# SPDX-License-Identifier: Apache-2.0
"""The checks: each module registers its own. checks.toml has the rules and the reason of each."""
