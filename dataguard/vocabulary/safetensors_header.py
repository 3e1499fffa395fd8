"""How many rows a model's embedding has, from the header of its safetensors files: no weight is read.

A safetensors file begins with the header's length (8 bytes, little-endian) and the header, a JSON object
{tensor: {dtype, shape, data_offsets}}. Pickled weights (pytorch_model.bin) are never opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from dataguard.errors import VocabularyError
from dataguard.vocabulary.files import parse_object, read_object

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGEST_HEADER = 100_000_000
"""The bound that safetensors itself sets."""

INPUT_EMBEDDINGS = (
    "embed_tokens.weight",
    "wte.weight",
    "word_embeddings.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "shared.weight",
    "word_embedding.weight",
    "backbone.embeddings.weight",
    "backbone.embedding.weight",
)
OUTPUT_EMBEDDINGS = ("lm_head.weight", "embed_out.weight")
"""Ends of tensor names, the likeliest first. The output embedding has as many rows, and stands in for an input one."""
OTHER_TOWERS = re.compile(r"(^|[._])(vision|visual|image|audio|speech|talker|code_predictor|codec|vocoder)")


def embedding_of(names: Iterable[str]) -> str | None:
    """Return the tensor that is the text model's embedding, the input one first; None where none is recognised."""
    candidates = sorted((each for each in names if not OTHER_TOWERS.search(each)), key=lambda each: (len(each), each))
    for ending in INPUT_EMBEDDINGS + OUTPUT_EMBEDDINGS:
        for name in candidates:
            if name == ending or name.endswith("." + ending):
                return name
    return None


def embedding_rows(folder: Path) -> tuple[int, str] | None:
    """Return (rows of the embedding, file it was read from) of a model folder.

    None where no safetensors file there tells: there is none, the one named was not downloaded, or none of its tensors
    is a known embedding.

    Raises:
        VocabularyError: A file is damaged, or an index names a file outside the folder.
    """
    if (folder / SINGLE).is_file():
        return _rows_in(folder / SINGLE, None)
    if not (folder / INDEX).is_file():
        return None
    index = read_object(folder / INDEX, what="the model's index")
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict):
        raise VocabularyError("the model's index cannot be read", where=str(folder / INDEX), why="it has no weight_map")
    tensor = embedding_of(weight_map)
    if tensor is None:
        return None
    shard = weight_map[tensor]
    if not isinstance(shard, str) or not _stays_inside(shard):
        why = f"weight_map places {tensor} in {shard!r}, outside the folder"
        raise VocabularyError("the model's index cannot be trusted", where=str(folder / INDEX), why=why)
    path = folder / shard
    return _rows_in(path, tensor) if path.is_file() else None


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        0 < len(name) < 256
        and "\\" not in name
        and "\0" not in name
        and not path.is_absolute()
        and ".." not in path.parts
    )


def _rows_in(path: Path, tensor: str | None) -> tuple[int, str] | None:
    header = read_header(path)
    if header is None:
        return None
    name = embedding_of(header) if tensor is None else tensor
    if name is None:
        return None
    entry = header.get(name)
    shape = entry.get("shape") if isinstance(entry, dict) else None
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or any(type(each) is not int or not 0 < each < 1 << 63 for each in shape)
    ):
        why = (
            f"{name} has the shape {shape!r}, not [rows, width]"
            if entry
            else f"it has no tensor {name}, which its index places there"
        )
        raise VocabularyError("the model's embedding cannot be read", where=str(path), why=why)
    return shape[0], path.name


def read_header(path: Path) -> dict[str, Any] | None:
    """Return the header of a safetensors file; None for a Git LFS pointer, whose weights were never downloaded.

    Raises:
        VocabularyError: The file is too short for what its first bytes say, or its header is not JSON.
    """
    what = "the safetensors file"
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            start = file.read(8)
            if start == b"version ":
                return None
            length = int.from_bytes(start, "little")
            if len(start) < 8 or length > min(size - 8, LARGEST_HEADER):
                why = f"it says that its header has {length:,} bytes, and has {size:,} in all"
                raise VocabularyError(f"{what} is damaged", where=str(path), why=why, fix="download it again")
            content = file.read(length)
    except OSError as error:
        raise VocabularyError(f"{what} cannot be read", where=str(path), why=error.strerror or str(error)) from error
    return parse_object(content, what=what, where=str(path))
