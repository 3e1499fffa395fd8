"""A proposed suite as text: whatever the data holds, it is read again as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataguard.run.suite_text import Line, Proposed, flow
from dataguard.suite.nodes import read_yaml
from tests.examples import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "no",
        "Null",
        "1.5",
        "0x1f",
        "a: b",
        "- a",
        "# a",
        "{a}",
        "*a",
        "&a",
        "!a",
        "1_000",
        "2024-01-01",
        "",
        " ",
        "=",
        "~",
        "<<",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-1e6, 1e6).map(lambda each: round(each, 6))
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@examples(300)
@given(VALUES)
def test_a_value_is_read_again_as_it_was(value: Any):
    assert read_yaml(f"key: {flow(value)}\n", "a").value == {"key": value}


@examples(100)
@given(TEXTS, TEXTS, TEXTS)
def test_no_remark_ends_its_comment(head: str, reason: str, why: str):
    line = Line("expect_x", {"allowed": [reason]}, reason, "warning", ["labels"], "Rows")
    proposed = Proposed([line, line], [head], [("expect_y", why)], {"columns": {"input_ids": "x"}})
    document = {**proposed.document()}
    del document["notes"]
    entries = [{key: value for key, value in entry.items() if key != "notes"} for entry in document["expectations"]]
    assert read_yaml(proposed.yaml(), "a").value == {**document, "expectations": entries}


def test_long_remarks_are_wrapped():
    text = Proposed([Line("expect_x", {}, "word " * 60)]).yaml()
    assert all(len(each) <= 120 for each in text.splitlines())
    assert text.count("word") == 60


def test_a_section_is_named_once():
    lines = [Line("expect_x", {}, "a", section="Rows"), Line("expect_y", {}, "b", section="Rows")]
    assert Proposed(lines).yaml() == (
        "name: proposed\n\nexpectations:\n  # Rows\n  # a\n  - type: expect_x\n  # b\n  - type: expect_y\n"
    )
