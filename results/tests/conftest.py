# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", name="browser")
def fixture_browser() -> Iterator[object]:
    """A browser without a window. Tests that need none run where Selenium is not installed."""
    from results.tests import browser  # pylint: disable=import-outside-toplevel

    yield from browser.started()
