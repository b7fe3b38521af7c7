# SPDX-License-Identifier: GPL-2.0-only
"""Builds a small kernel with refpmu and its KUnit suites, boots it and judges its output."""
