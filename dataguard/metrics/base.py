"""Metrics: a batch of tokens becomes numbers, one row of numbers for each row of tokens. A metric never judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from numba import njit

from dataguard.shards.batch import Batch, Values, attention_of, frozen
from dataguard.shards.roles import ATTENTION_MASK, companion, is_number_list

Numbers = Mapping[str, npt.NDArray[Any] | pl.Series]
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a loop over values and offsets: without the GIL, cached on disk, at most a few types each.

    A kernel is given proven structure and read-only inputs (`frozen`), and writes into outputs of known size.

    What makes loops use the whole width of a core: a slice for each row, indexed from 0 (numba cannot know of another index
    that it is not negative); ids compared with numbers of their own type (`as_value`); counts kept in an int32, by
    `count = np.int32(count + ...)`; no branches; and comparisons instead of min() and max().
    """
    compiled: Any
    try:
        compiled = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder to cache in can be written: then each process compiles for itself
        compiled = njit(nogil=True)(function)
    return cast("Function", compiled)


def as_value(values: Values, token: int | None) -> Any:
    """Return an id as a number of the values' type, so that loops compare at that width.

    One that is not known, or that no value of the type can be, becomes its lowest number: no id is that.
    """
    limits = np.iinfo(values.dtype)
    if token is None or not limits.min <= token <= limits.max:
        token = limits.min
    return values.dtype.type(token)


@dataclass(frozen=True)
class Metric:
    """One family of numbers with its arguments filled in. Two equal metrics are computed once.

    Subclasses are frozen dataclasses: their fields are what the numbers depend on, and nothing else, so that the key
    names them exactly.
    """

    version: ClassVar[int] = 1
    """Raised when the meaning of a number changes."""
    gives: ClassVar[Mapping[str, Any]]
    """{name: Polars type} of the numbers."""

    @cached_property
    def key(self) -> str:
        """What the numbers depend on, as text: name, version and arguments; of a plugin's metric, its module too."""
        module = type(self).__module__
        owner = "" if module.startswith("dataguard.") else f"{module}:"
        return f"{owner}{self!r}.v{self.version}"

    def __getitem__(self, name: str) -> pl.Expr:
        """Return one of the numbers as an expression over the metric table."""
        if name not in self.gives:
            msg = f"{type(self).__name__} gives {', '.join(self.gives)}, not {name}"
            raise KeyError(msg)
        return pl.col(f"{self.key}.{name}")

    def reads(self) -> tuple[str, ...]:
        """Return the roles whose columns it cannot do without."""
        raise NotImplementedError

    def may_read(self) -> tuple[str, ...]:
        """Return the roles that it reads where a shard has them."""
        return ()

    def compute(self, batch: Batch) -> Numbers:
        """Return each number for every row of the batch. Arrays of shape (R,), of the types in `gives`."""
        raise NotImplementedError

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        """Whether it can read a role's column of this type: lists of whole numbers, unless a metric says otherwise."""
        return is_number_list(kind)

    def can_compute(self, types: Mapping[str, pa.DataType]) -> bool:
        """Whether a shard has what the metric reads.

        Args:
            types: The type of each role's column.
        """
        wanted = {*self.reads(), *(role for role in self.may_read() if role in types)}
        return all(role in types and self.accepts(role, types[role]) for role in wanted)


@dataclass(frozen=True)
class Attention:
    """Which positions of a token column are attended.

    The mask where a shard has one. Without one, the pads at the ends of a row are taken as padding when `pad` is given,
    which it only is where pad differs from every other special id.
    """

    column: str
    pad: int | None = None

    @property
    def mask(self) -> str:
        """The role of the mask that goes with the column."""
        return companion(self.column, ATTENTION_MASK)

    def of(self, batch: Batch) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Return 1 where a position is attended, else 0, and whether each row could be paired with its mask.

        Returns:
            Shape (V,), uint8, laid out like the column's values; shape (R,), bool. A row whose mask has another length
            (or is null) is not paired, and none of it is attended.
        """
        own = batch.column(self.column)
        if attention_of(batch, self.column) is not None:
            return batch.set_beside(self.column, ATTENTION_MASK)
        every = frozen(np.ones(batch.rows, np.bool_))
        if self.pad is None:
            return batch.once(("ones", self.column), lambda: frozen(np.ones(len(own.values), np.uint8))), every
        key = ("unpadded", self.column, str(self.pad))
        return batch.once(key, lambda: self._without_pads(batch)), every

    def _without_pads(self, batch: Batch) -> npt.NDArray[np.uint8]:
        own = batch.column(self.column)
        attended = np.ones(len(own.values), np.uint8)
        clear_pads(own.values, own.offsets, self.pad, attended)
        return frozen(attended)


@dataclass(frozen=True)
class OfAttended(Metric):
    """A metric that looks at a token column's attended positions."""

    attention: Attention

    def reads(self) -> tuple[str, ...]:
        return (self.attention.column,)

    def may_read(self) -> tuple[str, ...]:
        return (self.attention.mask,)


@kernel
def clear_pads(values, offsets, pad, attended):  # type: ignore[no-untyped-def]
    """Write 0 over the runs of pad at both ends of every row; a row of nothing but pads loses them all."""
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        while stop > start and values[stop - 1] == pad:
            stop -= 1
            attended[stop] = 0
        while start < stop and values[start] == pad:
            attended[start] = 0
            start += 1
