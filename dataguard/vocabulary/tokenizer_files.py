"""The files of a tokenizer: tokenizer.json and its sidecars, or the older vocab.json with merges.txt, or vocab.txt.

An older folder is turned into the object that its tokenizer.json would hold, so that everything else knows one format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataguard.errors import VocabularyError
from dataguard.vocabulary.files import read_object, read_text
from dataguard.vocabulary.special_tokens import CERTAIN, END_OF_TEXT
from dataguard.vocabulary.spelling import BYTE_OF_CHARACTER

WHOLE, CONFIG, SPECIAL_MAP, ADDED = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
VOCAB_JSON, MERGES, VOCAB_TXT = "vocab.json", "merges.txt", "vocab.txt"
KNOWN = (WHOLE, CONFIG, SPECIAL_MAP, ADDED, VOCAB_JSON, MERGES, VOCAB_TXT)
"""Every file that is read of a tokenizer's folder."""
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
"""How an added token is looked for in a text."""
CONVERT = 'save it as tokenizer.json: AutoTokenizer.from_pretrained("FOLDER").save_pretrained("OTHER") in transformers'


@dataclass(frozen=True)
class TokenizerFiles:
    """A tokenizer as its files tell it.

    Args:
        document: The content of tokenizer.json, or its equal.
        name: The file that holds the vocabulary, for people.
        config: tokenizer_config.json; empty where there is none.
        special_map: special_tokens_map.json, likewise.
        path: The file that `document` was read from; None where it was put together.
    """

    document: dict[str, Any]
    name: str
    config: Mapping[str, Any]
    special_map: Mapping[str, Any]
    path: Path | None = None


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds a tokenizer that `read_tokenizer_files` understands, as far as file names tell."""
    try:
        older = (folder / VOCAB_JSON).is_file() and (folder / MERGES).is_file()
        with_config = (folder / CONFIG).is_file() and (older or (folder / VOCAB_TXT).is_file())
        return (folder / WHOLE).is_file() or with_config
    except OSError:  # a folder that may not be entered
        return False


def read_tokenizer_files(path: Path) -> TokenizerFiles:
    """Read a tokenizer from its folder, its tokenizer.json, or its tokenizer_config.json.

    A tokenizer.json under another name stands alone: files beside it may belong to another tokenizer.

    Raises:
        VocabularyError: Nothing there is a tokenizer that dataguard reads; the message says what it found instead.
    """
    if path.is_dir():
        return _of_folder(path)
    if path.name == CONFIG:
        return _of_folder(path.parent)
    if path.name == WHOLE:
        return _with_sidecars(path.parent, read_object(path, what="the tokenizer"), WHOLE, path)
    _refuse_other_formats(path)
    return TokenizerFiles(read_object(path, what="the tokenizer"), path.name, {}, {}, path)


def whole_file(path: Path) -> Path | None:
    """Return the tokenizer.json (whatever its name) of a tokenizer's folder or file; None where it has none."""
    if path.is_dir() or path.name == CONFIG:
        whole = (path if path.is_dir() else path.parent) / WHOLE
        return whole if whole.is_file() else None
    return None if path.suffix in {".model", ".tiktoken", ".txt"} else path


def _of_folder(folder: Path) -> TokenizerFiles:
    if (folder / WHOLE).is_file():
        document = read_object(folder / WHOLE, what="the tokenizer")
        return _with_sidecars(folder, document, WHOLE, folder / WHOLE)
    if (folder / VOCAB_JSON).is_file() and (folder / MERGES).is_file():
        return _with_sidecars(folder, _from_vocab_and_merges(folder), VOCAB_JSON, None)
    if (folder / VOCAB_TXT).is_file():
        return _with_sidecars(folder, _from_vocab_txt(folder), VOCAB_TXT, None)
    other = [*sorted(folder.glob("*.model")), *sorted(folder.glob("*.tiktoken"))]
    if other:
        _refuse_other_formats(other[0])
    why = f"it holds none of {WHOLE}, {VOCAB_JSON} with {MERGES}, {VOCAB_TXT}"
    raise VocabularyError(
        "the folder holds no tokenizer", where=str(folder), why=why, fix="give the folder of a tokenizer"
    )


def _refuse_other_formats(path: Path) -> None:
    if path.suffix == ".tiktoken" or path.name == "tiktoken.model":
        why = "tiktoken files are not read yet"
    elif path.suffix == ".model":
        why = "sentencepiece models are not read yet"
    else:
        return
    fix = f"give {path.with_name(WHOLE)}" if path.with_name(WHOLE).is_file() else CONVERT
    raise VocabularyError("the tokenizer cannot be read", where=str(path), why=why, fix=fix)


def _with_sidecars(folder: Path, document: dict[str, Any], name: str, path: Path | None) -> TokenizerFiles:
    config, special_map, added = (
        read_object(folder / each, what=f"the tokenizer's {each}") if (folder / each).is_file() else {}
        for each in (CONFIG, SPECIAL_MAP, ADDED)
    )
    for content, number in added.items():
        if type(number) is not int:
            why = f"the id of {content!r:.80} is {number!r:.80}, not a whole number"
            raise VocabularyError("the added tokens cannot be read", where=str(folder / ADDED), why=why)
    extra = _of_config(config) + [
        {"id": number, "content": content, "special": False} for content, number in added.items()
    ]
    own = document.get("added_tokens")
    if extra and isinstance(own, list | None):
        document = {**document, "added_tokens": [*(own or []), *_unknown_to(document, extra)]}
    return TokenizerFiles(document, name, config, special_map, path)


def _of_config(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the added tokens that tokenizer_config.json lists by id; what is no such list is left to others."""
    listed = config.get("added_tokens_decoder")
    if not isinstance(listed, dict):
        return []
    return [
        {
            **{key: token[key] for key in FLAGS if type(token.get(key)) is bool},
            "id": int(number),
            "content": token["content"],
            "special": token.get("special") is True,
        }
        for number, token in listed.items()
        if re.fullmatch("[0-9]{1,18}", number) and isinstance(token, dict) and isinstance(token.get("content"), str)
    ]


def _unknown_to(document: Mapping[str, Any], extra: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the tokens of the sidecars that tokenizer.json lacks, which transformers adds on loading.

    Where both name an id or a content, tokenizer.json is right.
    """
    own = [each for each in document.get("added_tokens") or [] if isinstance(each, dict)]
    model = document.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) else None
    by_content = vocab if isinstance(vocab, dict) else {}
    contents = {each["content"] for each in own if isinstance(each.get("content"), str)}
    taken = {each["id"] for each in own if isinstance(each.get("id"), int)}
    taken.update(each for each in by_content.values() if isinstance(each, int))
    taken.update(range(len(vocab)) if isinstance(vocab, list) else ())
    for token in extra:
        number, content = token["id"], token["content"]
        if content not in contents and (number not in taken or by_content.get(content) == number):
            yield token
            contents.add(content)
            taken.add(number)


def _from_vocab_and_merges(folder: Path) -> dict[str, Any]:
    vocab = read_object(folder / VOCAB_JSON, what="the vocabulary")
    lines = read_text(folder / MERGES, what="the merges").split("\n")
    merges = [line.rstrip("\r") for line in lines if line.strip() and not line.startswith("#version")]
    by_bytes = all(character in vocab for character in BYTE_OF_CHARACTER)
    ends_words = sum(line.endswith("</w>") for line in merges) * 10 > len(merges)
    return {
        "added_tokens": _certain(vocab),
        "decoder": {"type": "ByteLevel"} if by_bytes else None,
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "end_of_word_suffix": "</w>" if ends_words else None,
        },
    }


def _from_vocab_txt(folder: Path) -> dict[str, Any]:
    lines = read_text(folder / VOCAB_TXT, what="the vocabulary").split("\n")
    if not lines[-1]:
        lines.pop()
    vocab = {line.rstrip("\r"): number for number, line in enumerate(lines)}
    return {
        "added_tokens": _certain(vocab),
        "decoder": {"type": "WordPiece", "prefix": "##"},
        "model": {"type": "WordPiece", "vocab": vocab, "continuing_subword_prefix": "##", "unk_token": "[UNK]"},
    }


def _certain(vocab: Mapping[str, Any]) -> list[dict[str, Any]]:
    contents = [content for each in CERTAIN.values() for content in each] + [END_OF_TEXT]
    return [{"id": vocab[content], "content": content, "special": True} for content in contents if content in vocab]
