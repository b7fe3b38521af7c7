# SPDX-License-Identifier: Apache-2.0
"""Mutants: known-bad variants of the reference driver that the suite must catch."""
