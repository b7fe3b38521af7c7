# SPDX-License-Identifier: Apache-2.0
"""Finds the broken links between the files of a static site."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(file: Path, path: str, root: Path) -> Path:
    """The file to which a link of a page leads."""
    if not path:
        return file
    base = root if path.startswith("/") else file.parent
    target = base / path.lstrip("/")
    return target / "index.html" if path.endswith("/") or target.is_dir() else target


def broken(root: Path) -> Iterator[str]:
    """A line for each link that leads nowhere."""
    pages = {path: _read(path) for path in sorted(root.rglob("*.html"))}
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = _target(file, unquote(parts.path), root).resolve()
            where = f"{file.relative_to(root)}: {link}"
            if not target.is_file():
                yield f"{where}: no such file"
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{where}: no such anchor"
