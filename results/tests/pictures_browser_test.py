# SPDX-License-Identifier: Apache-2.0
"""The pictures of measurements work in a browser: in both themes, by keyboard, and their numbers are one click away."""

from __future__ import annotations

import csv
import io
import urllib.parse
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from results import page
from results.tests import measured, runs
from results.tests.browser import find, opened, violations
from results.tests.page_test import MOST_BYTES

FILLED = """
const [summary, done] = arguments;
const part = summary.parentElement;
if (part.querySelector("table")) done();
else part.addEventListener("toggle", () => done());
"""
"""Waits until the table of numbers is there: the browser sends its event later than the key."""
FAILED = {measured.MULTIPLEX: "event 3 had no turn"}
UP_MS = 2000
PICTURES = sum(len(rows) for rows in measured.everything().values())


@pytest.fixture(scope="module", name="pages")
def fixture_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a run with measurements, and that of two runs."""
    folder = tmp_path_factory.mktemp("runs")
    everything = measured.everything()
    one = runs.judged(folder / "one", failed=FAILED, measured=everything)
    other = runs.judged(folder / "other", "armv8_pmuv3", "6.1", "aarch64", measured=everything)
    page.write([one], folder / "one.html")
    page.write([one, other], folder / "two.html")
    return {name: folder / f"{name}.html" for name in ("one", "two")}


def figures(browser: webdriver.Chrome) -> list[WebElement]:
    return find(browser, "#measurements figure")


@pytest.mark.parametrize(("name", "columns"), [("one", 1), ("two", 2)])
def test_page_with_pictures_is_small_and_soon_up(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, columns: int
) -> None:
    assert pages[name].stat().st_size < MOST_BYTES
    opened(browser, pages[name])
    assert browser.get_log("browser") == []
    assert len(figures(browser)) == len(find(browser, "figure > svg")) == columns * PICTURES
    up = browser.execute_script(
        "return performance.timing.loadEventEnd - performance.timing.navigationStart"
    )
    assert 0 < up < UP_MS


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_are_visible_in_each_theme(
    browser: webdriver.Chrome, pages: dict[str, Path], theme: str
) -> None:
    opened(browser, pages["one"])
    browser.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    for picture in find(browser, "figure > svg"):
        assert picture.size["width"] > 300 and picture.size["height"] > 150
        text = picture.find_element(By.TAG_NAME, "text")
        assert text.value_of_css_property("fill") == ink
    fill = find(browser, "figure path[style*='fill: var(--p0)']")[0].value_of_css_property("fill")
    assert fill == {"light": "rgb(11, 102, 176)", "dark": "rgb(108, 180, 245)"}[theme]


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_pass_the_checks_of_accessibility(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, theme: str
) -> None:
    opened(browser, pages[name])
    for one in find(browser, "#measurements details")[:2]:
        browser.execute_script("arguments[0].open = true", one)
    assert violations(browser, theme) == []


def test_texts_of_a_picture_do_not_overlap(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    overlaps = browser.execute_script(
        """
        const found = [];
        for (const svg of document.querySelectorAll("figure > svg")) {
          const frame = svg.getBoundingClientRect();
          const boxes = [...svg.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
          for (const [i, [text, a]] of boxes.entries()) {
            if (a.left < frame.left || a.right > frame.right || a.top < frame.top - 1 || a.bottom > frame.bottom) {
              found.push(`${text} is outside`);
            }
            for (const [other, b] of boxes.slice(i + 1)) {
              const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
              if (!apart) found.push(`${text} covers ${other}`);
            }
          }
        }
        return found;"""
    )
    assert overlaps == []


def test_numbers_open_by_keyboard_and_can_be_saved(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    (figure,) = [one for one in figures(browser) if "Count against truth" in one.text]
    summary = figure.find_element(By.TAG_NAME, "summary")
    assert summary.text == "data: 16 points"
    assert not figure.find_elements(By.TAG_NAME, "table")
    browser.execute_script("arguments[0].focus()", summary)
    webdriver.ActionChains(browser).send_keys(Keys.ENTER).perform()
    browser.execute_async_script(FILLED, summary)
    rows = [row.text.split() for row in figure.find_elements(By.CSS_SELECTOR, "tbody tr")]
    wanted = [
        [one["name"], *map(str, point)]
        for one in measured.counts()["series"]
        for point in one["points"]
    ]
    assert rows == wanted
    link = figure.find_element(By.LINK_TEXT, "save as CSV")
    assert link.get_attribute("download") == "Multiplex.ScaledCountErrorIsBounded.counts.csv"
    kind, _, text = str(link.get_attribute("href")).partition(",")
    assert kind == "data:text/csv;charset=utf-8"
    saved = list(csv.reader(io.StringIO(urllib.parse.unquote(text))))
    assert saved == [["series", "event", "count (instructions)"], *wanted]


def test_rule_leads_to_the_pictures_of_its_case_and_back(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"], "#MUX-017")
    details = browser.find_element(By.ID, "details")
    details.find_element(By.LINK_TEXT, "2 measurements").click()
    assert not details.is_displayed()
    case = browser.switch_to.active_element
    assert case.get_attribute("id") == f"pictures-{measured.MULTIPLEX}"
    assert (
        "Turns of events on the counters" in case.text and "scope=task member=leader" in case.text
    )
    assert (
        abs(browser.execute_script("return arguments[0].getBoundingClientRect().top", case)) < 100
    )
    case.find_element(By.LINK_TEXT, "MUX-017").click()
    assert details.is_displayed() and "MUX-017" in details.text


def test_failure_leads_to_its_pictures(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"])
    browser.find_element(By.ID, "failures").find_element(By.LINK_TEXT, "2 measurements").click()
    active = browser.switch_to.active_element
    assert active.get_attribute("id") == f"pictures-{measured.MULTIPLEX}"


def test_address_of_pictures_opens_them(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"], f"#pictures-{measured.MULTIPLEX}")
    active = browser.switch_to.active_element
    assert active.get_attribute("id") == f"pictures-{measured.MULTIPLEX}"


def test_runs_are_columns_with_their_names(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["two"])
    first, second = figures(browser)[:2]
    assert "1. refpmu, 6.12, x86_64" in first.text and "2. armv8_pmuv3, 6.1, aarch64" in second.text
    assert first.location["y"] == second.location["y"]
    assert first.location["x"] < second.location["x"]
