"""Dirty samples, and numbers by name."""

from __future__ import annotations

from itertools import groupby

from tests.expectations.reference.judging import ANYWHERE, MISSING, Arguments, Fault, Said
from tests.expectations.reference.terms import Row, characters, kind_of


def most_repeated(row: Row, max_period: int, *, ignore_white_space: bool) -> tuple[int, int, int]:
    """Return how often the most repeated pattern stands in a row, its tokens, and where it begins; 0, 0, -1: none does twice."""
    ids, special, spelled = row.ids, row.vocabulary.special_ids, row.vocabulary.spelled
    plain = [place in row.places and token not in special for place, token in enumerate(ids)]

    def is_white(token: int) -> bool:
        known = 0 <= token < len(spelled)
        return ignore_white_space and known and spelled[token].decode("utf-8", "replace").isspace()

    best = (0, 0, -1)
    for period in range(1, max_period + 1):
        start = 0
        while start + period < len(ids):
            run = 0
            while (
                start + run + period < len(ids)
                and ids[start + run] == ids[start + run + period]
                and plain[start + run]
                and plain[start + run + period]
            ):
                run += 1
            times = (run + period) // period
            white = all(is_white(token) for token in ids[start : start + period])
            if run and times > max(best[0], 1) and not white:
                best = times, period, start
            start += run + 1
    return best


def periodic(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    white = arguments.get("ignore_white_space", True)
    times, _, place = most_repeated(row, arguments.get("max_period", 13), ignore_white_space=white)
    return Fault("periodic", place) if times > arguments.get("max_repeats", 31) else None


def visible(row: Row) -> list[str]:
    """Return the classes of the characters that are no white space."""
    kinds = [kind_of(each) for piece in characters(row) for each in piece]
    return [kind for kind in kinds if kind != "white"]


def symbol_fraction(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    kinds = visible(row)
    if len(row.content) < arguments.get("min_tokens", 10) or not kinds:
        return None
    heavy = kinds.count("symbol") / len(kinds) > arguments.get("max_fraction", 0.5)
    return Fault("symbol_heavy", None) if heavy else None


def longest_digits(row: Row) -> int:
    kinds = [[kind_of(each) for each in piece] for piece in characters(row)]
    runs = [len(list(run)) for piece in kinds for kind, run in groupby(piece) if kind == "digit"]
    return max(runs, default=0)


def digit_runs(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    if longest_digits(row) > arguments.get("max_run", 128):
        return Fault("long_digit_run", ANYWHERE)
    kinds, most = visible(row), arguments.get("max_fraction")
    heavy = most is not None and kinds and kinds.count("digit") / len(kinds) > most
    return Fault("digit_heavy", None) if heavy else None


def number(row: Row, name: str) -> float | None:
    """Return a number of a row that has content (or of any sound row, where the number is of stored tokens)."""
    if row.is_missing():
        return None
    stored = {"tokens": len(row.ids), "lowest_id": min(row.ids), "highest_id": max(row.ids)}
    if name in stored:
        return stored[name]
    return of_content(row, name) if row.has_content else None


def of_content(row: Row, name: str) -> float | None:
    length, attended, content = len(row.ids), len(row.places), len(row.content)
    unk = row.vocabulary.unk
    unknown = 0 if unk in row.vocabulary.special_ids else row.content.count(unk)  # type: ignore[arg-type]
    times, period, _ = most_repeated(row, 13, ignore_white_space=True)
    simple: dict[str, float] = {
        "attended_tokens": attended,
        "content_tokens": content,
        "left_padding": row.left,
        "right_padding": row.right,
        "inner_padding": length - row.left - row.right - attended,
        "padding_fraction": (length - attended) / length,
        "unknown_tokens": unknown,
        "unknown_fraction": unknown / content,
        "repeats": times,
        "period": period,
    }
    if name in simple:
        return simple[name]
    return (
        of_labels(row, name) if name in ("supervised_tokens", "targets", "supervised_fraction") else of_text(row, name)
    )


def of_labels(row: Row, name: str) -> float | None:
    if not row.pairs("labels"):
        return None
    places = [place for place, label in enumerate(row.beside("labels")) if label != -100]
    if name == "targets":
        return len([place for place in places if place > 0])
    return len(places) / len(row.places) if name == "supervised_fraction" else len(places)


def of_text(row: Row, name: str) -> float | None:
    kinds = [kind_of(each) for piece in characters(row) for each in piece]
    seen = [kind for kind in kinds if kind != "white"]
    if name == "characters":
        return len(kinds)
    if name == "characters_per_token":
        return len(kinds) / len(row.content)
    if name == "digit_run":
        return longest_digits(row)
    if name == "white_space_fraction":
        return kinds.count("white") / len(kinds) if kinds else None
    return seen.count(name.removesuffix("_fraction")) / len(seen) if seen else None


def metric_between(row: Row, arguments: Arguments) -> Said:
    value = number(row, arguments["metric"])
    if value is None:
        return MISSING
    least, most = arguments.get("min_value"), arguments.get("max_value")
    if least is not None and value < least:
        return Fault("below", None)
    return Fault("above", None) if most is not None and value > most else None


NUMBERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tokens", "lowest_id", "highest_id", "attended_tokens", "content_tokens"), ()),
    **dict.fromkeys(("left_padding", "right_padding", "inner_padding", "padding_fraction", "repeats", "period"), ()),
    **dict.fromkeys(("unknown_tokens", "unknown_fraction"), ("unk",)),
    **dict.fromkeys(("characters", "characters_per_token", "digit_run"), ("characters",)),
    **dict.fromkeys((f"{kind}_fraction" for kind in ("letter", "digit", "symbol", "white_space")), ("characters",)),
    **dict.fromkeys(("supervised_tokens", "targets", "supervised_fraction"), ("labels",)),
}
"""Every number by name, with what it needs beside the ids."""
