"""What a tokenizer says, once it has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dataguard.vocabulary.model import CharacterTable


@dataclass(frozen=True)
class Layer:
    """What one source says: fields by name. None says that there is none, and stops the search."""

    values: Mapping[str, int | None] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TokenizerFacts:
    """What a tokenizer says; the arguments as in `Vocabulary`, roles as in `SpecialTokens`."""

    name: str
    layer: Layer
    size: int
    special: Mapping[str, int]
    roles: Mapping[str, int]
    unassigned: frozenset[int]
    characters: CharacterTable
    fingerprint: str
