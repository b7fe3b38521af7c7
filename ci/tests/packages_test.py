# SPDX-License-Identifier: Apache-2.0
"""docs/install.md names the packages that ci/install-deps installs for `make run`."""

from __future__ import annotations

import re

from pmubase import store


def test_table_of_packages_has_those_that_a_run_needs() -> None:
    script = (store.ROOT / "ci" / "install-deps").read_text(encoding="utf-8")
    # The packages of a guest, and those of a build.
    blocks = re.findall(r"^ *packages\+?=\((.*?)^ *\)", script, re.MULTILINE | re.DOTALL)[:2]
    installed = re.sub(r"#.*", "", " ".join(blocks)).split()
    page = (store.ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    table = page.partition("## Package names")[2]
    documented = " ".join(re.findall(r"^\| ([a-z][^|]*?) \|", table, re.MULTILINE)).split()
    assert sorted(documented) == sorted(installed)
