"""expect_truncation_to_be_consistent_across_sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dataguard.result import ExpectationResult
from tests.builders import judged, reasons, table_of

TRUNCATION = "expect_truncation_to_be_consistent_across_sources"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}


def row(length: int, *, bos: bool = False, eos: bool = False) -> list[int]:
    """Return a row of that many tokens, special ones included."""
    return [1] * bos + [5] * (length - bos - eos) + [2] * eos


def rows(**sources: Sequence[int | list[int]]) -> dict[str, Any]:
    """Return rows by source: each is a length or the ids themselves."""
    pairs = [
        (source, each if isinstance(each, list) else row(each)) for source, many in sources.items() for each in many
    ]
    return {"input_ids": [ids for _, ids in pairs], "source": [source for source, _ in pairs]}


def judge(data: Mapping[str, Any], **arguments: Any) -> ExpectationResult:
    return judged(TRUNCATION, data, vocabulary=VOCABULARY, **arguments)


def named(result: ExpectationResult) -> dict[str | None, str]:
    assert all(each.shard is None and each.row is None for each in result.findings)
    return {each.source: each.reason for each in result.findings}


def record(result: ExpectationResult, source: str) -> dict[str, Any]:
    (found,) = (each for each in result.observed_value if each["source"] == source)
    return found


# The rule of the pile-up


@pytest.mark.parametrize(
    ("lengths", "cap"),
    [
        ([20, 20, 3, 4], 20),
        ([20, 3, 4, 5], None),  # one row is no pile
        ([20] * 2 + [3] * 8, 20),  # 0.2 of the rows, just so
        ([20] * 2 + [3] * 9, None),  # less than 0.2
        ([20] * 3 + list(range(10, 20)), 20),  # three times the mean of the ten lengths below
        ([20] * 3 + [*range(10, 20), 19], None),
        ([20] * 3 + [*range(10, 20), 9], 20),  # the eleventh length below does not count
        ([7, 7, 7, 7], 7),
        ([20] * 3 + [19] * 3 + [18] * 3, 20),  # lengths that nobody has count as zero in the mean
    ],
)
def test_a_pile_up(lengths: list[int], cap: int | None):
    result = judge(rows(web=lengths))
    assert record(result, "web")["cap"] == cap


def test_min_pile_up_may_be_told():
    assert record(judge(rows(web=[20, 20] + [3] * 18), min_pile_up=0.1), "web")["cap"] == 20
    assert record(judge(rows(web=[20, 20, 3, 4]), min_pile_up=0.6), "web")["cap"] is None


def test_the_pile_counts_attended_tokens():
    padded = [[5] * length + [0] * (9 - length) for length in (4, 4, 4, 2)]
    assert record(judge({"input_ids": padded, "source": ["web"] * 4}), "web")["cap"] == 4


# Caps


def test_sources_with_one_cap_hold():
    result = judge(rows(web=[20] * 4 + [3, 5], code=[20] * 2 + [7, 8]))
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 0, 0)


def test_a_told_cap_is_everybody_s():
    data = rows(web=[20] * 4, code=[16] * 9, chat=[3, 9, 15, 21], books=[4, 9, 12, 19])
    result = judge(data, max_length=20)
    assert named(result) == {"code": "different_cap", "chat": "not_truncated"}
    assert reasons(result) == {"different_cap": 1, "not_truncated": 1}
    assert (result.element_count, result.unexpected_count) == (4, 2)
    assert not result.success


def test_a_pile_beyond_a_told_cap_is_another_cap():
    assert named(judge(rows(web=[20] * 4, code=[32] * 4), max_length=20)) == {"code": "different_cap"}


def test_the_inferred_cap_is_that_of_most_tokens():
    assert named(judge(rows(web=[20] * 10, code=[16] * 4))) == {"code": "different_cap"}
    assert named(judge(rows(web=[20] * 4, code=[16] * 10))) == {"web": "different_cap"}


def test_on_a_tie_all_are_named():
    result = judge(rows(web=[20] * 4, code=[16] * 5))
    assert named(result) == {"code": "different_cap", "web": "different_cap"}


def test_a_source_that_reaches_beyond_the_inferred_cap_is_not_truncated():
    assert named(judge(rows(web=[20] * 10, code=[3, 9, 15, 30]))) == {"code": "not_truncated"}


def test_a_short_source_without_a_pile_holds():
    assert judge(rows(web=[20] * 4, chat=[2, 5, 9, 11])).success
    assert judge(rows(web=[20] * 4, chat=[2, 5, 9, 20])).success
    assert judge(rows(web=[20] * 4, chat=[*range(10, 20), 20])).success


def test_nobody_is_cut():
    assert judge(rows(web=[3, 9, 15, 30], code=[4, 50, 8, 100])).success


def test_a_short_majority_does_not_outvote_the_cap_that_it_never_reaches():
    data = rows(web=[20] * 10, notes=[12] * 4, chat=list(range(1, 16)) * 9)
    assert named(judge(data)) == {"notes": "different_cap"}


def test_tells_the_cap_that_a_source_has():
    result = judge(rows(web=[20] * 10, code=[16] * 4, chat=[1, 9, 15, 30]))
    assert {each.source: each.value for each in result.findings} == {"code": 16, "chat": 30}


# Side and eos


def cut(side: str, *, eos_kept: bool = False, many: int = 4) -> list[list[int]]:
    """Return rows that were 20 tokens or more, with bos and eos, cut at one side; and shorter ones that are whole."""
    long = row(20, eos=True) if side == "left" else row(20, bos=True, eos=eos_kept)
    return [long] * many + [row(length, bos=True, eos=True) for length in (5, 8)]


def test_one_side_holds():
    assert judge(rows(web=cut("right"), code=cut("right", many=2))).success
    assert judge(rows(web=cut("left"), code=cut("left", many=2))).success


def test_the_other_side_is_named():
    result = judge(rows(web=cut("right", many=8), code=cut("left")))
    assert named(result) == {"code": "different_side"}
    assert record(result, "web")["side"] == "right"
    assert record(result, "code")["side"] == "left"


def test_on_a_tie_of_sides_both_are_named():
    assert named(judge(rows(web=cut("right"), code=cut("left")))) == {"code": "different_side", "web": "different_side"}


def test_cut_rows_that_keep_eos_where_others_lose_it():
    result = judge(rows(web=cut("right", many=8), code=cut("right", eos_kept=True)))
    assert named(result) == {"code": "different_eos_policy"}
    assert record(result, "web")["eos_cut"] == 0
    assert record(result, "code")["eos_cut"] == 1
    assert record(result, "web")["eos_uncut"] == 1


def test_a_set_without_special_tokens_shows_no_side():
    assert judge(rows(web=[20] * 8, code=[20] * 4)).success


def test_bos_alone_shows_the_side():
    keeps, loses = [row(20, bos=True)] * 8 + [row(5, bos=True)], [row(20)] * 4 + [row(6, bos=True)]
    assert named(judge(rows(web=keeps, code=loses))) == {"code": "different_side"}


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (["cap"], {"code": "different_cap"}),
        (["side"], {"chat": "different_side"}),
        (["eos"], {"wiki": "different_eos_policy"}),
        (["side", "eos"], {"chat": "different_side", "wiki": "different_eos_policy"}),
        (
            ["cap", "side", "eos"],
            {"code": "different_cap", "chat": "different_side", "wiki": "different_eos_policy"},
        ),
    ],
)
def test_check_says_what_is_compared(check: list[str], expected: dict[str, str]):
    other_cap = [row(16, bos=True)] * 4
    data = rows(web=cut("right", many=30), code=other_cap, chat=cut("left"), wiki=cut("right", eos_kept=True))
    assert named(judge(data, check=check)) == expected


def test_a_source_with_two_faults_is_named_for_the_first():
    left_at_16 = [row(16, eos=True)] * 4
    assert named(judge(rows(web=cut("right", many=30), code=left_at_16))) == {"code": "different_cap"}


# Which rows and sources are judged


def test_a_source_of_few_rows_is_noted_and_not_judged():
    data = rows(web=[20] * 10, code=[16] * 3)
    result = judge(data)
    assert result.success
    assert (result.element_count, result.missing_count) == (2, 1)
    assert "code" in result.details["notes"][0]
    assert named(judge(data, min_rows=3)) == {"code": "different_cap"}


def test_null_empty_and_unpaired_rows_and_rows_of_no_source_do_not_count():
    data = rows(web=[20] * 4, code=[20] * 4)
    data["input_ids"] += [None, [], [0] * 16, row(16), row(16)]
    data["source"] += ["code", "code", "code", "code", None]
    masks = [None if ids is None else [int(token != 0) for token in ids] for ids in data["input_ids"]]
    masks[-2] = [1]
    result = judge({**data, "attention_mask": masks})
    assert result.success
    assert record(result, "code")["rows"] == 4


def test_one_source_alone_agrees_with_itself():
    assert judge(rows(web=[20] * 4 + [3])).success
    assert named(judge(rows(web=[20] * 4 + [3]), max_length=32)) == {"web": "different_cap"}


def test_without_sources_it_cannot_be_judged():
    result = judge({"input_ids": [row(20)] * 4})
    assert not result.success
    assert result.unjudged is not None
    assert "source" in result.unjudged.missing
    nothing = judge({"input_ids": [row(20)] * 4, "source": [None] * 4})
    assert not nothing.success
    assert nothing.unjudged is not None


def test_folders_are_sources(tmp_path: Path):
    for name, length in (("web", 20), ("code", 16)):
        (tmp_path / name).mkdir()
        pq.write_table(table_of(input_ids=[row(length)] * (4 if name == "code" else 9)), tmp_path / name / "a.parquet")
    assert named(judged(TRUNCATION, tmp_path, vocabulary=VOCABULARY)) == {"code": "different_cap"}


def test_observes_each_source():
    result = judge(rows(web=[row(20, bos=True)] * 4 + [row(4, bos=True, eos=True)], code=[row(30)] * 4))
    assert [each["source"] for each in result.observed_value] == ["code", "web"]
    assert record(result, "web") == {
        "source": "web",
        "rows": 5,
        "tokens": 84,
        "cap": 20,
        "pile_up": 0.8,
        "over_cap": 0,
        "side": "right",
        "eos_cut": 0.0,
        "eos_uncut": 1.0,
        "lengths": {"min": 4, "p5": 4, "p50": 20, "p95": 20, "max": 20},
    }
    assert record(judge(rows(web=[20] * 8, code=[30, 21, 3, 4])), "code")["over_cap"] == 2


def test_many_sources_are_named_up_to_two_hundred():
    data = rows(**{f"s{number:03}": [20 + number] * 4 for number in range(300)})
    result = judge(data)
    assert result.unexpected_count == 299
    assert len(result.findings) == 200
    assert len(result.observed_value) == 300


def test_a_prefixed_column_is_judged_by_its_own_lengths():
    data = {"chosen_input_ids": [row(20)] * 8 + [row(16)] * 4, "source": ["web"] * 8 + ["code"] * 4}
    result = judge(data, column="chosen_input_ids")
    assert [(each.source, each.column) for each in result.findings] == [("code", "chosen_input_ids")]
