"""report.json: the result, the same byte for byte for the same input."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from dataguard.result import Result


def report_json(result: Result) -> str:
    """Return report.json: indented, keys in the order of `Result.to_dict`, a newline at its end.

    It can always be written as UTF-8 and read by any JSON reader: what is no number becomes null, and what is no text (a
    byte of a file name, half a surrogate pair) is spelled out.
    """
    return json.dumps(plain(result.to_dict()), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:  # noqa: PLR0911  # one line a kind of value
    """Return a value as JSON has it: dict, list, str, int, float, bool or None.

    Scalars and arrays of numpy, Polars and Arrow become what they hold, sets sorted lists, everything else its text.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {plain(key if isinstance(key, str) else str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=lambda each: (str(type(each)), str(each)))
    return _unwrapped(value)


def _unwrapped(value: Any) -> Any:
    """Return what a scalar, an array or a series of another package holds, without importing any of them."""
    for name in ("as_py", "to_pylist", "tolist", "to_list", "to_dicts", "model_dump"):
        method = getattr(value, name, None)
        if callable(method):
            return plain(method())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return plain(str(value))
