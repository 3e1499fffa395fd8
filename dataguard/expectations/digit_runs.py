"""Endless digits: hexdumps, keys, tables of numbers that lost their separators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Fraction, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import characters_of, content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric


class ExpectDigitRunsToBeBelow(RowExpectation):
    """No run of digits, across tokens, is longer than max_run; at most max_fraction of the visible characters are digits."""

    reasons: ClassVar[tuple[str, ...]] = ("long_digit_run", "digit_heavy")
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source"
    value_name: ClassVar[Mapping[str, str]] = {"long_digit_run": "digits", "digit_heavy": "share of digits"}

    max_run: Annotated[int, Field(ge=1)] = 128
    max_fraction: Fraction | None = None

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), characters_of(context, self.column))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        characters = characters_of(context, self.column)
        long = characters["digit_run"] > self.max_run
        cases, value = [(long, "long_digit_run")], characters["digit_run"].cast(pl.Float64)
        if self.max_fraction is not None:
            share = characters["digits"] / characters.visible
            cases.append(((characters.visible > 0) & (share > self.max_fraction), "digit_heavy"))
            value = pl.when(long).then(value).otherwise(share.round(6))
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason(*cases),
            position=pl.when(long).then(characters["digit_position"]),
            value=value if self.max_fraction is not None else characters["digit_run"],
        )
