# SPDX-License-Identifier: Apache-2.0
"""The page of results works in a browser: with a mouse, by keyboard, in both themes, without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from results import page
from results.document import Run
from results.tests import runs
from results.tests.browser import find, opened, violations

LOST = "a_test.cpp:7: Expected: 1000\n  Actual: 999 <script>x</script>\nopened: type=4"
DISABLED = "Counting.DisabledTimeIsNotCounted"
BROKEN = {
    DISABLED: LOST,
    "Counting.WrapIsExactInEachPlace": "a wrap",
    "Control.BadPeriodsAreRefusedAndTheOldOneStays": "a period",
}
"""The failures of a driver with three bugs."""
SKIPPED = {"BranchStack.EntriesReportFlagsAndCycles": "needs branches"}


@pytest.fixture(scope="module", name="pages")
def fixture_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of a good driver, a bad one, one of arm64, and of all of them."""
    folder = tmp_path_factory.mktemp("runs")
    good = runs.judged(folder / "good")
    broken = runs.judged(folder / "broken", "refpmu", "6.12", "x86_64", BROKEN, SKIPPED)
    arm64 = runs.judged(folder / "arm64", "armv8_pmuv3", "6.1", "aarch64")
    made: dict[str, list[Run]] = {"good": [good], "broken": [broken], "arm64": [arm64]}
    made["all"] = [good, broken, arm64]
    for name, columns in made.items():
        page.write(columns, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in made}


def visible(browser: webdriver.Chrome) -> list[str]:
    """The ids of the rules that the filter leaves, in the order of the map."""
    script = "return [...document.querySelectorAll('#areas button')]"
    found = browser.execute_script(f"{script}.filter((b) => b.checkVisibility()).map((b) => b.id)")
    assert isinstance(found, list)
    return found


def rules_of(path: Path) -> list[str]:
    """The ids of the rules in the data of a page."""
    text = path.read_text(encoding="utf-8")
    data = text.partition('<script id="data" type="application/json">')[2].partition("</script>")[0]
    return [rule["id"] for rule in json.loads(data)["rules"]]


@pytest.mark.parametrize("name", ["good", "broken", "arm64", "all"])
def test_page_loads_without_an_error_and_has_each_rule_once(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str
) -> None:
    opened(browser, pages[name])
    assert browser.get_log("browser") == []
    shown = visible(browser)
    assert shown == rules_of(pages[name]) and len(set(shown)) == len(shown) > 700
    fetched = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert fetched == 0


def test_failures_come_first_with_message_and_command(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["broken"])
    failures = find(browser, "#failures article")
    assert [one.find_element(By.TAG_NAME, "h3").text for one in failures] == sorted(BROKEN)
    (one,) = [one for one in failures if DISABLED in one.text]
    assert LOST in one.find_element(By.TAG_NAME, "pre").text
    command = f"make run KERNEL=6.12 CASE={DISABLED}"
    assert one.find_element(By.TAG_NAME, "code").text == command
    order = [section.get_attribute("id") for section in find(browser, "main > section")]
    assert order == ["summary", "failures", "map", "measurements", "skips"]


def test_click_on_a_rule_shows_its_facts_and_its_cases(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["broken"])
    (link,) = [one for one in find(browser, "#failures a") if one.text == "CNT-007"][:1]
    link.click()
    details = browser.find_element(By.ID, "details")
    assert details.is_displayed() and "CNT-007 MUST" in details.text
    assert "FAIL Counting.WrapIsExactInEachPlace" in details.text and "a wrap" in details.text
    links = [one.get_attribute("href") for one in details.find_elements(By.TAG_NAME, "a")]
    assert links and all(
        "h=linux-6.12.y" in str(one) for one in links if "git.kernel.org" in str(one)
    )
    browser.find_element(By.CSS_SELECTOR, "#details .close").click()
    assert not details.is_displayed()


def test_address_with_a_rule_opens_it(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["good"], "#CTL-018")
    assert "CTL-018" in browser.find_element(By.ID, "details").text


def test_filter_and_map_work_by_keyboard(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["broken"])
    keys = webdriver.ActionChains(browser)
    keys.send_keys("/", "wrapisexactineachplace", Keys.ENTER).perform()
    assert visible(browser) == ["CNT-007", "CNT-008", "CNT-018"]
    assert browser.find_element(By.ID, "shown").text.startswith("3 of ")
    assert browser.switch_to.active_element.get_attribute("id") == "CNT-007"
    webdriver.ActionChains(browser).send_keys(Keys.ARROW_RIGHT, Keys.ENTER).perform()
    assert "CNT-008" in browser.find_element(By.ID, "details").text
    webdriver.ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert not browser.find_element(By.ID, "details").is_displayed()
    assert browser.switch_to.active_element.get_attribute("id") == "CNT-008"


def test_filter_by_result_leaves_the_failed_rules(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["broken"])
    for box in find(browser, "#results input"):
        if box.get_attribute("value") != "FAILED":
            box.click()
    failed = {str(cell.get_attribute("id")) for cell in find(browser, "#areas .bad")}
    assert "CNT-007" in failed and set(visible(browser)) == failed


def test_skipped_cases_name_the_claim_that_would_run_them(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["broken"])
    skips = browser.find_element(By.ID, "skips")
    assert "not_claimed" in skips.text and "needs branches: 1 case" in skips.text
    find(browser, "#skips summary")[0].click()
    assert "A target has it if it has [sampling] with branches." in skips.text
    assert next(iter(SKIPPED)) in skips.text


@pytest.mark.parametrize("name", ["broken", "all"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_passes_the_checks_of_accessibility(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, theme: str
) -> None:
    opened(browser, pages[name], "#CNT-007")
    assert violations(browser, theme) == []


def test_columns_have_the_result_of_each_run(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["all"])
    places = [row.text.split()[:2] for row in find(browser, "#summary tbody tr")]
    assert places == [["1", "refpmu"], ["2", "refpmu"], ["3", "armv8_pmuv3"]]
    row = browser.find_element(By.ID, "CNT-007").find_element(By.XPATH, "ancestor::tr")
    cells = [cell.get_attribute("class") for cell in row.find_elements(By.TAG_NAME, "td")]
    assert cells[:2] == ["good", "bad"]


def test_theme_can_be_changed(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["good"])
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(paper)
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script(paper) != before
