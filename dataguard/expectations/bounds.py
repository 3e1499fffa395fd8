"""Two arguments that bound one number: a lower bound above the upper one could hold for no data."""

from __future__ import annotations

from pydantic import BaseModel


def demand_order(arguments: BaseModel, lower: str, upper: str) -> None:
    """Refuse bounds that nothing lies between; a bound that is None bounds nothing.

    Raises:
        ValueError: The lower bound is above the upper one; pydantic turns it into an objection to the arguments.
    """
    low, high = getattr(arguments, lower), getattr(arguments, upper)
    if low is not None and high is not None and low > high:
        msg = f"{lower} ({low}) is above {upper} ({high})"
        raise ValueError(msg)
