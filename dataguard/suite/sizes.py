"""Numbers of bytes as people write them: 10GiB, 1.5 GB, 500M, 4096."""

from __future__ import annotations

import re

SIZE = r"^\s*([0-9]+(?:\.[0-9]+)?)\s*([KkMmGgTt]?)(i?|I?)[Bb]?\s*$"
"""A pattern that pydantic, JSON Schema and Python read alike."""
UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(text: str) -> int | None:
    """Return the number of bytes; None where the text is no size."""
    found = re.fullmatch(SIZE.removeprefix("^").removesuffix("$"), text)
    if found is None:
        return None
    amount, unit, binary = found.groups()
    return int(float(amount) * (1024 if binary else 1000) ** UNITS[unit.upper()])
