# SPDX-License-Identifier: Apache-2.0
"""Regressions: real bugs of Linux, re-introduced in its own code, which the suite should catch."""
