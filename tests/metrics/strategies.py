"""Rows as real and unreal shards have them, in every layout that kernels may be given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from dataguard.shards.batch import Batch
from tests.builders import list_array
from tests.examples import examples

quick = examples(60)

EXTREMES: dict[pa.DataType, tuple[int, ...]] = {
    pa.int32(): (-(2**31), -100, -1, 2**31 - 1),
    pa.int64(): (-(2**63), -(2**31) - 1, -1, 2**31, 2**63 - 1),
    pa.int8(): (-(2**7), -100, -1, 2**7 - 1),
    pa.int16(): (-(2**15), -100, -1, 2**15 - 1),
    pa.uint8(): (2**7, 2**8 - 1),
    pa.uint16(): (2**15, 2**16 - 1),
    pa.uint32(): (2**31, 2**32 - 1),
    pa.uint64(): (2**32, 2**63 - 1, 2**63, 2**64 - 1),
}
KINDS = st.sampled_from(list(EXTREMES))
RAGGED = st.sampled_from(["list", "large_list", "list_view", "large_list_view", "hiding"])
LAYOUTS = st.one_of(RAGGED, st.just("fixed"))


def ids(kind: pa.DataType, few: int = 6) -> st.SearchStrategy[int]:
    """Return few small ids, so that they repeat, and now and then one that no vocabulary has."""
    small = st.integers(0, few - 1)
    return st.one_of(small, small, small, st.sampled_from(EXTREMES[kind]))


@dataclass(frozen=True)
class Given:
    """Rows, and the batch that holds them; an unsigned id past the end of int64 is its largest number here, as it is there."""

    rows: list[list[int] | None]
    batch: Batch
    beside: list[list[int] | None] | None = None
    """The rows of the companion, where there is one."""


@st.composite
def batches(
    draw: st.DrawFn,
    *,
    companion: str | None = None,
    values: Callable[[pa.DataType], st.SearchStrategy[int]] = ids,
    beside: st.SearchStrategy[int] | None = None,
    most: int = 12,
) -> Given:
    """Return a batch of input_ids in some type and layout, maybe sliced, with nulls and empty rows.

    Args:
        companion: Role of a column beside them, mostly of equal lengths, sometimes absent.
        values: Ids by type.
        beside: Values of the companion.
        most: Tokens in a row at most.
    """
    kind, layout, skip = draw(KINDS), draw(LAYOUTS), draw(st.integers(0, 2))
    width = draw(st.integers(1, most)) if layout == "fixed" else None
    least, longest = (0, most) if width is None else (width, width)
    row = st.lists(values(kind), min_size=least, max_size=longest)
    rows: list[Any] = draw(st.lists(st.one_of(row, row, row, st.none()), max_size=5))
    columns = {"input_ids": list_array(rows, kind, layout, skip)}
    others: list[Any] | None = None
    if companion is not None and draw(st.integers(0, 3)):
        cells = st.integers(0, 1) if beside is None else beside
        others = []
        for each in rows:
            size = len(each or [])
            equal, other = st.lists(cells, min_size=size, max_size=size), st.lists(cells, max_size=3)
            others.append(draw(st.one_of(equal, equal, equal, equal, other, st.none())))
        kinds = st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64()])
        columns[companion] = list_array(others, draw(kinds), draw(RAGGED), draw(st.integers(0, 1)))
    rows = [None if each is None else [min(token, 2**63 - 1) for token in each] for each in rows]
    return Given(rows, Batch(columns, len(rows)), others)


def pairs(row: list[int] | None, other: list[int] | None) -> bool:
    """Whether two columns of a row pair: neither is null, and they have one length."""
    return row is not None and other is not None and len(row) == len(other)


def attended(given: Given, pad: int | None) -> list[list[bool] | None]:
    """Return which positions are attended, by the plainest loop; None where a row does not pair with its mask."""
    if given.beside is not None:
        both = zip(given.rows, given.beside, strict=True)
        return [[each != 0 for each in mask or []] if pairs(row, mask) else None for row, mask in both]
    return [unpadded(row or [], pad) for row in given.rows]


def unpadded(row: list[int], pad: int | None) -> list[bool]:
    """Return which positions are no padding: those that have something else than a pad on both sides, or are none."""
    return [any(x != pad for x in row[: i + 1]) and any(x != pad for x in row[i:]) for i in range(len(row))]
