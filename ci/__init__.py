# SPDX-License-Identifier: Apache-2.0
"""Tests of this project: their units, checks and tools."""
