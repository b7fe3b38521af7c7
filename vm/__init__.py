# SPDX-License-Identifier: Apache-2.0
"""Fetches kernels, builds images, runs guests and transfers their messages. It knows no rules and judges no results."""
