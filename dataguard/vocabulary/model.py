"""The vocabulary that shards are judged against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dataguard.vocabulary.encoder import Encoder


@dataclass(frozen=True, eq=False)
class CharacterTable:
    """The bytes that each id stands for; joined over a row they give its text.

    Two tables are equal when their digests are.

    Args:
        digest: Digest of everything below; part of the key of every metric that reads the table.
        data: The bytes of all ids, one after the other. Shape (B,), uint8.
        offsets: Id i owns data[offsets[i]:offsets[i + 1]]. Shape (size + 1,), int64. An id that stands for nothing
            (a hole, or a special token that is not spelled out) owns no byte.
    """

    digest: str
    data: npt.NDArray[np.uint8] = field(repr=False)
    offsets: npt.NDArray[np.int64] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharacterTable) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Vocabulary:
    """What is known of tokenizer and model; a field that nobody told is None.

    Args:
        size: Highest id that the tokenizer can emit, plus 1.
        base_size: Size of the tokenizer without added tokens.
        embedding_rows: Rows of the model's embedding.
        pad, bos, eos, unk: Ids of these special tokens.
        special: Every special token by its content (or by the name that a suite gives it), these four included.
        mask: Id of the mask token of a masked language model.
        reserved: Ids with a row that was never trained.
        unassigned: Ids below `size` that no token has.
        characters: The bytes of each id.
        fingerprint: Of the tokenizer: vocabulary, merges, added tokens and special ids.
        encoder: Turns text into ids, as the tokenizer does.
        limit_given: The limit that an option sets, whatever tokenizer and model say.
        tokenizer_ids: Id by role (pad, bos, eos, unk, cls, sep, mask, …) as the tokenizer has it, before the suite.
        model_ids: Ids by role as the model's config.json has them (`pad_token_id`); several where it lists several, and
            possibly none that a tokenizer can have (-1).
        origin: Where each known field came from, for the report: {"size": "tokenizer.json"}.
    """

    size: int | None = None
    base_size: int | None = None
    embedding_rows: int | None = None
    pad: int | None = None
    bos: int | None = None
    eos: int | None = None
    unk: int | None = None
    special: Mapping[str, int] = field(default_factory=dict)
    mask: int | None = None
    reserved: frozenset[int] = frozenset()
    unassigned: frozenset[int] = frozenset()
    characters: CharacterTable | None = None
    fingerprint: str | None = None
    encoder: Encoder | None = None
    limit_given: int | None = None
    tokenizer_ids: Mapping[str, int] = field(default_factory=dict)
    model_ids: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def limit(self) -> int | None:
        """The first id that the embedding cannot look up; the tokenizer's size where no model is known."""
        if self.limit_given is not None:
            return self.limit_given
        return self.size if self.embedding_rows is None else self.embedding_rows

    @property
    def pad_or_eos(self) -> int | None:
        """The id that rows are padded with: where a tokenizer names no pad, recipes take eos for it."""
        return self.eos if self.pad is None else self.pad

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids that are no content, sorted. unk is content, but where it is pad, bos or eos as well."""
        named = {each for each in (self.pad, self.bos, self.eos) if each is not None}
        others = {each for each in self.special.values() if each != self.unk}
        return tuple(sorted(named | others))

    @property
    def pad_is_own(self) -> bool:
        """Whether pad is known and differs from every other special id, so that a run of it must be padding."""
        if self.pad is None or self.pad in (self.bos, self.eos, self.unk):
            return False
        return sum(each == self.pad for each in self.special.values()) <= 1
