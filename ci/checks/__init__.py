# SPDX-License-Identifier: Apache-2.0
"""Checks that ci.lint runs."""
