"""What tokenizers said earlier, so that one that has not changed is not parsed again: some tenths of a second.

The last ones are kept in memory, for whoever judges again in one process, and others in a folder, for the next run.

A file for each tokenizer: a digest of what follows, a line of JSON, the bytes of all ids, and where each id's begin. It is
named by what the facts depend on: the tokenizer's files, byte for byte, and the code that reads them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dataguard.version import __version__
from dataguard.vocabulary.facts import Layer, TokenizerFacts
from dataguard.vocabulary.model import CharacterTable
from dataguard.vocabulary.tokenizer_files import KNOWN

MOST_KEPT = 16
LARGEST = 1 << 27
"""Bytes of a tokenizer's files beyond which nothing is kept of it."""
_SUFFIX = ".tokenizer"
_DIGEST_BYTES = 32
_MOST_RECENT = 2
_recent: dict[str, TokenizerFacts] = {}


def remembered(folder: Path | None, tokenizer: Path, read: Callable[[], TokenizerFacts]) -> TokenizerFacts:
    """Return what a tokenizer says: as it was kept where its files are the same, else as `read` gives it.

    Args:
        folder: Where facts are kept; made where it is not there. None keeps them in memory alone. That it cannot be used
            hinders nobody.
        tokenizer: A tokenizer's folder, or one of its files.
        read: Reads it; its errors are raised, and nothing is kept then.
    """
    key = content_key(tokenizer)
    if key is None:
        return read()
    place = None if folder is None else folder / f"{key}{_SUFFIX}"
    kept = _recent.get(key) or (None if place is None else _load(place))
    facts = read() if kept is None else kept
    if kept is None and content_key(tokenizer) != key:  # it was written to while it was read
        return facts
    _recent[key] = facts
    for old in list(_recent)[:-_MOST_RECENT]:
        _recent.pop(old, None)
    if place is not None and (kept is None or not place.exists()):
        with suppress(OSError):
            _keep(place, facts)
    return facts


def content_key(tokenizer: Path) -> str | None:
    """Return a digest of all that the facts depend on; None where a file cannot be read, or is too large."""
    folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
    alone = folder != tokenizer and tokenizer.name not in KNOWN
    digest = hashlib.sha256(_code())
    for name in [tokenizer.name] if alone else KNOWN:
        file = folder / name
        try:
            if file.is_file():
                if file.stat().st_size > LARGEST:
                    return None
                content = file.read_bytes()
                digest.update(f"{name} {len(content)} ".encode("utf-8", "surrogateescape"))
                digest.update(content)
        except OSError:
            return None
    told = "" if folder == tokenizer else tokenizer.name
    digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


@cache
def _code() -> bytes:
    """Return a digest of the code that reads tokenizers, so that no facts outlive it."""
    digest = hashlib.sha256(__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def _load(place: Path) -> TokenizerFacts | None:
    """Return what was kept; None where there is nothing, or not what was written."""
    try:
        content = place.read_bytes()
        body = content[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != content[:_DIGEST_BYTES]:
            return None
        line, _, data = body.partition(b"\n")
        told: dict[str, Any] = json.loads(line)
        ends = told["bytes"]
        characters = CharacterTable(
            told["characters"], np.frombuffer(data[:ends], np.uint8), np.frombuffer(data[ends:], np.int64)
        )
        return TokenizerFacts(
            name=told["name"],
            layer=Layer(told["values"], told["origin"]),
            size=told["size"],
            special=told["special"],
            roles=told["roles"],
            unassigned=frozenset(told["unassigned"]),
            characters=characters,
            fingerprint=told["fingerprint"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(place: Path, facts: TokenizerFacts) -> None:
    """Write facts, whole or not at all; the oldest go where there are many."""
    told = {
        "name": facts.name,
        "values": dict(facts.layer.values),
        "origin": dict(facts.layer.origin),
        "size": facts.size,
        "special": dict(facts.special),
        "roles": dict(facts.roles),
        "unassigned": sorted(facts.unassigned),
        "characters": facts.characters.digest,
        "bytes": facts.characters.data.nbytes,
        "fingerprint": facts.fingerprint,
    }
    data = facts.characters.data.tobytes() + facts.characters.offsets.tobytes()
    body = json.dumps(told).encode() + b"\n" + data
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{secrets.token_hex(8)}")
    try:
        beside.write_bytes(hashlib.sha256(body).digest() + body)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    others = sorted(place.parent.glob(f"*{_SUFFIX}"), key=lambda each: each.stat().st_mtime_ns)
    for old in others[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
