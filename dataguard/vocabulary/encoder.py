"""Text into ids, by the tokenizer itself: the `tokenizers` package, which is loaded when a suite asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from dataguard.errors import VocabularyError

LONGEST = 1 << 17
"""Characters that are encoded as one: longer texts are cut in front of white space, and cost a few ids at each seam."""
AT_ONCE = 1 << 19
"""Characters that are encoded at once: what `tokenizers` keeps of them takes some 100 bytes a token."""

Ids = npt.NDArray[np.int64]


class CannotEncode(Exception):
    """`tokenizers` refused the tokenizer, or a text."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """Encodes text as the tokenizer does by itself: normalised and divided by it, nothing added, cut or padded.

    Two encoders are equal when their keys are: fingerprint, the tokenizer's files and the version of `tokenizers`, since
    normaliser and pre-tokenizer are no part of the fingerprint.

    Args:
        fingerprint: Of the tokenizer.
        read: Gives the content of tokenizer.json.
        digest: Gives a digest of what `read` depends on.
    """

    fingerprint: str
    read: Callable[[], Mapping[str, Any]] = field(repr=False)
    digest: Callable[[], str] = field(repr=False)

    @cached_property
    def key(self) -> str:
        """What ids depend on beside the text."""
        return f"{self.fingerprint} {self.digest()} tokenizers-{version('tokenizers')}"

    def __repr__(self) -> str:
        return f"Encoder({self.key})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoder) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def _loaded(self) -> Any:
        """The tokenizer, or why it is none that can be used."""
        from tokenizers import Tokenizer  # noqa: PLC0415  # loaded for the suites that ask for it

        try:
            with _refusals():
                tokenizer = Tokenizer.from_str(json.dumps(_whole(self.read())))
                tokenizer.no_truncation()
                tokenizer.no_padding()
        except (CannotEncode, VocabularyError) as error:
            return str(error)
        return tokenizer

    @property
    def fault(self) -> str | None:
        """Why the tokenizer cannot encode; None where it can."""
        return self._loaded if isinstance(self._loaded, str) else None

    def encode(self, texts: Sequence[str]) -> list[Ids | None]:
        """Return the ids of each text; None where the tokenizer refuses it. The GIL is released, and all cores are used."""
        parts: list[list[Ids] | None] = [[] for _ in texts]
        waiting: list[tuple[int, str]] = []
        size = 0
        for place, text in enumerate(texts):
            for piece in pieces(text):
                waiting.append((place, piece))
                size += len(piece)
                if size >= AT_ONCE:
                    self._take(waiting, parts)
                    waiting, size = [], 0
        self._take(waiting, parts)
        return [None if each is None else np.concatenate([np.zeros(0, np.int64), *each]) for each in parts]

    def _take(self, waiting: Sequence[tuple[int, str]], parts: list[list[Ids] | None]) -> None:
        """Encode pieces of texts, and append their ids to those of their text."""
        try:
            with _refusals():
                encoded = self._loaded.encode_batch_fast([piece for _, piece in waiting], add_special_tokens=False)
        except CannotEncode:
            if len(waiting) == 1:
                parts[waiting[0][0]] = None
            else:
                for each in waiting:
                    self._take([each], parts)
            return
        for (place, _), each in zip(waiting, encoded, strict=True):
            if (own := parts[place]) is not None:
                own.append(np.array(each.ids, np.int64))


def _whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tokenizer.json whose added tokens say all that `tokenizers` asks of them: those of other files may not."""
    added = document.get("added_tokens") or []
    usual = {"single_word": False, "lstrip": False, "rstrip": False}
    return {**document, "added_tokens": [{**usual, "normalized": not each.get("special"), **each} for each in added]}


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise CannotEncode for whatever `tokenizers` raises: bare Exceptions, and panics, which are none."""
    try:
        yield
    except VocabularyError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise CannotEncode(str(error).partition("\n")[0] or type(error).__name__) from error


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Yield a text in pieces of at most so many characters, cut in front of white space where there is any."""
    start = 0
    while len(text) - start > longest:
        stop = cut_before(text, start, start + longest)
        yield text[start:stop]
        start = stop
    if start < len(text):
        yield text[start:]


def cut_before(text: str, start: int, stop: int) -> int:
    """Return the last place in the second half of text[start:stop + 1] where white space begins; `stop` without any."""
    for place in range(stop, (start + stop) // 2, -1):
        if text[place].isspace() and not text[place - 1].isspace():
            return place
    return stop
