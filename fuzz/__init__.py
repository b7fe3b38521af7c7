# SPDX-License-Identifier: Apache-2.0
"""Fuzzers: their runs and their reports."""
