"""The vocabulary inside a tokenizer.json: which string each id has, checked before anything is built on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dataguard.errors import VocabularyError

HOLES_ALLOWED = 1_000_000
"""How many ids below the highest may have no token: an id of a trillion must not become an array of that size."""

KINDS = ("BPE", "WordPiece", "WordLevel", "Unigram")


@dataclass(frozen=True)
class AddedToken:
    """A token outside the model's own vocabulary, or one of it that is matched before the model sees the text."""

    id: int
    content: str
    special: bool


@dataclass(frozen=True)
class TokenizerJson:
    """What a tokenizer.json says of ids.

    Args:
        kind: One of KINDS.
        model: The section `model` as it stands in the file.
        pieces: The strings of the model's own vocabulary.
        ids: The id of each piece. Same length.
        added: In the order of the file.
    """

    kind: str
    model: Mapping[str, Any]
    pieces: Sequence[str]
    ids: Sequence[int]
    added: Sequence[AddedToken]

    @cached_property
    def size(self) -> int:
        """The highest id, plus 1."""
        return 1 + max(max(self.ids, default=-1), max((each.id for each in self.added), default=-1))

    @cached_property
    def _of_content(self) -> dict[str, int]:
        return {**dict(zip(self.pieces, self.ids, strict=True)), **{each.content: each.id for each in self.added}}

    def id_of(self, content: str) -> int | None:
        """Return the id of a token by what it reads; None where no token reads so."""
        return self._of_content.get(content)

    def unassigned(self) -> frozenset[int]:
        """Return the ids below `size` that no token has."""
        taken = bytearray(self.size)
        for each in self.ids:
            taken[each] = 1
        for token in self.added:
            taken[token.id] = 1
        return frozenset(number for number, known in enumerate(taken) if not known) if 0 in taken else frozenset()

    @property
    def unknown(self) -> str | None:
        """What the model writes for text that it cannot spell."""
        told = self.model.get("unk_token")
        if isinstance(told, str):
            return told
        number = self.model.get("unk_id")
        if self.kind == "Unigram" and type(number) is int and 0 <= number < len(self.pieces):
            return self.pieces[number]
        return None


def parse_tokenizer(document: Mapping[str, Any], *, where: str = "tokenizer.json") -> TokenizerJson:
    """Return the vocabulary of a tokenizer.json that has been read as JSON.

    Raises:
        VocabularyError: It is no tokenizer, or an id or token in it cannot be one. `where` names the file.
    """
    model = document.get("model")
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict | list):
        raise _not_a_tokenizer(document, where)
    kind = _kind(model, where)
    pieces, ids = _unigram(model["vocab"], where) if kind == "Unigram" else _mapped(model["vocab"], where)
    parsed = TokenizerJson(kind, model, pieces, ids, tuple(_added(document.get("added_tokens") or [], where)))
    if parsed.size == 0:
        raise VocabularyError(
            "the tokenizer holds no token", where=where, fix="give the tokenizer that made the shards"
        )
    if parsed.size > len(pieces) + len(parsed.added) + HOLES_ALLOWED:
        why = f"its highest id is {parsed.size - 1:,}, but it holds {len(pieces) + len(parsed.added):,} tokens"
        raise VocabularyError("the tokenizer's ids cannot be right", where=where, why=why)
    return parsed


def parts(document: Mapping[str, Any], *sections: str) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of sections such as `decoder`, those inside a Sequence one by one, in order."""
    waiting = [document.get(each) for each in reversed(sections)]
    while waiting:
        step = waiting.pop()
        if not isinstance(step, dict):
            continue
        yield step
        for inside in ("decoders", "pretokenizers", "normalizers", "processors"):
            if isinstance(step.get(inside), list):
                waiting.extend(reversed(step[inside]))


def _kind(model: Mapping[str, Any], where: str) -> str:
    """Return the model's type; files of before 2020 leave it out, and are told apart as tokenizers does."""
    kind = model.get("type")
    if kind is None:
        if isinstance(model["vocab"], list):
            return "Unigram"
        if "merges" in model:
            return "BPE"
        return "WordPiece" if model.get("continuing_subword_prefix") else "WordLevel"
    if kind not in KINDS or (kind == "Unigram") != isinstance(model["vocab"], list):
        why = (
            f"its model is {kind!r} with a {type(model['vocab']).__name__} for a vocabulary; known: {', '.join(KINDS)}"
        )
        raise VocabularyError("the tokenizer is of no known kind", where=where, why=why)
    return str(kind)


def _mapped(vocab: Any, where: str) -> tuple[list[str], list[int]]:
    """Return tokens and ids of {token: id}."""
    if not isinstance(vocab, dict):
        raise VocabularyError("the vocabulary cannot be read", where=f"{where}, model.vocab", why="it is no object")
    ids = list(vocab.values())
    if set(map(type, ids)) - {int} or min(ids, default=0) < 0:  # type(), because a bool is an int
        token, number = next((key, each) for key, each in vocab.items() if type(each) is not int or each < 0)
        raise _bad_id(f"{where}, model.vocab[{token!r}]", number)
    return list(vocab), ids


def _unigram(vocab: list[Any], where: str) -> tuple[list[str], list[int]]:
    """Return tokens and ids of [[token, score], …], where the place is the id."""
    try:
        pieces = [piece for piece, _ in vocab]
    except (TypeError, ValueError):
        pieces = [None]
    if set(map(type, pieces)) - {str}:
        why = "it holds something else than [token, score]"
        raise VocabularyError("the vocabulary cannot be read", where=f"{where}, model.vocab", why=why)
    return pieces, list(range(len(pieces)))


def _added(listed: Any, where: str) -> Iterator[AddedToken]:
    if not isinstance(listed, list):
        raise VocabularyError("the added tokens cannot be read", where=f"{where}, added_tokens", why="it is no list")
    for place, token in enumerate(listed):
        if not isinstance(token, dict) or not isinstance(token.get("content"), str):
            why = "it has no content"
            raise VocabularyError("an added token cannot be read", where=f"{where}, added_tokens[{place}]", why=why)
        number = token.get("id")
        if type(number) is not int or number < 0:
            raise _bad_id(f"{where}, added_tokens[{place}]", number)
        yield AddedToken(number, token["content"], token.get("special") is True)


def _bad_id(where: str, number: object) -> VocabularyError:
    return VocabularyError(
        "a token's id cannot be right", where=where, why=f"it is {number!r}, not a whole number from 0 up"
    )


def _not_a_tokenizer(document: Mapping[str, Any], where: str) -> VocabularyError:
    if "architectures" in document or "model_type" in document:
        why, fix = "it looks like a model's config.json", "give the model's folder with --model"
    elif "tokenizer_class" in document:
        why, fix = "it looks like a tokenizer_config.json", "give the folder, with its tokenizer.json"
    elif document and all(type(each) is int for each in document.values()):
        why, fix = "it looks like a bare vocab.json", "give the folder, with its merges.txt"
    else:
        why, fix = "it has no model.vocab", "give a tokenizer.json, or a folder with one"
    return VocabularyError("the file is no tokenizer", where=where, why=why, fix=fix)
