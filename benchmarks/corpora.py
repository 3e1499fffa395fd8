"""Real text as training rows: corpora are tokenized and laid out as the shipped suites expect them, one shard a corpus."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

ROW_TOKENS = 2048
SUFFIX = ".jsonl.gz"
ENCODED_AT_ONCE = 256
"""Texts in one call of the tokenizer, which bounds what its objects hold."""
IGNORED = -100
Ids = NDArray[np.int32]


def corpora_of(folder: Path) -> list[Path]:
    """Return the corpora of a folder, `NAME.jsonl.gz` with a `text` in each line."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def name_of(corpus: Path) -> str:
    """Return a corpus' name."""
    return corpus.name.removesuffix(SUFFIX)


def texts_of(corpus: Path, most: int | None = None) -> list[str]:
    """Return the documents of a corpus; lines end at line feeds alone, since texts hold other separators."""
    with gzip.open(corpus, "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line)["text"] for line in islice(lines, most)]


@dataclass(frozen=True)
class Known:
    """A tokenizer's folder, and what it says of special tokens."""

    folder: Path

    @cached_property
    def own(self) -> Any:
        """The tokenizer, without the truncation and padding that its file may ask for."""
        from tokenizers import Tokenizer

        own = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        own.no_truncation()
        own.no_padding()
        return own

    def special(self, role: str) -> int | None:
        """Return the id of a special token, such as `eos`; None where the folder names none."""
        config = self.folder / "tokenizer_config.json"
        named = json.loads(config.read_text(encoding="utf-8")).get(f"{role}_token") if config.exists() else None
        content = named.get("content") if isinstance(named, dict) else named
        return None if content is None else self.own.token_to_id(content)

    def encoded(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of each text, as scripts for training make them: what the tokenizer adds, and eos behind it."""
        eos = self.special("eos")
        last = np.array([] if eos is None else [eos], np.int32)
        return [
            np.concatenate([np.array(each.ids, np.int32), last])
            for start in range(0, len(texts), ENCODED_AT_ONCE)
            for each in self.own.encode_batch_fast(texts[start : start + ENCODED_AT_ONCE])
        ]

    def text(self, ids: Ids) -> str:
        """Return the text of a row."""
        return str(self.own.decode(ids.tolist(), skip_special_tokens=False))


@dataclass(frozen=True)
class Rows:
    """The rows of a corpus.

    Args:
        ids: What is judged; of a pair both sides, one behind the other.
        columns: Columns beside `input_ids` (all columns, where there is none), a list a row.
        texts: The text of each row that is a whole document.
    """

    ids: Sequence[Ids]
    columns: Mapping[str, Sequence[NDArray[Any]]]
    texts: Sequence[str | None]

    def table(self, source: str) -> pa.Table:
        """Return the rows as a shard."""
        lists = {name: listed(rows) for name, rows in self.columns.items()}
        return pa.table({**lists, "source": pa.repeat(source, len(self.ids))})


def listed(rows: Sequence[NDArray[Any]]) -> pa.Array:
    """Return a list column."""
    offsets = np.cumsum([0, *(row.size for row in rows)], dtype=np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(rows)))


@dataclass(frozen=True)
class Documents:
    """The documents of a corpus, under a tokenizer."""

    texts: Sequence[str]
    ids: Sequence[Ids]
    known: Known


def whole(documents: Documents) -> Rows:
    """Return each document as a row."""
    return Rows(documents.ids, {"input_ids": documents.ids}, documents.texts)


def joined(documents: Documents) -> Rows:
    """Return all documents joined, and cut into rows of ROW_TOKENS."""
    rows = cut(np.concatenate(documents.ids))
    return Rows(rows, {"input_ids": rows}, [None] * len(rows))


def cut(stream: NDArray[Any]) -> list[NDArray[Any]]:
    """Return a stream in pieces of ROW_TOKENS."""
    return [stream[start : start + ROW_TOKENS] for start in range(0, stream.size, ROW_TOKENS)]


def packs(documents: Documents) -> Rows:
    """Return rows of several documents with what tells them apart, and with labels."""
    plain = joined(documents)
    numbers = cut(np.repeat(np.arange(len(documents.ids)), [each.size for each in documents.ids]))
    columns = {
        "input_ids": plain.ids,
        "labels": [row.astype(np.int64) for row in plain.ids],
        "document_ids": numbers,
        "position_ids": [counted(row) for row in numbers],
        "seq_lengths": [np.unique(row, return_counts=True)[1] for row in numbers],
    }
    return replace(plain, columns=columns)


def counted(documents: NDArray[Any]) -> NDArray[Any]:
    """Return positions that begin anew with each document of a row."""
    starts = np.flatnonzero(np.diff(documents, prepend=documents[0] - 1))
    return np.arange(documents.size) - np.repeat(starts, np.diff(starts, append=documents.size))


def answers(documents: Documents) -> Rows:
    """Return each document cut at ROW_TOKENS and padded to it, with a mask, and labels behind the first quarter."""
    uncut = [text if ids.size <= ROW_TOKENS else None for text, ids in zip(documents.texts, documents.ids, strict=True)]
    return Rows([each[:ROW_TOKENS] for each in documents.ids], padded(documents.ids, documents.known), uncut)


def pairs(documents: Documents) -> Rows:
    """Return each document and the next as the chosen and the rejected side of a pair."""
    two = list(zip(documents.ids[0::2], documents.ids[1::2], strict=False))
    sides = {"chosen_": [one for one, _ in two], "rejected_": [other for _, other in two]}
    columns = {
        prefix + name: rows for prefix, side in sides.items() for name, rows in padded(side, documents.known).items()
    }
    return Rows([np.concatenate([each[:ROW_TOKENS] for each in pair]) for pair in two], columns, [None] * len(two))


def padded(documents: Sequence[Ids], known: Known) -> dict[str, list[NDArray[Any]]]:
    """Return the columns of documents that are cut and padded on the right, eos standing for a pad id that is not there."""
    pad = known.special("pad")
    pad = known.special("eos") if pad is None else pad
    columns: dict[str, list[NDArray[Any]]] = {"input_ids": [], "attention_mask": [], "labels": []}
    for each in documents:
        length = min(each.size, ROW_TOKENS)
        ids = np.full(ROW_TOKENS, pad, np.int32)
        ids[:length] = each[:length]
        mask = (np.arange(ROW_TOKENS) < length).astype(np.int8)
        labels = np.where(mask == 1, ids, IGNORED).astype(np.int64)
        labels[: length // 4] = IGNORED
        for rows, values in zip(columns.values(), (ids, mask, labels), strict=True):
            rows.append(values)
    return columns
