# SPDX-License-Identifier: Apache-2.0
"""The error of this package."""

from __future__ import annotations


class ResultsError(Exception):
    """A file of results cannot be used. The message is one line that names the file."""
