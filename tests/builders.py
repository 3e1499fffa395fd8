"""Small data for tests: rows of ids become batches and tables, an expectation and a table become a verdict."""

from __future__ import annotations

import atexit
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import dataguard
from dataguard.expectations.divided import Scratch
from dataguard.metrics.base import Metric
from dataguard.result import ExpectationResult
from dataguard.run.sampler import Judging
from dataguard.sampler.observation import observation_of
from dataguard.shards.batch import Batch
from dataguard.suite.loading import load_suite
from dataguard.vocabulary.model import CharacterTable

Orders = Sequence[Sequence[int]]
Rows = Sequence[Sequence[Any] | None]
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
"""Ids 0 to 3 of `byte_tokenizer`; byte b is the id 4 + b."""


def list_array(rows: Rows, kind: pa.DataType | None = None, layout: str = "list", skip: int = 0) -> pa.Array:
    """Return rows as an Arrow array.

    Args:
        rows: Lists of numbers; None is a null row, or a null inside one.
        kind: Type of the numbers; int32 where it is not told.
        layout: list, large_list, list_view, large_list_view, fixed (all rows must have one length), or hiding (a list whose
            null rows own numbers that are not to be seen).
        skip: Cut the array out of a longer one: so many more rows stand before it, and one behind it.
    """
    kind = kind or pa.int32()
    width = next((len(row) for row in rows if row is not None), 1)
    filler = [[1] * (width if layout == "fixed" else 2)]
    kinds = {
        "list": pa.list_(kind),
        "large_list": pa.large_list(kind),
        "list_view": pa.list_view(kind),
        "large_list_view": pa.large_list_view(kind),
        "fixed": pa.list_(kind, width),
    }
    padded: list[Any] = [*filler * skip, *rows, *(filler if skip else [])]
    if pa.types.is_boolean(kind):
        padded = [None if row is None else [None if each is None else bool(each) for each in row] for row in padded]
    if layout == "hiding":
        shown = pa.array([[1, 1, 1] if row is None else row for row in padded], kinds["list"])
        null = pa.array([row is None for row in padded], pa.bool_())
        return pa.ListArray.from_arrays(shown.offsets, shown.values, mask=null).slice(skip, len(rows))
    return pa.array(padded, kinds[layout]).slice(skip, len(rows))


def table_of(*, types: Mapping[str, pa.DataType] | None = None, **columns: Any) -> pa.Table:
    """Return columns as a table: lists of numbers are int32 unless `types` says otherwise, what is no list is left alone."""
    types, arrays = types or {}, {}
    for name, rows in columns.items():
        if isinstance(rows, pa.Array):
            arrays[name] = rows
        elif all(row is None or isinstance(row, list) for row in rows):
            arrays[name] = list_array(rows, types.get(name))
        else:
            arrays[name] = pa.array(rows, types.get(name))
    return pa.table(arrays)


def batch_of(*, kind: pa.DataType | None = None, layout: str = "list", skip: int = 0, **columns: Rows) -> Batch:
    """Return rows by role as metrics see them; the arguments are those of `list_array`, for input_ids alone."""
    arrays = {
        role: list_array(rows, kind, layout, skip) if role == "input_ids" else list_array(rows, pa.int64())
        for role, rows in columns.items()
    }
    return Batch(arrays, len(next(iter(arrays.values()))))


def scratch_in(folder: Path) -> Scratch:
    """Return a place for numbers that do not fit into memory."""
    return Scratch(lambda: Path(tempfile.mkdtemp(dir=folder)), nullcontext)


def numbers(metric: Metric, batch: Batch) -> list[dict[str, Any]]:
    """Return what a metric gives, row by row."""
    given = metric.compute(batch)
    assert list(given) == list(metric.gives)
    lists = {
        name: values.to_list() if isinstance(values, pl.Series) else values.tolist() for name, values in given.items()
    }
    assert all(len(values) == batch.rows for values in lists.values())
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def table_of_characters(*spelled: bytes) -> CharacterTable:
    """Return a table in which id i stands for the i-th bytes."""
    data = np.frombuffer(b"".join(spelled), np.uint8).copy()
    offsets = np.cumsum([0, *(len(each) for each in spelled)]).astype(np.int64)
    data.flags.writeable = offsets.flags.writeable = False
    return CharacterTable(repr(spelled), data, offsets)


def judged(
    expectation: str,
    data: Any,
    *,
    vocabulary: Mapping[str, Any] | None = None,
    tokenizer: Path | None = None,
    columns: Mapping[str, str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    severity: str | None = None,
    **arguments: Any,
) -> ExpectationResult:
    """Return the verdict of one expectation.

    Args:
        expectation: Its type.
        data: A table, columns as `table_of` takes them, or a path.
        vocabulary, columns: `meta.dataguard` of the suite.
        arguments: The expectation's own; `columns_` is the argument `columns`.
    """
    arguments = {name.removesuffix("_"): value for name, value in arguments.items()}
    entry: dict[str, Any] = {"type": expectation, "kwargs": arguments}
    if severity is not None:
        entry["severity"] = severity
    settings = {"vocabulary": dict(vocabulary or {}), "columns": dict(columns or {})}
    suite = {"name": "test", "expectations": [entry], "meta": {"dataguard": settings}}
    rows = table_of(**data) if isinstance(data, Mapping) else data
    result = dataguard.validate(rows, suite=suite, tokenizer=tokenizer, parameters=parameters, jobs=1)
    return next(each for each in result.results if each.type == expectation)


def found(result: ExpectationResult) -> list[tuple[int | None, str]]:
    """Return (row, reason) of every finding."""
    return [(each.row, each.reason) for each in result.findings]


def reasons(result: ExpectationResult) -> dict[str, int]:
    """Return how often each reason was given."""
    return dict(result.details.get("reasons", {}))


@cache
def byte_tokenizer(special: tuple[str, ...] = SPECIAL, names: tuple[str, ...] = ("pad", "bos", "eos", "unk")) -> Path:
    """Return the folder of a byte-level tokenizer without merges: the special tokens first, then byte by byte.

    Args:
        special: The special tokens.
        names: What each of them is called; fewer names than tokens leave the rest without.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    spelled = {byte: chr(byte) for byte in printable} | {byte: chr(256 + place) for place, byte in enumerate(others)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    pieces = {token: place for place, token in enumerate(special)}
    pieces |= {spelled[byte]: len(special) + byte for byte in range(256)}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": place, "content": token, **flags} for place, token in enumerate(special)],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": pieces, "merges": []},
    }
    scratch = tempfile.TemporaryDirectory(prefix="dataguard-test-")
    atexit.register(scratch.cleanup)
    folder = Path(scratch.name)
    (folder / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    config = {f"{name}_token": token for name, token in zip(names, special, strict=False)}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def ids_of(text: str) -> list[int]:
    """Return the ids of a text under `byte_tokenizer()`."""
    return [len(SPECIAL) + byte for byte in text.encode()]


def observation(*epochs: Orders, samples: int | None = None, **more: Any) -> dict[str, Any]:
    """Return an observation as a document.

    Args:
        epochs: What each rank took in epochs 0, 1, …
        samples: Of the dataset; as many as occur where it is not told.
        more: Other keys; batch_size is 1 where it is not told.
    """
    numbers = [sample for ranks in epochs for order in ranks for sample in order]
    return {
        "samples": max(numbers, default=-1) + 1 if samples is None else samples,
        "world_size": len(epochs[0]),
        "batch_size": 1,
        "epochs": [{"epoch": number, "ranks": ranks} for number, ranks in enumerate(epochs)],
        **more,
    }


def sampled(type: str, document: Mapping[str, Any], **kwargs: Any) -> ExpectationResult:
    """Return the verdict of one expectation on an observation."""
    suite = load_suite({"expectations": [{"type": type, "kwargs": kwargs}]})
    seen = observation_of(json.dumps(document), "observed.json")
    (result,) = Judging(suite, seen, "info").result(chosen=False).results
    return result
