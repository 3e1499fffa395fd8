"""Pydantic's objections in plain words: what is allowed, and the nearest of it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

MUST_BE = "it must be "


def allowed(errors: Sequence[ErrorDetails]) -> str:
    """Return what is allowed, in words.

    Args:
        errors: On one value; a union objects once for each of its types.
    """
    first, *others = dict.fromkeys(_allowed(each) for each in errors)
    # "it must be true or false, or 'auto'": what a union allows is one list.
    return ", or ".join(
        [first, *(each.removeprefix(MUST_BE) if first.startswith(MUST_BE) else each for each in others)]
    )


def nearest_allowed(errors: Sequence[ErrorDetails], got: Any) -> str | None:
    """Return how to mend a value, where that is plain."""
    return next((fix for each in errors if (fix := _fix(each, got)) is not None), None)


def _fix(error: ErrorDetails, got: Any) -> str | None:
    """Return the nearest of a few words, a number without quotes, a list of one item, a share instead of percent."""
    kind = error["type"]
    if kind == "less_than_equal" and (error.get("ctx") or {}).get("le") == 1 and 1 < got <= PERCENT:
        return f"write {got / PERCENT:g}: it is a share, not percent"
    if not isinstance(got, str):
        return None
    choices = _choices(error) if kind == "literal_error" else []
    if got.strip() in choices or (kind in NUMBERS and NUMBERS[kind](got)):
        return f"write {got.strip()}, without quotes"
    if kind in LISTS:
        return f"write [{got}]"
    return did_you_mean(got, [each.strip("'") for each in choices])


def did_you_mean(got: str, choices: Sequence[str]) -> str | None:
    """Return the nearest of a few words as a question; None where none is near."""
    close = get_close_matches(got.lower(), choices, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else None


def _choices(error: ErrorDetails) -> list[str]:
    """Return what a literal allows, as it is told: `'left', 'right' or 'none'`."""
    return str((error.get("ctx") or {}).get("expected", "")).replace(" or ", ", ").split(", ")


def _is_whole(text: str) -> bool:
    try:
        return int(text) is not None
    except ValueError:
        return False


def _is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


NUMBERS = {
    "int_type": _is_whole,
    "int_parsing": _is_whole,
    "float_type": _is_number,
    "float_parsing": _is_number,
}
PERCENT = 100
LISTS = frozenset({"list_type", "tuple_type", "set_type"})


def _allowed(error: ErrorDetails) -> str:
    if error["type"] in ("value_error", "assertion_error"):
        return error["msg"].partition(", ")[2]
    if error["type"] == "string_pattern_mismatch":
        return f"{MUST_BE}text of another form"
    text = error["msg"].partition(", unable to parse")[0]
    for theirs, ours in _WORDS:
        text = text.replace(theirs, ours)
    return text


_WORDS = (
    ("Input should be ", MUST_BE),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("Tuple should have", "it must have"),
    ("List should have", "it must have"),
    ("String should have", "it must have"),
    (" after validation", ""),
    ("a valid integer", "a whole number"),
    ("a valid boolean", "true or false"),
    ("a valid string", "text"),
    ("a valid array", "a list"),
    ("a valid tuple", "a list"),
    ("an object", "a mapping"),
    ("a valid dictionary", "a mapping"),
    ("a valid ", "a "),
)
"""Pydantic's words for what is allowed, and ours."""
