"""The page in a real browser: Chromium without a network, by mouse and by keyboard, in the dark and on paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataguard.reports.html.beside import Beside
from dataguard.reports.html.report import html_report
from dataguard.result import Result
from tests.reports.hostile import hostile_beside, hostile_result

pytest.importorskip("vl_convert", reason="the charts need vl-convert-python (the extra report)")
playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by playwright (the extra test)")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Return what opens a result's page; when the test is over, nothing was complained of, and nothing asked for."""
    said: list[str] = []
    contexts: list[Any] = []

    def opened(result: Result, beside: Beside | None = None, **options: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(html_report(result, beside or Beside()), encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda asked: said.append(asked.url) if asked.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def statuses(page: Any) -> list[str]:
    """Return the first cells of the rows that the table of expectations shows."""
    return page.evaluate(
        "[...document.querySelectorAll('section:has(> #expectations) tbody tr')].filter((row) => row.checkVisibility())"
        ".map((row) => row.cells[0].textContent)"
    )


def test_shows_the_verdict_and_the_findings(open_page: Any, failed: Result):
    page = open_page(failed)
    assert page.inner_text("h1").split("\n")[0] == "FAIL"
    assert page.locator(".card.fail").count() == 3
    assert page.locator("svg").first.is_visible()


def test_a_filter_leaves_what_it_asks_for(open_page: Any, failed: Result):
    page = open_page(failed)
    tools = page.locator("section:has(> #expectations) .tools").first
    tools.locator("input").fill("vocabulary EMBEDDING")
    assert statuses(page) == ["fail"]
    assert tools.locator("output").inner_text() == f"1 of {len(failed.results)} shown"
    tools.locator("input").fill("")
    tools.locator("select").select_option("unjudged")
    assert statuses(page) == ["unjudged"] * 2
    tools.locator("select").select_option("")
    assert len(statuses(page)) == len(failed.results)


def test_tables_are_sorted_by_keyboard(open_page: Any, failed: Result):
    page = open_page(failed)
    button = page.locator("section:has(> #expectations) th button", has_text="judged").first
    button.focus()
    seen = (
        "[...document.querySelector('section:has(> #expectations) tbody').rows].map((row) => row.cells[4].textContent)"
    )
    for key, order, reverse in (("Enter", "ascending", False), ("Space", "descending", True)):
        page.keyboard.press(key)
        assert button.locator("xpath=..").get_attribute("aria-sort") == order
        numbers = [int(each.replace(",", "")) for each in page.evaluate(seen) if each]
        assert numbers == sorted(numbers, reverse=reverse)
        assert len(set(numbers)) > 2


def test_everything_that_moves_is_reached_by_tab(open_page: Any, failed: Result):
    page = open_page(failed)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "BUTTON", "INPUT", "SELECT", "SUMMARY"} <= reached


def test_texts_from_data_stay_text(open_page: Any):
    page = open_page(hostile_result(), hostile_beside())
    assert page.evaluate("window.broken") is None
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert "<script>window.broken = 1</script>" in page.inner_text("body")


def test_is_dark_where_the_reader_is(open_page: Any, failed: Result):
    shades = []
    for scheme in ("light", "dark"):
        page = open_page(failed, color_scheme=scheme)
        shades.append(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"))
    assert min(shades[0]) > 200
    assert max(shades[1]) < 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(open_page: Any, failed: Result, scheme: str):
    page = open_page(failed, hostile_beside(), color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []


CONTRAST = """
(() => {
  const numbers = (shade) => shade.match(/[\\d.]+/g).map(Number);
  const light = (shade) => numbers(shade).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const shade = getComputedStyle(each).backgroundColor;
      if ((numbers(shade)[3] ?? 1) === 1) return shade;
    }
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest("svg, script")) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))].sort((one, two) => two - one);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) faint.add(`${element.tagName}.${element.className}`);
  }
  return [...faint];
})()
"""


def test_on_paper_nothing_is_folded_and_nothing_is_a_control(open_page: Any, failed: Result):
    page = open_page(failed, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator(".tools").first.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.pdf()[:5] == b"%PDF-"
    page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("width", [420, 1280])
def test_fits_the_window(open_page: Any, width: int):
    page = open_page(hostile_result(), hostile_beside(), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_reads_without_scripts(open_page: Any, failed: Result):
    page = open_page(failed, java_script_enabled=False)
    assert page.locator("section:has(> #expectations) tbody tr").count() >= len(failed.results)
    assert not page.locator(".tools").first.is_visible()
