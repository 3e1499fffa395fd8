"""What text ids stand for: the bytes of each, and the classes of the characters that bytes make.

Bytes, not characters, because in byte-level and byte-fallback vocabularies a character may cross ids: kernels join the
bytes of a row first and classify what they make.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from dataguard.vocabulary.model import CharacterTable
from dataguard.vocabulary.spelling import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE, is_byte_level, speller, word_end
from dataguard.vocabulary.tokenizer_json import TokenizerJson, parse_tokenizer

OTHER, LETTER, DIGIT, SYMBOL, WHITE = range(5)
"""The classes of `code_point_classes`."""

CODE_POINTS = 0x110000
_ASSIGNED = ((0, 0xE000), (0xF900, 0x34000), (0xE0000, 0xE1000))
"""Where the assigned characters are that are not private; all outside is of class other."""


def character_table(tokenizer_json: Mapping[str, Any]) -> CharacterTable:
    """Return the bytes that each id contributes to a row's text.

    Added tokens stand for their content, special ones too (kernels leave those out by id). Where words are joined by
    spaces that no token holds (WordPiece, WordLevel), a word brings one before itself, so a row may begin with one.

    Args:
        tokenizer_json: The content of a tokenizer.json.

    Raises:
        VocabularyError: It is no tokenizer.
    """
    return table_of(tokenizer_json, parse_tokenizer(tokenizer_json))


def table_of(document: Mapping[str, Any], tokenizer: TokenizerJson) -> CharacterTable:
    """Return the same for a tokenizer.json that has been parsed."""
    if is_byte_level(document):
        return _table(*_byte_level(tokenizer, word_end(document, tokenizer)))
    spell = speller(document, tokenizer)
    spelled = [b""] * tokenizer.size
    for piece, number in zip(tokenizer.pieces, tokenizer.ids, strict=True):
        spelled[number] = spell(piece)
    space = spell("a").removesuffix(b"a")  # what stands before a word where words are joined by spaces
    for token in tokenizer.added:
        spelled[token.id] = (
            space + token.content.encode("utf-8", "surrogatepass") if token.special else spell(token.content)
        )
    return _table(np.frombuffer(b"".join(spelled), np.uint8), [len(each) for each in spelled])


def _byte_level(tokenizer: TokenizerJson, suffix: str) -> tuple[npt.NDArray[np.uint8], list[int]]:
    """Return bytes and lengths; in GPT-2's alphabet one character is one byte, so all ids are read in one look-up."""
    spelled = [""] * tokenizer.size
    for piece, number in zip(tokenizer.pieces, tokenizer.ids, strict=True):
        spelled[number] = piece
    if suffix:
        space = CHARACTER_OF_BYTE[ord(" ")]
        spelled = [each.removesuffix(suffix) + space if each.endswith(suffix) else each for each in spelled]
    for token in tokenizer.added:
        spelled[token.id] = _in_alphabet(token.content)
    joined = "".join(spelled)
    strange = set(joined) - BYTE_OF_CHARACTER.keys()
    if strange:  # tokens outside the alphabet stand for themselves, as in tokenizers
        spelled = [_in_alphabet(each) if strange.intersection(each) else each for each in spelled]
        joined = "".join(spelled)
    places = np.frombuffer(joined.encode("utf-16-le"), np.dtype("<u2"))
    look_up = np.zeros(0x200, np.uint8)
    look_up[[ord(each) for each in BYTE_OF_CHARACTER]] = list(BYTE_OF_CHARACTER.values())
    return look_up[places], [len(each) for each in spelled]


def _in_alphabet(text: str) -> str:
    return "".join(CHARACTER_OF_BYTE[byte] for byte in text.encode("utf-8", "surrogatepass"))


def _table(data: npt.NDArray[np.uint8], lengths: Sequence[int]) -> CharacterTable:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data.flags.writeable = offsets.flags.writeable = False
    digest = xxhash.xxh3_128(offsets.tobytes())
    digest.update(data.tobytes())
    return CharacterTable(digest.hexdigest(), data, offsets)


@cache
def code_point_classes() -> npt.NDArray[np.uint8]:
    """Return the class of every code point: 0 other, 1 letter (L, M), 2 digit (N), 3 symbol (P, S), 4 white space.

    White space is what `str.isspace` says, before anything else.

    Returns:
        Shape (0x110000,), uint8, read-only. Built once a process.
    """
    of_category = {"L": LETTER, "M": LETTER, "N": DIGIT, "P": SYMBOL, "S": SYMBOL}
    classes = np.zeros(CODE_POINTS, np.uint8)
    for start, stop in _ASSIGNED:
        letters = "".join(map(unicodedata.category, map(chr, range(start, stop))))[::2]
        major = np.frombuffer(letters.encode("ascii"), np.uint8)
        for letter, number in of_category.items():
            classes[start:stop][major == ord(letter)] = number
        control_or_separator = np.flatnonzero((major == ord("C")) | (major == ord("Z"))) + start
        classes[[each for each in control_or_separator.tolist() if chr(each).isspace()]] = WHITE
    classes.flags.writeable = False
    return classes


def white_ids(table: CharacterTable) -> npt.NDArray[np.uint8]:
    """Return 1 where an id's bytes are white space and nothing else, in valid UTF-8; 0 elsewhere, and for no bytes.

    Returns:
        Shape (size,), uint8, read-only.
    """
    white = np.flatnonzero(code_point_classes() == WHITE)
    possible = np.zeros(256, np.bool_)
    possible[list("".join(map(chr, white)).encode())] = True
    impossible = np.concatenate([[0], np.cumsum(~possible[table.data])])
    start, stop = table.offsets[:-1], table.offsets[1:]
    found = np.zeros(len(table), np.uint8)
    for number in np.flatnonzero((start < stop) & (impossible[start] == impossible[stop])).tolist():
        found[number] = _is_white(table.data[start[number] : stop[number]].tobytes())
    found.flags.writeable = False
    return found


def _is_white(content: bytes) -> bool:
    try:
        return content.decode("utf-8").isspace()
    except UnicodeDecodeError:
        return False
