"""`--set NAME=VALUE`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import UsageError
from dataguard.suite.parameters import parse_set


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=2048", 2048),
        ("a=-3", -3),
        ("a=0.5", 0.5),
        ("a=1e3", 1000.0),
        ("a=true", True),
        ("a=null", None),
        ("a=~", None),
        ("a=yes", "yes"),
        ("a=web", "web"),
        ("a='7'", "7"),
        ('a="7"', "7"),
        ('a=""', ""),
        ("a='it''s'", "it's"),
        ("a=b=c", "b=c"),
        ("a=b: c", "b: c"),
        ("a=[1, 2]", "[1, 2]"),
        ("a=!x", "!x"),
        ("a=*x", "*x"),
        ("a=# 7", "# 7"),
        ("a='half", "'half"),
        ("a=2020-01-01", "2020-01-01"),
        (" a = 7 ", 7),
    ],
)
def test_reads_a_word_as_yaml_does(text: str, value: object) -> None:
    name, got = parse_set(text)
    assert name == "a"
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize("text", ["a", "=7", "", "a=", "a= ", "a=.nan", "a=.inf", "a=" + "9" * 5000])
def test_refuses_what_sets_nothing(text: str) -> None:
    with pytest.raises(UsageError, match=r"--set|NAME=VALUE"):
        parse_set(text)


@given(value=st.integers() | st.booleans() | st.none())
def test_gives_back_what_json_writes(value: Any) -> None:
    word = (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)
    )
    assert parse_set(f"a={word}") == ("a", value)


@given(text=st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_set(text)
    except UsageError:
        return
