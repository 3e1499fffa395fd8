"""The page: complete in itself, small whatever the data, and free of anybody else's markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from dataguard.reports.html.beside import Beside, Spread
from dataguard.reports.html.charts import steps_chart
from dataguard.reports.html.elements import clipped, tag, text
from dataguard.reports.html.report import html_report
from dataguard.reports.html.rows import GAP, HEAD, WHOLE, spelled
from dataguard.reports.rows import stretches
from dataguard.result import Result
from tests.reports.hostile import TEXTS, hostile_beside, hostile_result

pytest.importorskip("vl_convert", reason="the charts need vl-convert-python (the extra report)")


class Elements(HTMLParser):
    """Collects elements, and text outside of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._in: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._in.append(tag)

    def handle_endtag(self, tag):
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self._in[-1:]):
            self.text.append(data)


def test_tells_every_verdict_with_its_counts(failed: Result):
    said = " ".join(
        "".join(Elements(html_report(failed, Beside({"expect_columns_to_exist": "they exist"}))).text).split()
    )
    for each in failed.results:
        assert each.type in said
    for words in (
        "FAIL",
        "9 of 12,342",
        "beyond_limit",
        "resize the embedding",
        "they exist",
        "12,333",
        "white space was",
    ):
        assert words in said


def test_a_pass_is_a_pass(passed: Result):
    page = html_report(passed, Beside())
    assert '<header class="verdict pass">' in page
    assert "Findings" not in Elements(page).text


@pytest.mark.parametrize("result", ["failed", "passed"])
def test_the_policy_lets_the_page_alone_in(result: str, request: pytest.FixtureRequest):
    page = html_report(request.getfixturevalue(result), Beside())
    found = Elements(page).found
    policy = next(told["content"] for name, told in found if told.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for name in ("style", "script"):
        (inside,) = re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode() in policy
    assert not [told for _, told in found if {"src", "style", "onerror", "onload", "onclick"} & set(told)]
    assert all(str(told["href"]).startswith("#") for _, told in found if "href" in told)


def test_texts_from_data_stay_text():
    page = html_report(hostile_result(), hostile_beside())
    found = Elements(page).found
    assert [name for name, _ in found].count("script") == 1
    assert "img" not in {name for name, _ in found}
    for character in "\x00\x07\x1b\u202e\udcff":
        assert character not in page
    page.encode("utf-8")


def test_the_page_stays_small_whatever_the_data():
    assert len(html_report(hostile_result(), hostile_beside())) < 3_000_000


def test_elements_are_balanced():
    page = html_report(hostile_result(), hostile_beside())
    for name in ("div", "table", "tr", "td", "article", "section", "figure", "svg", "g", "details", "li", "ol", "bdi"):
        assert len(re.findall(rf"<{name}[ >]", page)) == page.count(f"</{name}>"), name


def test_every_link_leads_somewhere(failed: Result):
    found = Elements(html_report(failed, hostile_beside())).found
    names = [told["id"] for _, told in found if "id" in told]
    assert len(names) == len(set(names))
    assert {str(told["href"])[1:] for _, told in found if "href" in told} <= set(names)


def test_the_same_input_gives_the_same_page(failed: Result):
    assert html_report(failed, hostile_beside()) == html_report(failed, hostile_beside())


def test_a_chart_takes_its_colours_from_the_page():
    chart = steps_chart(Spread([0, 64, 128], [1, 3]), 64, "tokens", "ids", 'a "label"')
    assert 'fill="var(--bar)"' in chart
    assert 'fill="var(--bad)"' in chart
    assert 'aria-label="a &quot;label&quot;"' in chart
    assert {"25 %", "75 %"} <= set(re.findall(r">([^<>]+)<", chart))


def test_only_markup_is_markup():
    assert tag("p", "<b>", tag("b", "&"), class_='x"y') == '<p class="x&quot;y">&lt;b&gt;<b>&amp;</b></p>'
    assert text("a\x1b\n") == "a\\x1b\\n"
    assert clipped("abcdefghij", 6) == "abcd…ij"


@pytest.mark.parametrize("length", [0, 1, 80, 81, 5_000])
@pytest.mark.parametrize("guilty", [(), (0,), (4_999,), tuple(range(0, 5_000, 3)), (-3, 9_999)])
def test_stretches_rise_and_stay_inside(length: int, guilty: tuple[int, ...]):
    found = list(stretches(length, frozenset(guilty), whole=WHOLE, head=HEAD, gap=GAP))
    assert sum(stop - start for start, stop in found) <= 150
    assert all(0 <= start <= stop <= length for start, stop in found)
    assert all(one[1] < two[0] for one, two in pairwise(found))
    first = next((place for place in sorted(guilty) if 0 <= place < length), None)
    assert first is None or any(start <= first < stop for start, stop in found)


def test_what_is_not_visible_is_spelled_out_and_marked():
    content = b"a\xff\x1b\n".decode("utf-8", "surrogateescape")
    assert "".join(spelled(content, 80)) == "a<em>\\xff\\x1b\\n</em>"


def test_texts_are_the_hostile_ones():
    assert len({*TEXTS}) == len(TEXTS)
