"""A tokenizer with more tokens than the embedding has rows, or other special ids than the model, fails on some texts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from dataguard.expectations.base import CannotJudge, Expectation, Level, Outcome
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.result import Finding, Severity
from dataguard.vocabulary.model import Vocabulary
from dataguard.vocabulary.model_folder import CONFIG
from dataguard.vocabulary.told import IDS


class ExpectTokenizerToFitModel(Expectation):
    """The embedding has a row for every token, and the model's special ids are those of the tokenizer.

    An embedding with more rows (padded to a multiple) is fine; so is a special token that only one of the two knows.
    """

    level: ClassVar[Level] = "dataset"
    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("tokenizer_exceeds_model", "special_id_mismatch", "illegal_pad_id")
    fix: ClassVar[str] = (
        "resize the embedding to the tokenizer, and write the tokenizer's ids into the model's config.json"
    )
    value_name: ClassVar[Mapping[str, str]] = {
        "tokenizer_exceeds_model": "size of the tokenizer",
        "special_id_mismatch": "the model's id",
        "illegal_pad_id": "pad id",
    }

    def needs(self, context: Context) -> Sequence[str]:
        return ("size", "embedding_rows")

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        vocabulary = context.vocabulary
        size, rows = vocabulary.size, vocabulary.embedding_rows
        if size is None or rows is None:
            raise CannotJudge(*VOCABULARY_FIELDS["size" if size is None else "embedding_rows"])
        found: list[Finding] = []
        if size > rows:
            detail = f"the tokenizer has {size:,} ids, the embedding {rows:,} rows"
            found.append(Finding("tokenizer_exceeds_model", value=size, detail=detail))
        found += _special_ids(vocabulary, rows)
        reasons = dict(sorted(Counter(each.reason for each in found).items()))
        return Outcome(
            success=not found,
            observed_value={"size": size, "embedding_rows": rows},
            findings=tuple(found),
            details={"reasons": reasons} if reasons else {},
        )


def _special_ids(vocabulary: Vocabulary, rows: int) -> Iterator[Finding]:
    """Yield the special ids of the model that are not the tokenizer's, and a pad id that no embedding has.

    An id below 0 is how configs say that there is none; but a pad id goes into the embedding as it is, where -1 is the last row.
    """
    tokens = _ids_of_tokenizer(vocabulary)
    for role, ids in vocabulary.model_ids.items():
        legal = [each for each in ids if 0 <= each < rows]
        if role == "pad" and len(legal) < len(ids):
            illegal = next(each for each in ids if each not in legal)
            detail = f"{CONFIG} says pad_token_id {illegal}, and the embedding has rows 0 to {rows - 1:,}"
            yield Finding("illegal_pad_id", value=illegal, detail=detail)
        elif role in tokens and any(each >= 0 for each in ids) and tokens[role] not in ids:
            told = ids[0] if len(ids) == 1 else list(ids)
            detail = f"{CONFIG} says {role}_token_id {told}; the {role} token of the tokenizer is {tokens[role]}"
            yield Finding("special_id_mismatch", value=told, detail=detail)
    pad = tokens.get("pad")
    if pad is not None and pad >= rows and "pad" not in vocabulary.model_ids:
        detail = f"the tokenizer pads with {pad}, and the embedding has rows 0 to {rows - 1:,}"
        yield Finding("illegal_pad_id", value=pad, detail=detail)


def _ids_of_tokenizer(vocabulary: Vocabulary) -> Mapping[str, int]:
    """Return the special ids by role as rows have them: the suite's where it says them, else the tokenizer's."""
    told = {role: number for role in IDS if (number := getattr(vocabulary, role)) is not None}
    return {
        **vocabulary.tokenizer_ids,
        **{role: number for role, number in told.items() if vocabulary.origin.get(role) != CONFIG},
    }
