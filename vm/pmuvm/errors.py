# SPDX-License-Identifier: Apache-2.0
"""The errors that pmuvm reports to a person: one clear line each."""


class PmuvmError(Exception):
    """Something that stops the work; the text is one line, and a caller exits with status 2."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details
        """Lines that help to understand it (the end of a log); may be empty."""
