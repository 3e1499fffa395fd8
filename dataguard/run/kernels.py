"""Compile every kernel now, into the cache on disk: for an image, or before the first of many processes starts."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba.core.dispatcher import Dispatcher
from pydantic import ValidationError

from dataguard.expectations.base import Expectation
from dataguard.expectations.context import Context, ShardFacts
from dataguard.metrics.base import Metric
from dataguard.run.plan import metrics_of
from dataguard.run.warm import warm
from dataguard.shards.batch import frozen
from dataguard.shards.roles import INPUT_IDS, ROLES, TARGET_SPANS, TEXT
from dataguard.vocabulary.encoder import Encoder
from dataguard.vocabulary.model import CharacterTable, Vocabulary

PER_ROW = ("source", "prompt_length")
"""Roles that hold no list of numbers, and no text."""
EMPTY_TOKENIZER = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}
"""A tokenizer.json that knows no word."""
WIDTHS = (pa.int32(), pa.int64())
"""What kernels see ids as."""


@dataclass(frozen=True)
class Warmed:
    """What has been compiled.

    Args:
        kernels: Loops that there are.
        compiled: Combinations of types that they were compiled for now.
        found: Those that had been compiled before, and were read from the cache.
        seconds: How long it took.
        cache: The folder that holds them; None where none can be written.
        left_out: Expectations of plugins that could not be asked, for want of arguments that they accept.
    """

    kernels: int
    compiled: int
    found: int
    seconds: float
    cache: str | None
    left_out: tuple[str, ...] = ()


def warm_all(table: Mapping[str, type[Expectation]], note: Callable[[str], None] = lambda _: None) -> Warmed:
    """Compile the kernels of all metrics of all expectations, for the types of columns that occur.

    Args:
        table: The expectations.
        note: Told once when it takes more than a second.
    """
    started = time.perf_counter()
    telling = _Once(note)
    for roles, metrics in planned(table):
        warm(metrics, _types(roles), telling.tell)
    kernels = list(_dispatchers({kind.__module__ for kind in table.values()}))
    caches = {str(each.stats.cache_path) for each in kernels if each.signatures and each.stats.cache_path}
    return Warmed(
        kernels=len(kernels),
        compiled=sum(len(each.stats.cache_misses) for each in kernels),
        found=sum(len(each.stats.cache_hits) for each in kernels),
        seconds=time.perf_counter() - started,
        cache=min(caches, default=None),
        left_out=tuple(name for name, kind in table.items() if not list(examples_of(kind))),
    )


class _Once:
    """Tell one text, and no second one."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note, self._told = note, False

    def tell(self, text: str) -> None:
        if not self._told:
            self._told = True
            self._note(text)


def planned(table: Mapping[str, type[Expectation]]) -> Iterator[tuple[tuple[str, ...], list[Metric]]]:
    """Yield the columns that a shard may have, each with the metrics that the expectations of a table judge there."""
    asked = [each for kind in table.values() for each in examples_of(kind)]
    for roles in role_sets():
        contexts = [Context(vocabulary, [_shard(roles)], sources=("a",)) for vocabulary in vocabularies()]
        metrics: dict[Metric, None] = {}
        for context, expectation in itertools.product(contexts, asked):
            metrics |= dict.fromkeys(metrics_of(expectation, context))
        yield roles, list(metrics)


def role_sets() -> Iterator[tuple[str, ...]]:
    """Yield the columns that a shard may have: all, the ids alone, and the ids with each other one."""
    others = [role for role in sorted(ROLES) if role != INPUT_IDS and role not in PER_ROW]
    yield (INPUT_IDS, *others)
    yield (INPUT_IDS,)
    yield from ((INPUT_IDS, role) for role in others)


def _types(roles: Iterable[str]) -> Iterator[dict[str, pa.DataType]]:
    """Yield the types that these columns may have: the ids and the others each narrow and wide."""
    for ids, rest in itertools.product(WIDTHS, repeat=2):
        yield {role: _column(role, ids if role == INPUT_IDS else rest) for role in roles}


def _column(role: str, numbers: pa.DataType) -> pa.DataType:
    """Return the type of a column of these numbers; text is text."""
    if role == TEXT:
        return pa.string()
    return pa.list_(pa.list_(numbers) if role == TARGET_SPANS else numbers)


def _shard(roles: Iterable[str]) -> ShardFacts:
    schema = pa.schema([(role, _column(role, pa.int32())) for role in roles])
    return ShardFacts("a", layout="arrow_stream", schema=schema, roles={role: role for role in roles}, rows=1, tokens=1)


def vocabularies() -> Iterator[Vocabulary]:
    """Yield what may be known of a vocabulary: everything, a pad that is eos too, and nothing."""
    table = CharacterTable("warm", frozen(np.frombuffer(b"abcdefgh", np.uint8)), frozen(np.arange(9, dtype=np.int64)))
    ids = {"pad": 0, "bos": 1, "eos": 2, "unk": 3}
    whole = {"size": 8, "base_size": 4, "embedding_rows": 8, "characters": table, "special": ids}
    encoder = Encoder("warm", lambda: EMPTY_TOKENIZER, lambda: "warm")
    known = {**whole, **ids, "encoder": encoder, "reserved": frozenset({6}), "unassigned": frozenset({7})}
    yield Vocabulary(**known)  # type: ignore[arg-type]
    yield Vocabulary(**whole, **{**ids, "pad": 2})  # type: ignore[arg-type]
    yield Vocabulary()


def examples_of(kind: type[Expectation]) -> Iterator[Expectation]:
    """Yield an expectation with the least arguments, then with each choice of each argument, and each that may be null."""
    schema = kind.model_json_schema()
    least = {name: _sample(schema["properties"][name]) for name in schema.get("required", ())}
    fields = schema["properties"].items()
    chosen = [{name: choice} for name, field in fields for choice in _choices(field)]
    chosen += [{name: _sample(field)} for name, field in fields if {"type": "null"} in field.get("anyOf", ())]
    for each in ({}, *chosen):
        with suppress(ValidationError):
            yield kind.model_validate({**least, **each})


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values of an argument that has few."""
    among = [each for alternative in schema.get("anyOf", ()) for each in _choices(alternative)]
    return [*among, *schema.get("enum", ()), *([False, True] if schema.get("type") == "boolean" else [])]


def _sample(schema: Mapping[str, Any]) -> Any:
    """Return a value that an argument may have."""
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [_sample(each) for each in schema.get("prefixItems", [schema.get("items", {})])]
    if schema.get("type") == "object":
        return {"a": _sample(schema.get("additionalProperties", {}))}
    return {"integer": max(1, schema.get("minimum", 1)), "number": schema.get("minimum", 0)}.get(
        schema.get("type", ""), INPUT_IDS
    )


def _dispatchers(plugins: Collection[str]) -> Iterator[Dispatcher]:
    """Yield every kernel of ours and of these modules, once."""
    modules = [module for name, module in sys.modules.items() if name.startswith("dataguard.") or name in plugins]
    found = {id(each): each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)}
    yield from found.values()
