# SPDX-License-Identifier: Apache-2.0
"""Remembers what passed: the inputs of a command, and the records of its passes."""
