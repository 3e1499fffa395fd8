"""Lengths by source stand in aligned bars under one axis."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len

from dataguard.reports.histogram import axis, bars, length_table


def source(name: str | None, counts: list[int], edges: list[int] | None = None) -> dict[str, Any]:
    return {
        "source": name,
        "rows": sum(counts),
        "tokens": 10 * sum(counts),
        "lengths": {"p50": 1, "p95": 2, "max": 3},
        "histogram": {"edges": edges or [5 * place for place in range(len(counts) + 1)], "counts": counts},
    }


def test_bars_are_relative_to_the_highest_and_none_but_zero_is_blank() -> None:
    assert bars([0, 1, 500, 1000]) == " ▁▄█"
    assert bars([0, 0]) == "  "
    assert bars([]) == ""


def test_the_axis_spans_the_bars_exactly() -> None:
    assert axis([0, 5, 10, 15, 20]) == "0 20"
    assert axis(list(range(0, 4100, 200))) == "0       2,000  4,000"
    assert axis([0, 100_000]) == "0 to 100,000"


def test_columns_are_aligned_whatever_the_alphabet() -> None:
    lines = length_table([source("web", [1, 2, 3, 4]), source("文字", [4, 3, 2, 1]), source(None, [0, 0, 0, 7])], 80)
    assert lines == [
        "source       rows  tokens  median  p95  max  lengths",
        "web            10     100       1    2    3  ▂▄▆█",
        "文字           10     100       1    2    3  █▆▄▂",
        "(no source)     7      70       1    2    3     █",
        "                                             0 20",
    ]


def test_sources_with_other_edges_get_an_axis_of_their_own() -> None:
    lines = length_table([source("a", [1, 1, 1, 1]), source("b", [1, 1, 1, 1], [0, 20, 40, 60, 80])], 80)
    assert [line.split()[-1] for line in lines if line.startswith("  ")] == ["20", "80"]


def test_narrow_terminals_get_fewer_bars_and_shorter_names() -> None:
    many = [source("a/very/long/name/of/a/source", list(range(40))), source("b", [1] * 40)]
    for width in (40, 60, 80, 120):
        assert max(cell_len(line) for line in length_table(many, width)) <= max(width, 60)
    assert "█" in "".join(length_table(many, 60))


def test_rows_without_sources_are_all_rows() -> None:
    assert length_table([source(None, [1])], 80)[1].startswith("all rows ")


def test_only_so_many_sources_are_told() -> None:
    lines = length_table([source(str(place), [1]) for place in range(25)], 80)
    assert lines[-1] == "and 5 more sources (in report.json)"
    assert len(lines) == 1 + 20 + 1 + 1


def test_the_sum_of_the_rest_is_named_as_such() -> None:
    assert length_table([{**source(None, [1]), "others": 12}], 80)[1].startswith("12 others")


def test_what_is_missing_is_a_dash() -> None:
    assert length_table([{"source": "x"}], 80)[1].split() == ["x", "-", "-", "-", "-", "-"]


def test_terminals_without_block_characters_get_plain_ones() -> None:
    assert all(line.isascii() for line in length_table([source("a", [1, 2, 3])], 80, blocks=False))
