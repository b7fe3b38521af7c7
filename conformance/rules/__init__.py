# SPDX-License-Identifier: Apache-2.0
"""The catalogue of rules, and its conversion to C++."""
