# SPDX-License-Identifier: Apache-2.0
"""Lies: wrong answers of the kernel to a case, which the suite must catch (docs/lies.md)."""
