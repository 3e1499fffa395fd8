"""How many made-up inputs a property is tried on.

The same ones each time, so that one commit always gives one answer. `make search` looks for new ones, and for many more of
them: what it finds becomes a literal test.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

SEARCH = int(os.environ.get("DATAGUARD_SEARCH", "0"))
"""How many times as many inputs to try, drawn at random; 0 takes the usual ones."""

settings.register_profile("usual", deadline=None, derandomize=not SEARCH, max_examples=100 * (SEARCH or 1))
settings.load_profile("usual")


def examples(count: int, **options: Any) -> settings:
    """Return settings for so many inputs; kernels are compiled at their first call, so that none has a deadline."""
    return settings(max_examples=count * (SEARCH or 1), **options)
