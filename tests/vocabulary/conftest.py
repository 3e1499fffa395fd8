"""Small tokenizers and model folders, written out by what a test says of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dataguard.vocabulary.spelling import CHARACTER_OF_BYTE


def byte_level(special: list[str]) -> dict[str, Any]:
    """Return a tokenizer.json: the special tokens, then the 256 bytes by value, without merges."""
    vocab = {token: number for number, token in enumerate(special)}
    vocab |= {character: len(special) + byte for byte, character in enumerate(CHARACTER_OF_BYTE)}
    return {
        "added_tokens": [{"id": number, "content": token, "special": True} for number, token in enumerate(special)],
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }


@pytest.fixture
def document() -> dict[str, Any]:
    """Return a byte-level tokenizer.json with <pad> 0, <s> 1, </s> 2, <unk> 3."""
    return byte_level(["<pad>", "<s>", "</s>", "<unk>"])


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes {file name: JSON value or text} into a new folder, and returns the folder."""

    def written(files: dict[str, Any], folder: str = "folder") -> Path:
        place = tmp_path / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return place

    return written


@pytest.fixture
def weights() -> Callable[..., bytes]:
    """Return what makes a safetensors file's bytes, header alone, of {tensor: shape}."""

    def made(**shapes: list[int]) -> bytes:
        names = {name.replace("__", "."): shape for name, shape in shapes.items()}
        header = {name: {"dtype": "BF16", "shape": shape, "data_offsets": [0, 0]} for name, shape in names.items()}
        content = json.dumps(header).encode()
        return struct.pack("<Q", len(content)) + content

    return made
