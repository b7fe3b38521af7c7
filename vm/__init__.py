# SPDX-License-Identifier: Apache-2.0
"""Fetches kernels, builds images, runs guests and transfers their messages. It knows no rules and judges no results."""

from __future__ import annotations

import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent
"""This package, with initrd/ and kernels/."""
