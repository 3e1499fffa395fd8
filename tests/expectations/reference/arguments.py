"""Made-up arguments, and what each expectation reads and needs: the table of the judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.expectations.reference import labels, packing, padding, samples, tokens
from tests.expectations.reference.judging import Arguments, Judge, each
from tests.expectations.reference.terms import Row

Drawn = st.SearchStrategy[dict[str, Any]]


def some(**optional: Any) -> Drawn:
    """Return some of these arguments; a list of values stands for one of them."""
    given = {
        name: values if isinstance(values, st.SearchStrategy) else st.sampled_from(values)
        for name, values in optional.items()
    }
    return st.fixed_dictionaries({}, optional=given)


def bounds(least: str, most: str, values: Sequence[Any]) -> Drawn:
    """Return a lower and an upper bound in order, or one of them."""
    pair = st.tuples(*[st.sampled_from([None, *values])] * 2)
    ordered = pair.map(lambda both: both if None in both or both[0] <= both[1] else both[::-1])
    return ordered.map(lambda both: {k: v for k, v in zip((least, most), both, strict=True) if v is not None})


def joined(*drawn: Drawn) -> Drawn:
    return st.tuples(*drawn).map(lambda all_of_them: {k: v for each in all_of_them for k, v in each.items()})


@dataclass(frozen=True)
class Entry:
    """How an expectation is judged here.

    Args:
        judge: Judges all rows.
        arguments: What may be given.
        reads: Roles beside the ids that a shard must have; a function where the arguments decide.
        one_of: Roles of which it must have one.
        needs: What must be known of the vocabulary, or `any` of some columns.
        by_source: Whether arguments may differ for a source.
        in_part: Whether rows can be judged in part only where no limit is known.
        besides: Reasons that name no row.
    """

    judge: Judge
    arguments: Drawn = field(default_factory=lambda: st.just({}))
    reads: Sequence[str] | Callable[[Arguments], Sequence[str]] = ()
    one_of: Sequence[str] = ()
    needs: Sequence[str] | Callable[[Arguments], Sequence[str]] = ()
    by_source: bool = True
    in_part: Callable[[Arguments], bool] | None = None
    besides: Callable[[Sequence[Row], Arguments], Mapping[str, int]] | None = None


SHIFT, IGNORE = [0, 1], [-100, -100, -1, 0]
STOPS = st.lists(st.sampled_from([2, 5, 6, 0]), min_size=1, max_size=2)
FRACTIONS = [0.0, 0.1, 0.3, 0.5, 1.0]
IDS = st.lists(st.sampled_from([5, 6, 7, 0, 2, -1, 2**31 - 1, 2**63 - 1]), min_size=1, max_size=2)


def lengths() -> Drawn:
    given = joined(bounds("min_length", "max_length", [1, 3, 6]), some(multiple_of=[1, 2, 3, 4], extra=[0, 1, 4]))
    return given.map(lambda found: found if found.keys() - {"extra"} else {**found, "min_length": 2})


def unless_given(name: str, needed: str) -> Callable[[Arguments], Sequence[str]]:
    """Return what is needed of the vocabulary where an argument does not say it."""
    return lambda arguments: () if arguments.get(name) is not None else (needed,)


def across(arguments: Arguments) -> Sequence[str]:
    document = arguments.get("restart", "document") == "document"
    return ("document_ids",) if arguments.get("across_rows") and document else ()


def of_metric(arguments: Arguments) -> Sequence[str]:
    return [need for need in samples.NUMBERS[arguments["metric"]] if need == "labels"]


def known_for_metric(arguments: Arguments) -> Sequence[str]:
    return samples.NUMBERS[arguments["metric"]]


METRIC = st.builds(
    lambda metric, found: {"metric": metric, **(found or {"min_value": 1})},
    st.sampled_from(list(samples.NUMBERS)),
    bounds("min_value", "max_value", [0, 0.25, 0.5, 1, 2, 5, 300]),
)
COUNTS = joined(
    IDS.map(lambda found: {"tokens": found}),
    st.one_of(bounds("min_count", "max_count", [0, 1, 2]), st.just({"count_column": "images"})),
).map(
    lambda found: (
        {**found, "min_count": min(1, found["max_count"])}
        if "max_count" in found and "min_count" not in found
        else found
    )
)

JUDGES: Mapping[str, Entry] = {
    "expect_sources_to_be_known": Entry(
        each(tokens.sources_known), some(allowed=st.lists(st.sampled_from(["web", "code"]), max_size=2))
    ),
    "expect_rows_not_to_be_null": Entry(each(tokens.rows_not_null)),
    "expect_rows_not_to_be_empty": Entry(each(tokens.rows_not_empty), some(ignore_special=[True, False])),
    "expect_columns_to_have_equal_lengths": Entry(each(tokens.equal_lengths)),
    "expect_sequence_lengths_to_be_between": Entry(each(tokens.sequence_lengths), lengths()),
    "expect_rows_to_be_unique": Entry(
        tokens.rows_unique,
        some(columns=[["input_ids"], ["input_ids", "labels"], ["labels"], ["attention_mask", "input_ids"]]),
        reads=lambda arguments: [column for column in arguments.get("columns", ()) if column != "input_ids"],
        by_source=False,
    ),
    "expect_row_token_share_to_be_below": Entry(tokens.row_token_share, some(max_share=FRACTIONS, min_rows=[1, 2, 20])),
    "expect_token_ids_to_be_in_vocabulary": Entry(
        each(tokens.ids_in_vocabulary),
        some(limit=[7, 100, 2**31], sentinels=st.lists(st.sampled_from([-1, -100, 260, 5]), max_size=2)),
        in_part=lambda arguments: arguments.get("limit") is None,
    ),
    "expect_token_ids_to_be_assigned": Entry(each(tokens.ids_assigned), needs=("size",)),
    "expect_unknown_token_fraction_to_be_below": Entry(
        each(tokens.unknown_tokens), some(max_fraction=FRACTIONS), needs=("unk",)
    ),
    "expect_rows_to_contain_tokens": Entry(
        each(tokens.contain_tokens),
        COUNTS,
        reads=lambda arguments: ("images",) if "count_column" in arguments else (),
    ),
    "expect_bos_at_document_starts": Entry(
        each(tokens.bos_at_starts), some(policy=["optional", "required", "forbidden"]), needs=("bos",)
    ),
    "expect_eos_at_document_ends": Entry(
        each(tokens.eos_at_ends),
        some(policy=["unless_truncated", "required", "optional", "forbidden"], max_length=[1, 4, 6], stop_ids=STOPS),
        needs=unless_given("stop_ids", "eos"),
    ),
    "expect_no_eos_inside_documents": Entry(
        tokens.no_eos_inside,
        some(packed=["auto", "auto", True, False, False, False], across_rows=[True, False, False]),
        reads=lambda arguments: ("document_ids",) if arguments.get("across_rows") else (),
        needs=("eos",),
        by_source=False,
    ),
    "expect_padding_side_to_be": Entry(
        padding.padding_side, some(side=["auto", "auto", "left", "right", "none"]), besides=padding.tie
    ),
    "expect_padding_to_be_contiguous": Entry(each(padding.padding_contiguous)),
    "expect_attention_mask_to_match_padding": Entry(
        padding.mask_matches_padding, some(pad_shared=["auto", True, False]), needs=("pad_or_eos",)
    ),
    "expect_attention_mask_to_be_binary": Entry(
        each(padding.mask_binary), some(segments=[True, False]), reads=("attention_mask",)
    ),
    "expect_labels_to_align_with_input_ids": Entry(
        each(labels.labels_align), some(shift=SHIFT, ignore_index=IGNORE), reads=("labels",)
    ),
    "expect_labels_to_be_in_vocabulary": Entry(
        each(labels.labels_in_vocabulary),
        some(limit=[7, 100], ignore_index=IGNORE),
        reads=("labels",),
        in_part=lambda arguments: arguments.get("limit") is None,
    ),
    "expect_padding_to_be_ignored_in_labels": Entry(
        labels.padding_ignored, some(ignore_index=IGNORE), reads=("labels",)
    ),
    "expect_supervised_tokens_to_be_between": Entry(
        each(labels.supervised_tokens),
        joined(
            bounds("min_value", "max_value", [1, 2, 4]), some(shift=SHIFT, max_length=[1, 4, 6], ignore_index=IGNORE)
        ),
        reads=("labels",),
    ),
    "expect_prompt_to_be_ignored_in_labels": Entry(
        each(labels.prompt_ignored),
        some(shift=SHIFT, train_on_prompt=[True, False], ignore_index=IGNORE),
        reads=("labels",),
        one_of=("prompt_length", "prompt_ids"),
    ),
    "expect_prompt_to_be_prefix": Entry(each(labels.prompt_prefix), reads=("prompt_ids",)),
    "expect_labels_to_cover_spans": Entry(
        each(labels.cover_spans), some(shift=SHIFT, ignore_index=IGNORE), reads=("labels", "target_spans")
    ),
    "expect_labels_not_to_cross_documents": Entry(
        each(labels.labels_not_crossing),
        some(shift=SHIFT, allow=[False, False, True], ignore_index=IGNORE),
        reads=("labels",),
    ),
    "expect_position_ids_to_be_consistent": Entry(
        packing.positions,
        some(restart=["document", "row", "never"], start=[0, 1, "any"], across_rows=[True, False]),
        reads=lambda arguments: ("position_ids", *across(arguments)),
        by_source=False,
    ),
    "expect_document_boundaries_to_be_consistent": Entry(each(packing.boundaries), needs=("boundaries",)),
    "expect_rows_not_to_be_periodic": Entry(
        each(samples.periodic),
        some(max_period=[1, 2, 13], max_repeats=[1, 2, 15, 16, 31, 32], ignore_white_space=[True, False]),
    ),
    "expect_symbol_fraction_to_be_below": Entry(
        each(samples.symbol_fraction), some(max_fraction=FRACTIONS, min_tokens=[0, 1, 3]), needs=("characters",)
    ),
    "expect_digit_runs_to_be_below": Entry(
        each(samples.digit_runs), some(max_run=[1, 3, 20], max_fraction=FRACTIONS), needs=("characters",)
    ),
    "expect_metric_to_be_between": Entry(
        each(samples.metric_between), METRIC, reads=of_metric, needs=known_for_metric, by_source=False
    ),
}
"""Every expectation on rows. Those on text have their judges beside their own tests."""
