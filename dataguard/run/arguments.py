"""What somebody passed to `dataguard.validate`: refused in one message where it is of another kind than it must be.

The command line has had its options checked already; this is for calls from Python, where a TypeError from deep inside
would say nothing of the argument.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dataguard.errors import DataError, UsageError, nearest


@dataclass(frozen=True)
class Kind:
    """What an argument must be.

    Args:
        types: Any of these; a boolean is no number.
        words: The same in words.
        fix: What to give instead.
        least: The least number.
        names: The only words that there are.
        texts: Everything in it must be text.
        needed: None will not do.
    """

    types: tuple[type, ...]
    words: str
    fix: str | None = None
    least: int | None = None
    names: tuple[str, ...] = ()
    texts: bool = False
    needed: bool = False


PATH = (str, os.PathLike)
COUNT = Kind((int,), "a whole number from 1 up", least=1)
SWITCH = Kind((bool,), "True or False", needed=True)
SAVED = "save it, and give the folder"
KINDS: Mapping[str, Kind] = {
    "suite": Kind((*PATH, Mapping), "a name, a path or a dict"),
    "tokenizer": Kind(PATH, "a path or a hub name", f"{SAVED}: tokenizer.save_pretrained(FOLDER)"),
    "model": Kind(PATH, "a path or a hub name", f"{SAVED}: model.save_pretrained(FOLDER)"),
    "vocab_size": COUNT,
    "max_length": COUNT,
    "head": COUNT,
    "jobs": COUNT,
    "parameters": Kind((Mapping,), "a dict, such as {'max_length': 2048}"),
    "columns": Kind((Mapping,), "a dict of texts, such as {'input_ids': 'tokens'}", texts=True),
    "vocabulary": Kind((Mapping,), "a dict, such as {'pad': 50256}"),
    "source_from": Kind((str,), "text", names=("column", "path", "none")),
    "out": Kind(PATH, "a path"),
    "quarantine": SWITCH,
    "quarantine_limit": Kind((int,), "a number of bytes", least=0, needed=True),
    "clean": SWITCH,
    "verify": SWITCH,
    "store": Kind(PATH, "a path, 'auto' or None"),
    "reports": Kind((Sequence,), "a list of names, such as ['json']", texts=True, needed=True),
    "sampler": Kind((Mapping,), "a dict, such as {'world_size': 8, 'batch_size': 4}"),
    "fail_on": Kind((str,), "text", needed=True),
    "engine": Kind((str,), "text", needed=True),
    "plugins": Kind((Sequence,), "a list of modules' names", texts=True, needed=True),
}


def check_arguments(given: Mapping[str, Any]) -> None:
    """Refuse arguments of `dataguard.validate` that are of the wrong kind.

    Args:
        given: By name; what has no entry in `KINDS` is left to others.

    Raises:
        UsageError: There is one; it says what it must be.
    """
    data = given.get("data")
    if isinstance(data, str) and not data.strip():
        raise DataError("DATA is an empty text", why="as a path it would mean the working directory", fix="give a path")
    for name, value in given.items():
        kind = KINDS.get(name)
        if kind is None or (value is None and not kind.needed):
            continue
        if not _is(value, kind):
            fix = kind.fix if kind.fix and not isinstance(value, (int, bytes, list)) else None
            raise UsageError(f"{name} cannot be {_shown(value)}", why=f"it must be {kind.words}", fix=fix)
        if kind.names and value not in kind.names:
            raise UsageError(f"{name} cannot be {value!r}", fix=nearest(value, kind.names))


def known_names(what: str, names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """Return names, each of which must be known.

    Args:
        what: What they are names of.

    Raises:
        UsageError: One is not.
    """
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} {name!r}", fix=nearest(name, known))
    return names


def _is(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind."""
    of_type = isinstance(value, kind.types)
    if not of_type or (isinstance(value, bool) and bool not in kind.types):
        return False
    if Sequence in kind.types and isinstance(value, (str, bytes)):
        return False
    if kind.least is not None and value < kind.least:
        return False
    inside: list[Any] = []
    if kind.texts:
        inside = [*value, *value.values()] if isinstance(value, Mapping) else [*value]
    return all(isinstance(each, str) for each in inside)


def _shown(value: Any) -> str:
    """Return a plain value as it is, of anything else only what it is."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, list, tuple, Mapping)):
        return f"{value!r:.80}"
    kind = type(value)
    return f"a {kind.__qualname__}" if kind.__module__ == "builtins" else f"a {kind.__module__}.{kind.__qualname__}"
