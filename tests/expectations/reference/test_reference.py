"""The library's verdicts against those of a judge in plain Python, on made-up data sets with made-up arguments."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

import dataguard
from dataguard.expectations import EXPECTATIONS
from dataguard.result import ExpectationResult, Result
from tests.examples import examples
from tests.expectations.reference.arguments import JUDGES, Entry
from tests.expectations.reference.datasets import Data, datasets
from tests.expectations.reference.judging import Anywhere, Arguments, Judged, judged
from tests.expectations.reference.terms import Row

TEXT = {
    "expect_ids_to_match_text",
    "expect_rows_not_to_be_repetitive",
    "expect_duplicate_line_fraction_to_be_below",
    "expect_white_space_fraction_to_be_below",
    "expect_no_replacement_characters",
    "expect_no_control_characters",
    "expect_no_mojibake",
    "expect_words_to_be_shorter_than",
    "expect_alphabetic_word_fraction_to_be_above",
}
"""Expectations on text: their judges in plain Python stand beside their own tests."""
TOLD = {"expect_prompt_to_be_ignored_in_labels", "expect_prompt_to_be_prefix", "expect_labels_to_cover_spans"}
"""Where no row says what these are about, nothing was judged, and that is no pass."""


def test_every_expectation_on_rows_has_a_judge() -> None:
    on_rows = {name for name, kind in EXPECTATIONS.items() if kind.level == "row"}
    assert on_rows - TEXT == set(JUDGES)


@dataclass(frozen=True)
class Case:
    """A data set, and the arguments of each expectation."""

    data: Data
    arguments: Mapping[str, Arguments]

    def entries(self) -> list[dict[str, Any]]:
        """Return the suite's expectations."""
        own = {} if not self.data.prefix else {"column": self.data.column}
        return [{"type": name, "kwargs": {**own, **self._named(given)}} for name, given in self.arguments.items()]

    def _named(self, arguments: Arguments) -> dict[str, Any]:
        columns = arguments.get("columns")
        named = {} if columns is None else {"columns": [self.data.prefix + column for column in columns]}
        return {**arguments, **named}


def beside(arguments: Arguments, own: Arguments) -> dict[str, Any]:
    """Return a source's own arguments, without bounds that may contradict the others', and without other columns."""
    limits = tuple(key for key in own if key.startswith(("min_", "max_")))
    clash = limits if any(key.startswith(("min_", "max_")) for key in arguments) else ()
    return {key: value for key, value in own.items() if key not in (*clash, "count_column")}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a data set, with arguments for each expectation: its own, some for a source, and mostly."""
    arguments = {}
    for name, entry in JUDGES.items():
        arguments[name] = dict(draw(entry.arguments))
        if draw(st.integers(0, 3)) == 0:
            arguments[name]["mostly"] = draw(st.sampled_from([0.0, 0.5, 0.75, 0.9, 0.3]))
        if entry.by_source and draw(st.integers(0, 3)) == 0:
            source = draw(st.sampled_from(["web", "code", "none"]))
            arguments[name]["by_source"] = {source: beside(arguments[name], draw(entry.arguments))}
    return Case(draw(datasets()), arguments)


def validated(case: Case, folder: Path) -> Result:
    case.data.write(folder)
    suite = {
        "name": "reference",
        "expectations": case.entries(),
        "meta": {"dataguard": {"vocabulary": dict(case.data.known.told)}},
    }
    return dataguard.validate(folder, suite=suite, tokenizer=case.data.known.tokenizer, store=None, jobs=1)


def lacks(data: Data, need: str) -> bool:
    """Whether what an expectation cannot do without is known or there nowhere."""
    terms = data.known.terms
    if need == "pad_or_eos":
        return terms.pad is None and terms.eos is None
    if need == "characters":
        return not terms.spelled
    roles = {"boundaries": ("cu_seqlens", "seq_lengths"), "labels": ("labels",)}.get(need)
    if roles is not None:
        return not any(role in shard.kinds for shard in data.shards for role in roles)
    return getattr(terms, need) is None


def reads(entry: Entry, arguments: Arguments) -> Sequence[str]:
    return entry.reads(arguments) if callable(entry.reads) else entry.reads


def can_judge(row: Row, data: Data, entry: Entry, arguments: Arguments) -> bool:
    """Whether the row's shard has the columns that an expectation reads."""
    has = [data.names[role] in row.cells for role in reads(entry, arguments)]
    one_of = [data.names[role] for role in entry.one_of]
    return all(has) and (not one_of or any(column in row.cells for column in one_of))


def expected(case: Case, name: str) -> tuple[Judged, bool] | None:
    """Return the verdict, and whether some of it cannot be judged; None where none of it can be."""
    entry, arguments, data = JUDGES[name], case.arguments[name], case.data
    rows = data.rows()
    sources = {row.source for row in rows}
    given = [
        arguments,
        *({**arguments, **own} for each, own in arguments.get("by_source", {}).items() if each in sources),
    ]
    needs = {need for each in given for need in (entry.needs(each) if callable(entry.needs) else entry.needs)}
    if any(lacks(data, need) for need in needs):
        return None
    own = [row for row in rows if can_judge(row, data, entry, arguments)]
    unlimited = entry.in_part is not None and data.known.terms.limit is None and any(map(entry.in_part, given))
    besides = None if entry.besides is None else entry.besides(own, arguments)
    in_part = unlimited or len(own) < len(rows)
    return judged(entry.judge, own, arguments, besides=besides, in_part=in_part), in_part


def compare(case: Case, name: str, result: ExpectationResult, found: Sequence[Sequence[Any]]) -> None:
    """Compare one verdict of the library with the reference's."""
    right = expected(case, name)
    if right is None:
        assert result.unjudged is not None
        assert not result.success
        return
    verdict, in_part = right
    reasons = dict(result.details.get("reasons", {}))
    places = [(shard, row, reason) for shard, row, reason, _ in found]
    assert places == [(case.data.shards[shard].name, row, reason) for shard, row, reason, _ in verdict.unexpected]
    for (*_, position), (*_, right_position) in zip(found, verdict.unexpected, strict=True):
        assert isinstance(right_position, Anywhere) or position == right_position
    nothing_told = name in TOLD and verdict.missing == verdict.rows and result.unjudged is not None
    assert (result.unjudged is not None) == (in_part or nothing_told)
    assert (result.element_count, result.unexpected_count) == (verdict.rows, len(verdict.unexpected))
    assert result.missing_count == verdict.missing
    assert reasons == verdict.reasons
    assert result.success == (verdict.success and not nothing_told)


@examples(150)
@given(cases())
def test_agrees_with_the_judge_in_plain_python(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = validated(case, Path(folder))
        for each in result.results:
            frame = result.unexpected(each.type)
            found = frame.select("shard", "row", "reason", "position").rows()
            note(f"{each.type} {case.arguments[each.type]}: {each}")
            compare(case, each.type, each, found)
