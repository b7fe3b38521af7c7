# SPDX-License-Identifier: Apache-2.0
"""Runs faults: builds each one, lets its observers judge it, and reports whether they caught it (docs/faults.md)."""
