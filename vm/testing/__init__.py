# SPDX-License-Identifier: Apache-2.0
"""Helpers of tests that need guests or stubs of them."""
