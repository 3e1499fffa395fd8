"""Every rule by which a profile proposes expectations (`run.rule`)."""

from __future__ import annotations

from collections.abc import Mapping

from dataguard.run import rules_content as content
from dataguard.run import rules_labels as labels
from dataguard.run import rules_rows as rows
from dataguard.run import rules_tokens as tokens
from dataguard.run.rule import Rule, as_it_is, list_columns
from dataguard.shards.roles import ATTENTION_MASK, LABELS

RULES: Mapping[str, tuple[Rule, ...]] = {
    "Files and schema": (
        Rule(
            "expect_shards_to_be_intact",
            as_it_is("a shard that cannot be trusted stops a run in its middle"),
            whole=True,
        ),
        Rule("expect_shards_to_match_manifest", as_it_is("files say what DATA holds"), ("manifest",), whole=True),
        Rule("expect_schemas_to_match", as_it_is("all shards have the columns and types of the others"), whole=True),
        Rule(
            "expect_columns_to_exist",
            rows.columns,
            variants=rows.columns_asked,
            whole=True,
        ),
        Rule("expect_dtypes_to_fit", rows.dtypes, ("vocabulary",), list_columns),
        Rule("expect_row_count_to_be_between", rows.row_count, whole=True),
        Rule("expect_sources_to_be_known", rows.sources, ("source",), whole=True),
    ),
    "Rows": (
        Rule("expect_rows_not_to_be_null", rows.each_list("nulls stop the collator"), (), list_columns),
        Rule("expect_rows_not_to_be_empty", as_it_is("rows without content train on nothing")),
        Rule("expect_columns_to_have_equal_lengths", rows.equal_lengths),
        Rule("expect_sequence_lengths_to_be_between", rows.lengths),
        Rule("expect_rows_to_be_unique", rows.unique, (), rows.unique_columns),
        Rule("expect_row_token_share_to_be_below", rows.token_share),
    ),
    "Tokens": (
        Rule("expect_token_ids_to_be_in_vocabulary", tokens.ids),
        Rule(
            "expect_token_encoding_to_be_plausible",
            as_it_is("ids that were stored otherwise than they are read show a pattern"),
            ("vocabulary",),
        ),
        Rule(
            "expect_tokenizer_to_fit_model",
            as_it_is("the model has a row for each id of the tokenizer"),
            ("size", "embedding_rows"),
            whole=True,
        ),
        Rule("expect_token_ids_to_be_assigned", as_it_is("every id is one of the tokenizer's"), ("size",)),
        Rule("expect_unknown_token_fraction_to_be_below", tokens.unknown, ("unk",)),
        Rule("expect_bos_at_document_starts", tokens.bos, ("bos",)),
        Rule("expect_eos_at_document_ends", tokens.eos, ("eos",)),
        Rule("expect_no_eos_inside_documents", tokens.eos_inside, ("eos",)),
    ),
    "Truncation, padding and mask": (
        Rule("expect_truncation_to_be_consistent_across_sources", tokens.truncation, ("source",)),
        Rule("expect_padding_side_to_be", tokens.padding_side),
        Rule("expect_padding_to_be_contiguous", as_it_is("padding stands at the ends of rows")),
        Rule("expect_attention_mask_to_match_padding", as_it_is("what is padding is not attended"), ("pad_or_eos",)),
        Rule("expect_attention_mask_to_be_binary", tokens.mask, (ATTENTION_MASK,), tokens.segments),
    ),
    "Labels": (
        Rule("expect_labels_to_align_with_input_ids", labels.align, (LABELS, "causal"), labels.shifts),
        Rule("expect_labels_to_be_in_vocabulary", as_it_is("labels are ids, or -100"), (LABELS, "vocabulary")),
        Rule("expect_supervised_tokens_to_be_between", labels.supervised, (LABELS,)),
        Rule("expect_padding_to_be_ignored_in_labels", as_it_is("padding is not learned"), (LABELS,)),
        Rule("expect_eos_to_be_supervised", labels.eos_supervised, (LABELS, "eos", "causal")),
        Rule(
            "expect_labels_not_to_cross_documents", labels.crossing, (LABELS, "documents", "causal"), labels.crossings
        ),
    ),
    "Prompts": (
        Rule("expect_prompt_to_be_ignored_in_labels", labels.prompts, (LABELS, "prompt", "causal"), labels.shifts),
        Rule("expect_prompt_to_be_prefix", labels.prefix, ("prompt_ids",)),
        Rule("expect_labels_to_cover_spans", labels.spans, (LABELS, "target_spans"), labels.shifts),
    ),
    "Packing": (
        Rule("expect_position_ids_to_be_consistent", labels.positions, ("position_ids",), labels.restarts),
        Rule("expect_document_boundaries_to_be_consistent", as_it_is("boundaries fit the rows"), ("boundaries",)),
    ),
    "Dirty samples": (
        Rule("expect_rows_not_to_be_periodic", content.periodic, (), lambda _: ({"max_repeats": 80},)),
        Rule("expect_rows_not_to_be_repetitive", content.repetitive, ("characters",)),
        Rule("expect_symbol_fraction_to_be_below", content.symbols, ("characters",)),
        Rule("expect_digit_runs_to_be_below", content.digits, ("characters",)),
        *(Rule(kind, content.rare(kind), ("characters",)) for kind in content.RARELY),
    ),
    "Distribution": (
        Rule(
            "expect_source_token_share_to_be_between",
            content.source_shares,
            ("source",),
            lambda _: ({"shares": {"a": [0, 1]}},),
        ),
    ),
}
"""By section of the suite, in the order of the catalogue."""
NUMBERS_READ = (
    "tokens",
    "attended_tokens",
    "highest_id",
    "unknown_fraction",
    "targets",
    "supervised_fraction",
    "symbol_fraction",
    "digit_run",
)
"""Numbers that the rules ask for."""
