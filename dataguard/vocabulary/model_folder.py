"""What a model folder says of the vocabulary: rows of the embedding, special ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataguard.errors import VocabularyError
from dataguard.vocabulary.files import read_object
from dataguard.vocabulary.safetensors_header import embedding_rows
from dataguard.vocabulary.told import IDS, whole_number

CONFIG = "config.json"
TEXT_CONFIGS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where models of several senses keep the text model's settings."""


@dataclass(frozen=True)
class ModelFacts:
    """What a model says.

    Args:
        rows: Rows of its embedding.
        rows_from: The file that says so.
        ids: {role: ids} of config.json's ROLE_token_id, as they stand there; eos may have several, and some are -1.
    """

    rows: int
    rows_from: str
    ids: Mapping[str, tuple[int, ...]]


def read_model(path: Path) -> ModelFacts:
    """Read a model's folder (or its config.json).

    The embedding itself is believed before config.json: a vocabulary that was resized shows in the weights.

    Raises:
        VocabularyError: It is no model folder, a file in it is damaged, or nothing in it tells the embedding's rows.
    """
    folder = path.parent if path.name == CONFIG and path.is_file() else path
    if not folder.is_dir():
        why = "it is a file" if folder.is_file() else "it is no folder"
        raise VocabularyError(
            "the model cannot be read", where=str(path), why=why, fix="give the folder with its config.json"
        )
    config = read_object(folder / CONFIG, what="the model's config") if (folder / CONFIG).is_file() else {}
    levels = [config, *(config[each] for each in TEXT_CONFIGS if isinstance(config.get(each), dict))]
    ids: dict[str, tuple[int, ...]] = {}
    for level in levels:
        ids = {**_ids(folder / CONFIG, level), **ids}
    found = embedding_rows(folder)
    if found is None:
        sizes = [level["vocab_size"] for level in levels if level.get("vocab_size") is not None]
        found = (whole_number(sizes[0], f"{folder / CONFIG}, vocab_size", least=1), CONFIG) if sizes else None
    if found is None:
        why = (
            "no known embedding in model.safetensors, and no vocab_size in config.json"
            if config
            else f"it has no {CONFIG}"
        )
        fix = "give the folder that save_pretrained wrote, or --vocab-size N instead of --model"
        raise VocabularyError("the model's vocabulary is not told", where=str(folder), why=why, fix=fix)
    return ModelFacts(*found, ids)


def _ids(config: Path, level: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the ids of every ROLE_token_id; those of further roles only where they are ids at all."""
    found = {}
    for key, value in level.items():
        role = key.removesuffix("_token_id")
        if role == key or value is None:
            continue
        listed = value if isinstance(value, list) else [value]
        if all(type(each) is int for each in listed):
            found[role] = tuple(listed)
        elif role in IDS:
            why = f"{key} is {value!r:.80}, not a whole number or a list of them"
            raise VocabularyError("the model's config cannot be right", where=str(config), why=why)
    return found
