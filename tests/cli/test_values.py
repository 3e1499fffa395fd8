"""What stands behind an option, as a value."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.cli.values import mapping_of, names_of, parameter, size_of
from dataguard.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10GiB", 10 * 2**30),
        ("1.5 gib", 3 * 2**29),
        ("500MB", 500_000_000),
        ("2k", 2000),
        ("4096", 4096),
        ("4096B", 4096),
        ("0", 0),
        ("1T", 10**12),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert size_of("--prune", text) == size


@pytest.mark.parametrize("text", ["", "big", "-1", "10XB", "1,5GiB", "GiB", "1e3", "0x10"])
def test_what_is_no_size_is_refused(text: str) -> None:
    for option in ("--quarantine-limit", "--prune"):
        with pytest.raises(UsageError, match="no size") as caught:
            size_of(option, text)
        assert caught.value.where == option


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2048", 2048),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('"2048"', "2048"),
        ("right", "right"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("01", "01"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_parameters_are_json_where_they_can_be(text: str, value: Any) -> None:
    assert parameter(text) == value


def test_mappings_are_split_at_the_first_equals_sign() -> None:
    assert mapping_of("--set", ["a=1", " b = x=y "]) == {"a": "1", "b": "x=y"}


@pytest.mark.parametrize("given", [["a"], ["=1"], ["a="], ["a=1", "a=1"], [" =1"]])
def test_what_is_no_mapping_is_refused_and_the_option_named(given: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        mapping_of("--set", given)
    assert caught.value.where == "--set"


def test_names_are_separated_by_commas() -> None:
    assert names_of(" console, json,,") == ["console", "json"]
