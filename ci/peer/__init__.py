# SPDX-License-Identifier: Apache-2.0
"""Runs the test suite perf_event_tests on a PMU in guests."""
