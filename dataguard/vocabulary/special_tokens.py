"""Which ids are special, and what for: as the tokenizer's config names them, or by content where that is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dataguard.vocabulary.tokenizer_json import TokenizerJson, parts

CERTAIN: Mapping[str, tuple[str, ...]] = {
    "pad": ("<pad>", "[PAD]"),
    "bos": ("<s>", "<bos>"),
    "eos": ("</s>", "<eos>"),
    "unk": ("<unk>", "[UNK]"),
    "cls": ("[CLS]",),
    "sep": ("[SEP]",),
    "mask": ("[MASK]",),  # not <mask>: causal models carry that one unused
}
"""Contents that mean one thing in every tokenizer that has them as special tokens."""
END_OF_TEXT = "<|endoftext|>"
"""Ends a document, and often begins one; but it is the pad of tokenizers that end a turn otherwise."""

LISTS = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens of one tokenizer.

    Args:
        roles: Id by role: pad, bos, eos, unk, cls, sep, mask, and whatever else the config names NAME_token. A role
            that the config says is not there has None; a role that nobody mentions is absent.
        every: Id by content, of all special tokens.
        origin: The file that each role came from.
    """

    roles: Mapping[str, int | None]
    every: Mapping[str, int]
    origin: Mapping[str, str]


def special_tokens(
    document: Mapping[str, Any],
    tokenizer: TokenizerJson,
    *,
    config: Mapping[str, Any],
    special_map: Mapping[str, Any],
    name: str = "tokenizer.json",
) -> SpecialTokens:
    """Return the special tokens, from the config first, then from special_tokens_map.json, then by content.

    Where tokens are the marks of a sentence pair (BERT), cls stands for bos and sep for eos.

    Args:
        document: The content of tokenizer.json.
        tokenizer: The same, parsed.
        config: The content of tokenizer_config.json; empty without.
        special_map: The content of special_tokens_map.json; empty without.
        name: The file that `document` came from, for `origin`.
    """
    told = [(config, "tokenizer_config.json"), (special_map, "special_tokens_map.json")]
    if "added_tokens_decoder" not in config:  # as transformers does: the older map wins over a config of its time
        told.reverse()
    roles: dict[str, int | None] = {}
    origin: dict[str, str] = {}
    for settings, file in told:
        for role, number in _named(settings, tokenizer):
            if role not in roles:
                roles[role], origin[role] = number, file
    for role, content in _guessed(document, tokenizer):
        if role not in roles and (number := tokenizer.id_of(content)) is not None:
            roles[role], origin[role] = number, name
    for role, stand_in in (("bos", "cls"), ("eos", "sep")):
        if roles.get(role) is None and roles.get(stand_in) is not None:
            roles[role], origin[role] = roles[stand_in], origin[stand_in]
    known = {number for number in roles.values() if number is not None}
    known |= {number for settings, _ in told for number in _listed(settings, tokenizer)}
    every = {each.content: each.id for each in tokenizer.added if each.special or each.id in known}
    missing = known - set(every.values())
    if missing:
        every |= {
            piece: number for piece, number in zip(tokenizer.pieces, tokenizer.ids, strict=True) if number in missing
        }
    return SpecialTokens(roles, every, origin)


def _content(token: object) -> str | None:
    """Return the content of a token that is written as a string, or as an object."""
    inside = token.get("content") if isinstance(token, dict) else token
    return inside if isinstance(inside, str) else None


def _named(settings: Mapping[str, Any], tokenizer: TokenizerJson) -> Iterator[tuple[str, int | None]]:
    """Yield (role, id) of every NAME_token that names a token, or says that there is none."""
    for key, value in settings.items():
        if not key.endswith("_token"):
            continue
        content = _content(value)
        number = None if content is None else tokenizer.id_of(content)
        if value is None or number is not None:
            yield key.removesuffix("_token"), number


def _listed(settings: Mapping[str, Any], tokenizer: TokenizerJson) -> Iterator[int]:
    """Yield the ids of further special tokens, written as a list or as {name: token}."""
    for key in LISTS:
        listed = settings.get(key)
        for token in listed.values() if isinstance(listed, dict) else listed if isinstance(listed, list) else ():
            content = _content(token)
            if content is not None and (number := tokenizer.id_of(content)) is not None:
                yield number


def _guessed(document: Mapping[str, Any], tokenizer: TokenizerJson) -> Iterator[tuple[str, str]]:
    """Yield (role, content) that the tokenizer.json makes certain by itself, the surest first."""
    if tokenizer.unknown is not None:
        yield "unk", tokenizer.unknown
    special = {each.content for each in tokenizer.added if each.special}
    for role, contents in CERTAIN.items():
        for content in contents:
            if content in special:
                yield role, content
    yield from _of_post_processor(document)
    if special == {END_OF_TEXT}:
        yield "bos", END_OF_TEXT
        yield "eos", END_OF_TEXT
    elif END_OF_TEXT in special and not any(
        each.startswith(("<|im_", "<|eot", "<|end|", "<|end_of")) for each in special
    ):
        yield "eos", END_OF_TEXT


def _of_post_processor(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a post-processor puts around a text; several tokens at one end (languages, tasks) say nothing."""
    for step in parts(document, "post_processor"):
        kind = step.get("type")
        if kind in ("BertProcessing", "RobertaProcessing"):
            for role in ("cls", "sep"):
                pair = step.get(role)
                if isinstance(pair, list) and pair and isinstance(pair[0], str):
                    yield role, pair[0]
        elif kind == "TemplateProcessing" and isinstance(step.get("single"), list):
            marks = [_template_token(each) for each in step["single"]]
            if marks.count(None) != 1:
                continue
            place = marks.index(None)
            for role, around in (("bos", marks[:place]), ("eos", marks[place + 1 :])):
                if len(around) == 1 and around[0] is not None:
                    yield role, around[0]


def _template_token(piece: object) -> str | None:
    """Return the special token that a piece of a template stands for; None for the text."""
    token = piece.get("SpecialToken") if isinstance(piece, dict) else None
    name = token.get("id") if isinstance(token, dict) else None
    return name if isinstance(name, str) else None
