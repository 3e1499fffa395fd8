"""How a sampler is set up, and the words in which it is refused where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dataguard.errors import UsageError, nearest
from dataguard.expectations.observation import DropLast, Dropping

LEAST = {"world_size": 1, "batch_size": 1, "epochs": 1, "seed": 0, "num_workers": 0, "grad_accum": 1}
HIGHEST = (1 << 63) - (1 << 32)
"""Of a seed, so that seed plus epoch is one that torch takes as well."""
MOST_RANKS = 1 << 20
DROPS: dict[str, DropLast] = {"none": False, "both": True, "sampler": "sampler", "loader": "loader"}
"""What --drop-last may be, and what it means."""


@dataclass(frozen=True)
class Settings(Dropping):
    """What a training run tells its sampler and its loader.

    Args:
        world_size: Number of ranks.
        batch_size: Samples in a batch of one rank.
        epochs: How many, from epoch 0.
        seed: Of the sampler, the same on every rank.
        shuffle: Whether the sampler shuffles.
        drop_last: What is left out.
        num_workers: Of each rank's loader.
        grad_accum: Batches of a rank before the ranks meet.
    """

    world_size: int = 1
    batch_size: int = 1
    epochs: int = 2
    seed: int = 0
    shuffle: bool = True
    drop_last: DropLast = False
    num_workers: int = 0
    grad_accum: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            least, value = LEAST.get(field.name), getattr(self, field.name)
            if least is None:
                continue
            option = f"--{field.name.replace('_', '-')}"
            most = {"seed": HIGHEST, "world_size": MOST_RANKS}.get(field.name, 1 << 31)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                why = f"it must be a whole number from {least} up" + (
                    f" to {most}" if value_is_high(value, most) else ""
                )
                raise UsageError(f"{option} cannot be {value!r}", why=why)
        if not isinstance(self.shuffle, bool):
            raise UsageError(f"--shuffle cannot be {self.shuffle!r}", why="it must be true or false")
        if self.drop_last not in DROPS.values():
            raise UsageError(f"--drop-last cannot be {self.drop_last!r}", fix=f"give one of {', '.join(DROPS)}")


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return settings from a mapping, such as `sampler` of a dataguard.yaml.

    Raises:
        UsageError: It holds what there is not, or a value that cannot be.
    """
    known = [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            raise UsageError(f"sampler has no setting {name}", fix=nearest(str(name), known))
    chosen = dict(given)
    if isinstance(drop_last := chosen.get("drop_last"), str):
        chosen["drop_last"] = DROPS.get(drop_last, drop_last)
    return Settings(**chosen)


def value_is_high(value: Any, most: int) -> bool:
    """Whether a value is a number past what can be."""
    return isinstance(value, int) and value > most
