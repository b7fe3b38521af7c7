# SPDX-License-Identifier: Apache-2.0
"""The error that a program reports to its user, in one line."""


class UserError(Exception):
    """An error that ends the command with status 2. The text is one line."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details
        """Lines that help to find the cause, such as the end of a log; may be empty."""
