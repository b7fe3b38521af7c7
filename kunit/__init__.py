# SPDX-License-Identifier: GPL-2.0-only
"""The KUnit suites. Its Python code runs them."""
