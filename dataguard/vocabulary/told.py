"""What a suite says of the vocabulary (`meta.dataguard.vocabulary`), checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dataguard.errors import VocabularyError, nearest

SIZES = ("size", "base_size", "embedding_rows")
IDS = ("pad", "bos", "eos", "unk")
KNOWN = (*SIZES, *IDS, "special", "reserved")


@dataclass(frozen=True)
class Told:
    """What was told, with null taken as not told.

    Args:
        numbers: The sizes and the ids of pad, bos, eos and unk.
        special: Further special ids by name.
        reserved: Ids that were never trained; None where nothing was said of them.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    special: Mapping[str, int] = field(default_factory=dict)
    reserved: frozenset[int] | None = None


def check_told(given: Mapping[str, Any], *, given_from: str) -> Told:
    """Return what was told.

    Args:
        given: The section as it was written.
        given_from: What to call the place that it comes from.

    Raises:
        VocabularyError: A key is unknown, a value is of the wrong type, or an id lies past all tokens.
    """
    if not isinstance(given, Mapping):
        raise _wrong(given_from, "vocabulary", given, "a mapping such as {size: 50257, pad: 50256}")
    for key in given:
        if key not in KNOWN:
            fix = nearest(str(key), KNOWN)
            raise VocabularyError(f"the vocabulary has no setting {key!r}", where=f"{given_from}, vocabulary", fix=fix)
    told = {key: value for key, value in given.items() if value is not None}
    numbers = {
        key: whole_number(value, f"{given_from}, vocabulary.{key}", least=1)
        for key, value in told.items()
        if key in SIZES
    }
    numbers |= {
        key: whole_number(value, f"{given_from}, vocabulary.{key}") for key, value in told.items() if key in IDS
    }
    special, reserved = told.get("special", {}), told.get("reserved")
    if not isinstance(special, Mapping) or not all(isinstance(each, str) for each in special):
        raise _wrong(given_from, "vocabulary.special", special, "{name: id}")
    if reserved is not None and not isinstance(reserved, list | tuple | set | frozenset | range):
        raise _wrong(given_from, "vocabulary.reserved", reserved, "a list of ids")
    place = f"{given_from}, vocabulary"
    found = Told(
        numbers,
        {name: whole_number(value, f"{place}.special.{name}") for name, value in special.items()},
        None if reserved is None else frozenset(whole_number(each, f"{place}.reserved") for each in reserved),
    )
    for keys, number, why in past_all_tokens(found):
        raise VocabularyError(f"{number} cannot be used", where=".".join([place, *keys]), why=why, fix=FIX_PAST)
    return found


FIX_PAST = "give the id of a token, or the right size (embedding_rows too, where the embedding has more rows)"


def past_all_tokens(told: Told) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Yield the special ids that no token can have, because the size that stands beside them says so.

    An embedding may have more rows than the tokenizer has tokens, and such a row may serve as pad. Ids that were never
    trained may lie past both.

    Yields:
        The place (`pad`, or `special` and a name), the id, and why not.
    """
    if "size" not in told.numbers:
        return
    limit = max(told.numbers["size"], told.numbers.get("embedding_rows", 0))
    ids: dict[tuple[str, ...], int] = {(key,): told.numbers[key] for key in IDS if key in told.numbers}
    ids |= {("special", name): number for name, number in told.special.items()}
    for place, number in ids.items():
        if number >= limit:
            yield place, number, f"ids end at {limit - 1}, because size is {told.numbers['size']}"


def whole_number(value: object, where: str, *, least: int = 0) -> int:
    """Return a whole number from `least` up that fits 64 bits; a boolean is none."""
    if type(value) is not int or not least <= value < 1 << 63:
        raise VocabularyError(
            f"{value!r:.80} cannot be used", where=where, why=f"a whole number from {least} up is needed"
        )
    return value


def _wrong(given_from: str, place: str, value: object, expected: str) -> VocabularyError:
    return VocabularyError(
        f"{value!r:.80} cannot be used", where=f"{given_from}, {place}", why=f"it must be {expected}"
    )
