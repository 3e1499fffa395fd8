"""The population stability index: how far apart two mixes of the same classes are, and how far chance alone puts them.

An index below 0.1 is usually read as no change, one above 0.2 or 0.25 as a real one. Of few samples it is large even where
nothing has changed: its expected value is (classes - 1) * (1/n + 1/m), by the chi-squared law that it then follows nearly.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.floating] | npt.NDArray[np.integer]
RARE = 3.0902
"""Standard deviations of a normal variable that one in a thousand goes beyond."""
CLUSTERED = 3
"""Degrees of freedom of a mix whose classes move together. Ids of random halves of one corpus (22 sources, rows of 2,048
tokens) exceed what more would allow one time in twenty."""


def psi(ours: Counts, theirs: Counts, samples: tuple[float, float] | None = None) -> float:
    """Return the population stability index of two mixes, rounded; 0 where one is empty.

    Half a sample is added to each class, so that one that is empty on one side gives a large number and not infinity. Classes
    that are empty on both sides say nothing.

    Args:
        ours, theirs: How much there is of each class. Shapes (classes,).
        samples: How many samples each side is worth, where its counts are no counts of samples.
    """
    if not ours.sum() or not theirs.sum():
        return 0.0
    used = (ours > 0) | (theirs > 0)
    worth = samples or (float(ours.sum()), float(theirs.sum()))
    shares = [
        (each[used] / each.sum() * size + 0.5) / (size + 0.5 * used.sum())
        for each, size in zip((ours, theirs), worth, strict=True)
    ]
    return round(float(((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum()), 6)


def by_chance(classes: int, samples: tuple[float, float], *, clustered: bool = False) -> float:
    """Return the index that two draws from one mix exceed about once in a thousand times, rounded.

    By Wilson and Hilferty's approximation of the chi-squared law with classes - 1 degrees of freedom.

    Args:
        classes: Those of which either side has any.
        samples: How many samples each side is worth.
        clustered: Samples came by many at once, so that classes move together: then there are CLUSTERED degrees at most.
    """
    if classes < 2:
        return 0.0
    expected = (classes - 1) * (1 / samples[0] + 1 / samples[1])
    freedom = min(classes - 1, CLUSTERED) if clustered else classes - 1
    spread = 2 / (9 * freedom)
    return round(expected * (1 - spread + RARE * math.sqrt(spread)) ** 3, 6)
