"""Everything that is known of the vocabulary, from options, suite, tokenizer and model, in this order.

Field by field the first that knows wins, and `Vocabulary.origin` names it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dataguard.errors import VocabularyError
from dataguard.vocabulary.characters import table_of
from dataguard.vocabulary.encoder import Encoder
from dataguard.vocabulary.facts import Layer, TokenizerFacts
from dataguard.vocabulary.fingerprint import fingerprint_of
from dataguard.vocabulary.model import Vocabulary
from dataguard.vocabulary.model_folder import CONFIG as MODEL_CONFIG
from dataguard.vocabulary.model_folder import ModelFacts, read_model
from dataguard.vocabulary.paths import resolve
from dataguard.vocabulary.remembered import content_key, remembered
from dataguard.vocabulary.special_tokens import special_tokens
from dataguard.vocabulary.tokenizer_files import TokenizerFiles, has_tokenizer, read_tokenizer_files, whole_file
from dataguard.vocabulary.tokenizer_json import HOLES_ALLOWED, parse_tokenizer
from dataguard.vocabulary.told import IDS, SIZES, Told, check_told, whole_number

OPTION = "--vocab-size"
FINGERPRINTED = (*IDS, "mask")


def load_vocabulary(
    *,
    tokenizer: Path | str | None,
    model: Path | str | None,
    given: Mapping[str, Any],
    vocab_size: int | None,
    given_from: str = "suite",
    over: Mapping[str, Any] | None = None,
    over_from: str = "vocabulary",
    keep_in: Path | None = None,
) -> Vocabulary:
    """Return what is known of the vocabulary; no source at all gives a Vocabulary that knows nothing.

    Args:
        tokenizer: A tokenizer.json, a tokenizer's folder, or a hub name that the local cache holds. Without it, a
            tokenizer in the model's folder is taken.
        model: A model's folder, or a hub name that the local cache holds.
        given: The suite's `meta.dataguard.vocabulary`.
        vocab_size: The option; it sets the size, and the limit whatever the others say.
        given_from: What `origin` and errors call the place of `given`.
        over: The same from elsewhere, which wins over the suite's field by field; special ids name by name.
        over_from: What `origin` and errors call that place.
        keep_in: A folder in which to keep what a tokenizer says, so that it need not be parsed the next time.

    Raises:
        VocabularyError: One of them cannot be read or used.
    """
    told = [
        (over_from, check_told(over or {}, given_from=over_from)),
        (given_from, check_told(given, given_from=given_from)),
    ]
    option = None if vocab_size is None else whole_number(vocab_size, OPTION, least=1)
    try:
        facts, read, encoder = _read(tokenizer, model, keep_in)
    except OSError as error:  # a folder that may not be entered
        why = error.strerror or str(error)
        raise VocabularyError("the vocabulary cannot be read", where=str(error.filename), why=why) from error
    return _joined(option, told, read, facts, encoder)


def tokenizer_with(model: Path | str) -> Path | None:
    """Return the folder of a model where a tokenizer lies in it as well; None where none does.

    Raises:
        VocabularyError: There is no such model.
    """
    place = resolve(model, what="model", option="--model")
    folder = place if place.is_dir() else place.parent
    return folder if has_tokenizer(folder) else None


def _read(
    tokenizer: Path | str | None, model: Path | str | None, keep_in: Path | None
) -> tuple[ModelFacts | None, TokenizerFacts | None, Encoder | None]:
    facts = None if model is None else read_model(resolve(model, what="model", option="--model"))
    path = None if tokenizer is None else resolve(tokenizer, what="tokenizer", option="--tokenizer")
    if path is None and model is not None:
        path = tokenizer_with(model)
    if path is None:
        return facts, None, None
    read = remembered(keep_in, path, lambda: _read_tokenizer(read_tokenizer_files(path), path))
    return facts, read, _encoder(path, read.fingerprint)


def _encoder(path: Path, fingerprint: str) -> Encoder | None:
    """Return what encodes text; None where the tokenizer's files do not say how text is divided (a bare vocabulary)."""
    if whole_file(path) is None:
        return None
    return Encoder(fingerprint, partial(_document, path), partial(_digest, path))


def _document(path: Path) -> Mapping[str, Any]:
    return read_tokenizer_files(path).document


def _digest(path: Path) -> str:
    return content_key(path) or secrets.token_hex(16)  # what cannot be read once more is no other run's


def _read_tokenizer(files: TokenizerFiles, path: Path) -> TokenizerFacts:
    where = str(files.path or path)
    parsed = parse_tokenizer(files.document, where=where)
    special = special_tokens(
        files.document, parsed, config=files.config, special_map=files.special_map, name=files.name
    )
    sizes = {"size": parsed.size, "base_size": len(parsed.pieces)}
    named = {role: special.roles[role] for role in FINGERPRINTED if role in special.roles}
    return TokenizerFacts(
        name=files.name,
        layer=Layer({**sizes, **named}, {**dict.fromkeys(sizes, files.name), **special.origin}),
        size=parsed.size,
        special=special.every,
        roles={role: number for role, number in special.roles.items() if number is not None},
        unassigned=parsed.unassigned(),
        characters=table_of(files.document, parsed),
        fingerprint=fingerprint_of(parsed, named, where=where),
    )


def _joined(
    option: int | None,
    told: Sequence[tuple[str, Told]],
    tokenizer: TokenizerFacts | None,
    model: ModelFacts | None,
    encoder: Encoder | None,
) -> Vocabulary:
    """Return the vocabulary of all sources; `told` has the names of its places, the one that wins first."""
    layers = [
        Layer({} if option is None else {"size": option}, {"size": OPTION}),
        *(Layer(each.numbers, dict.fromkeys(each.numbers, place)) for place, each in told),
        Layer() if tokenizer is None else tokenizer.layer,
        Layer() if model is None else _layer_of(model),
    ]
    values: dict[str, int] = {}
    origin: dict[str, str] = {}
    for name in (*SIZES, *IDS, "mask"):
        layer = next((each for each in layers if name in each.values), Layer())
        value = layer.values.get(name)
        if value is not None:
            values[name], origin[name] = value, layer.origin[name]
    special = _special(values, _named(told), tokenizer)
    if special:
        sources = [place for place, each in told if each.special]
        sources += [tokenizer.name] if tokenizer and tokenizer.special else []
        named_by = sources or [origin[name] for name in IDS if name in origin]
        origin["special"] = ", ".join(dict.fromkeys(named_by))
    reserved = next(((place, each.reserved) for place, each in told if each.reserved is not None), None)
    if reserved is not None:
        origin["reserved"] = reserved[0]
    if tokenizer is not None:
        origin |= dict.fromkeys(("unassigned", "characters", "fingerprint"), tokenizer.name)
    return Vocabulary(
        **values,
        special=special,
        reserved=reserved[1] if reserved else frozenset(),
        unassigned=frozenset() if tokenizer is None else _unassigned(tokenizer, values["size"]),
        characters=None if tokenizer is None else tokenizer.characters,
        fingerprint=None if tokenizer is None else tokenizer.fingerprint,
        encoder=encoder,
        limit_given=option,
        tokenizer_ids={} if tokenizer is None else tokenizer.roles,
        model_ids={} if model is None else model.ids,
        origin=origin,
    )


def _layer_of(model: ModelFacts) -> Layer:
    """Return a model as a layer: of several ids the first; an id below 0 is how configs say that there is none."""
    ids = {role: model.ids[role][0] for role in IDS if model.ids.get(role) and model.ids[role][0] >= 0}
    return Layer(
        {"embedding_rows": model.rows, **ids}, {"embedding_rows": model.rows_from, **dict.fromkeys(ids, MODEL_CONFIG)}
    )


def _named(told: Sequence[tuple[str, Told]]) -> dict[str, int]:
    """Return the special ids that were told by name; a place adds neither a name nor an id that one before it has."""
    named: dict[str, int] = {}
    for _, each in told:
        known = set(named.values())
        named |= {name: number for name, number in each.special.items() if name not in named and number not in known}
    return named


def _special(values: Mapping[str, int], told: Mapping[str, int], tokenizer: TokenizerFacts | None) -> dict[str, int]:
    """Return every special id under one name: the suite's own name, else its content, else its role.

    One name an id, because a second name would look like a second use of it (`Vocabulary.pad_is_own`).
    """
    special = dict(told)
    renamed = set(special.values())
    if tokenizer is not None:
        special |= {
            content: number
            for content, number in tokenizer.special.items()
            if number not in renamed and content not in special
        }
    for role in IDS:
        if role in values and values[role] not in special.values() and role not in special:
            special[role] = values[role]
    return special


def _unassigned(tokenizer: TokenizerFacts, size: int) -> frozenset[int]:
    """Return the ids below the vocabulary's size that the tokenizer lacks; size may be told otherwise than by it."""
    beyond = range(tokenizer.size, min(size, tokenizer.size + HOLES_ALLOWED))
    return frozenset(each for each in tokenizer.unassigned if each < size) | frozenset(beyond)
