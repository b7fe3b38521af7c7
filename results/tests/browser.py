# SPDX-License-Identifier: Apache-2.0
"""A browser for tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from ci import npm
from results.tests import runs

AXE = runs.ROOT / "results" / "browser"
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000")


def started() -> Iterator[webdriver.Chrome]:
    """A browser without a window."""
    options = Options()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    with webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options) as driver:
        driver.set_page_load_timeout(60)
        yield driver


def find(browser: webdriver.Chrome, selector: str) -> list[WebElement]:
    return list(browser.find_elements(By.CSS_SELECTOR, selector))


def opened(browser: webdriver.Chrome, path: Path, anchor: str = "") -> None:
    """Opens a page. Nothing of an earlier page remains."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(f"{path.as_uri()}{anchor}")


def violations(browser: webdriver.Chrome, theme: str) -> list[tuple[str, str]]:
    """The rules of accessibility that the open page breaks in a theme, each with an element."""
    browser.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
    browser.execute_script((npm.modules(AXE) / "axe-core" / "axe.min.js").read_text("utf-8"))
    browser.set_script_timeout(120)
    found: dict[str, Any] = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {resultTypes: ['violations']}).then("
        "  (result) => done(result), (error) => done({error: String(error)}));"
    )
    assert "error" not in found
    assert "color-contrast" in [rule["id"] for rule in found["passes"]]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]]
