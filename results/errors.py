# SPDX-License-Identifier: Apache-2.0
"""The error of this package."""

from __future__ import annotations

from pmubase.errors import UserError


class ResultsError(UserError):
    """A file of results cannot be used. The message is one line that names the file."""
