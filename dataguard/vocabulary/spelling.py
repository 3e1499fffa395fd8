"""How a tokenizer spells bytes in its tokens, found in its tokenizer.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dataguard.vocabulary.tokenizer_json import TokenizerJson, parts

_PRINTABLE = frozenset([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

CHARACTER_OF_BYTE = tuple(chr(b) if b in _PRINTABLE else chr(0x100 + _OTHERS.index(b)) for b in range(256))
"""GPT-2's alphabet: printable bytes of Latin-1 spell themselves, the others take the characters from U+0100 up."""
BYTE_OF_CHARACTER = {character: byte for byte, character in enumerate(CHARACTER_OF_BYTE)}

WORD_START = "\u2581"
"""sentencepiece's sign for a space."""
BYTE_TOKEN = re.compile("<0x([0-9A-Fa-f]{2})>")


def is_byte_level(document: Mapping[str, Any]) -> bool:
    """Whether tokens are spelled in GPT-2's alphabet."""
    return any(step.get("type") == "ByteLevel" for step in parts(document, "decoder", "pre_tokenizer"))


def word_end(document: Mapping[str, Any], tokenizer: TokenizerJson) -> str:
    """Return what marks a token at a word's end (`</w>`); empty where nothing does."""
    suffix = tokenizer.model.get("end_of_word_suffix")
    for step in parts(document, "decoder"):
        if step.get("type") == "BPEDecoder":
            suffix = suffix or step.get("suffix")
    return suffix if isinstance(suffix, str) else ""


def speller(document: Mapping[str, Any], tokenizer: TokenizerJson) -> Callable[[str], bytes]:
    """Return what gives a token's bytes within a row, for a tokenizer that is not byte-level.

    White space between tokens is given as one space before a word, or behind it; a row may so begin with one too many.
    """
    continuing = _continuing_prefix(document, tokenizer)
    if continuing:
        cleaned = _cleaned if _is_cleaned(document) else str
        return lambda token: _utf8(cleaned(token[len(continuing) :] if token.startswith(continuing) else " " + token))
    signs = _signs_for_text(document, tokenizer)
    fallback = _falls_back_to_bytes(document, tokenizer)
    if signs or fallback:
        return lambda token: _of_piece(token, signs, fallback=fallback)
    suffix = word_end(document, tokenizer)
    if suffix:
        return lambda token: _utf8(token.removesuffix(suffix) + " " if token.endswith(suffix) else token)
    if tokenizer.kind == "WordLevel" or document.get("decoder") is None:
        return lambda token: _utf8(" " + token)  # tokenizers joins tokens by a space where no decoder says otherwise
    return _utf8


def _continuing_prefix(document: Mapping[str, Any], tokenizer: TokenizerJson) -> str:
    """Return what marks a token that goes on with a word (`##`); empty where nothing does."""
    for step in parts(document, "decoder"):
        if step.get("type") == "WordPiece" and isinstance(step.get("prefix"), str):
            return str(step["prefix"])
    prefix = tokenizer.model.get("continuing_subword_prefix")
    if isinstance(prefix, str) and prefix:
        return prefix
    return "##" if tokenizer.kind == "WordPiece" else ""


def _is_cleaned(document: Mapping[str, Any]) -> bool:
    return any(step.get("type") == "WordPiece" and step.get("cleanup", True) for step in parts(document, "decoder"))


def _cleaned(token: str) -> str:
    """Return a token as WordPiece's decoder does: without the space before punctuation that never has one.

    The decoder does so token by token, with the space that it has put before; `n't` and the like are no tokens of it.
    """
    for end in (".", "?", "!", ",", "'m", "'s", "'ve", "'re", "n't"):
        token = token.replace(" " + end, end)
    return token.replace(" ' ", "'").replace(" do not", " don't")


def _signs_for_text(document: Mapping[str, Any], tokenizer: TokenizerJson) -> tuple[tuple[str, str], ...]:
    """Return (sign, what it stands for) of metaspace and of the decoder's replacements."""
    signs = {WORD_START: " "} if tokenizer.kind == "Unigram" else {}
    for step in parts(document, "decoder", "pre_tokenizer"):
        if step.get("type") == "Metaspace":
            sign = step.get("replacement")
            signs[sign if isinstance(sign, str) and sign else WORD_START] = " "
    for step in parts(document, "decoder"):
        pattern = step.get("pattern")
        sign = pattern.get("String") if step.get("type") == "Replace" and isinstance(pattern, dict) else None
        if isinstance(sign, str) and sign and isinstance(step.get("content"), str):
            signs[sign] = step["content"]
    return tuple(signs.items())


def _falls_back_to_bytes(document: Mapping[str, Any], tokenizer: TokenizerJson) -> bool:
    told = any(step.get("type") == "ByteFallback" for step in parts(document, "decoder"))
    return told or tokenizer.model.get("byte_fallback") is True


def _of_piece(token: str, signs: tuple[tuple[str, str], ...], *, fallback: bool) -> bytes:
    if fallback and len(token) == len("<0x00>") and (byte := BYTE_TOKEN.fullmatch(token)):
        return bytes([int(byte[1], 16)])
    for sign, text in signs:
        token = token.replace(sign, text)
    return _utf8(token)


def _utf8(text: str) -> bytes:
    """Return the UTF-8 of a text; half a surrogate pair, which JSON can spell, becomes bytes that are no character."""
    return text.encode("utf-8", "surrogatepass")
