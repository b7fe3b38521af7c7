# SPDX-License-Identifier: Apache-2.0
"""The errors that pmuvm reports to a user, each in one line."""


class PmuvmError(Exception):
    """An error that ends the command with status 2. The text is one line."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details
        """Lines that help to find the cause, such as the end of a log; may be empty."""


class NoPackage(PmuvmError):
    """The distribution has no such package, or has it no more. It ends the command with STATUS_NO_PACKAGE."""


STATUS_NO_PACKAGE = 3
