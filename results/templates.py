# SPDX-License-Identifier: Apache-2.0
"""The templates of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from results.errors import ResultsError

ASSETS = Path(__file__).resolve().parent / "assets"


def environment(autoescape: bool) -> Any:
    """The environment of the templates in ASSETS. ResultsError without Jinja, which other commands do not need."""
    try:
        import jinja2  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ResultsError("no Python package jinja2: run ci/install-deps") from error
    loader = jinja2.FileSystemLoader(ASSETS)
    return jinja2.Environment(
        loader=loader, autoescape=autoescape, trim_blocks=True, lstrip_blocks=True
    )
