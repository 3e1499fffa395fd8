"""Verdicts on texts: as a column beside ids that say nothing, and as the ids of a byte-level tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import byte_tokenizer, ids_of, judged
from tests.metrics.texts import array_of

KINDS = ("string", "large_string", "string_view", "dictionary", "ids")
each_kind = pytest.mark.parametrize("kind", KINDS)


def judge_texts(expectation: str, *texts: str | None, kind: str = "string", **arguments: Any) -> ExpectationResult:
    """Return the verdict on rows of these texts, as a column of this kind, or as ids."""
    if kind == "ids":
        rows = {"input_ids": [ids_of(text or "") for text in texts]}
        return judged(expectation, rows, tokenizer=byte_tokenizer(), **arguments)
    rows = {"input_ids": [[5, 6, 7]] * len(texts), "text": array_of(texts, kind)}
    return judged(expectation, rows, **arguments)


def judge_bytes(expectation: str, *rows: Sequence[int], **arguments: Any) -> ExpectationResult:
    """Return the verdict on rows of bytes: 0 to 255, or `bos`, `eos` by their ids below 0."""
    ids = [[byte + 4 if byte >= 0 else -byte for byte in row] for row in rows]
    return judged(expectation, {"input_ids": ids}, tokenizer=byte_tokenizer(), **arguments)


BOS, EOS = -1, -2
