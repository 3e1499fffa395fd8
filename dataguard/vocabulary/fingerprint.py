"""A tokenizer's fingerprint: equal for two tokenizers that turn text into the same ids by the same vocabulary.

Semantic, not of the file's bytes: releases of the same tokenizer write merges as `"a b"` or `["a", "b"]`, order their
objects as they like, and disagree on the order of merges that make one piece. Padding, truncation, normaliser and chat
template are left out: they change without the ids changing their meaning.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from dataguard.errors import VocabularyError
from dataguard.vocabulary.tokenizer_json import TokenizerJson, parse_tokenizer

VERSION = "dg1"
"""Raised when the same tokenizer would get another fingerprint."""


def fingerprint(tokenizer_json: Mapping[str, Any], special: Mapping[str, int | None]) -> str:
    """Return the fingerprint over vocabulary, merges, added tokens and special ids, and nothing else.

    Args:
        tokenizer_json: The content of a tokenizer.json.
        special: Ids by role ({"pad": 0, …}); a role without an id is the same as no role.

    Returns:
        `dg1:` and 32 hexadecimal digits.

    Raises:
        VocabularyError: It is no tokenizer, or a merge in it is no pair.
    """
    return fingerprint_of(parse_tokenizer(tokenizer_json), special)


def fingerprint_of(
    tokenizer: TokenizerJson, special: Mapping[str, int | None], *, where: str = "tokenizer.json"
) -> str:
    """Return the same for a tokenizer.json that has been parsed. `where` names the file in errors."""
    order = np.argsort(np.asarray(tokenizer.ids, np.int64), kind="stable")
    added = sorted(tokenizer.added, key=lambda each: (each.id, each.content))
    roles = sorted((name, number) for name, number in special.items() if number is not None)
    digest = hashlib.sha256(tokenizer.kind.encode())
    _add(
        digest,
        (tokenizer.pieces[place] for place in order.tolist()),
        (tokenizer.ids[place] for place in order.tolist()),
    )
    _add(digest, _scores(tokenizer))
    _add(digest, chain.from_iterable(_merges(tokenizer, where)))
    _add(digest, (each.content for each in added), (2 * each.id + each.special for each in added))
    _add(digest, (name for name, _ in roles), (number for _, number in roles))
    return f"{VERSION}:{digest.hexdigest()[:32]}"


def _add(digest: Any, texts: Iterable[str], numbers: Iterable[int] = ()) -> None:
    """Add a list of texts, and numbers that go with them, with their lengths: ("ab", "c") is not ("a", "bc")."""
    each = list(texts)
    lengths = np.array([len(text) for text in each], "<i8")
    joined = "".join(each).encode("utf-8", "surrogatepass")
    beside = np.fromiter(numbers, "<i8")
    for part in (
        np.array([len(lengths), len(joined), len(beside)], "<i8").tobytes(),
        lengths.tobytes(),
        joined,
        beside.tobytes(),
    ):
        digest.update(part)


def _scores(tokenizer: TokenizerJson) -> list[str]:
    """Return the scores of a Unigram vocabulary, by which text is split, 0 and 0.0 alike; none for other kinds."""
    if tokenizer.kind != "Unigram":
        return []
    return [repr(score).removesuffix(".0") for _, score in tokenizer.model["vocab"]]


def _merges(tokenizer: TokenizerJson, where: str) -> list[tuple[str, str]]:
    """Return the merges by rank, where those that make one piece take that piece's ranks in alphabetical order.

    Conversions of one sentencepiece model disagree on that order. It matters only where two merges of a piece can want
    the same token (`a|ba|a` for aba), and conversions that differ there pass for one tokenizer too.
    """
    listed = tokenizer.model.get("merges") if tokenizer.kind == "BPE" else None
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise VocabularyError("the merges cannot be read", where=f"{where}, model.merges", why="it is no list")
    pairs: list[tuple[str, str]] = []
    for rank, merge in enumerate(listed):
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or not (isinstance(pair[0], str) and isinstance(pair[1], str)):
            why = f"it is {merge!r:.80}, not two tokens"
            raise VocabularyError("a merge cannot be read", where=f"{where}, model.merges[{rank}]", why=why)
        pairs.append((pair[0], pair[1]))
    pieces = [left + right for left, right in pairs]
    if len(set(pieces)) == len(pieces):
        return pairs
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in sorted(pairs, reverse=True):
        waiting[pair[0] + pair[1]].append(pair)
    return [waiting[piece].pop() for piece in pieces]
