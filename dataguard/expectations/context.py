"""What an expectation may know beside the numbers: the vocabulary, the shards and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa

from dataguard.expectations.baseline import Baseline
from dataguard.expectations.divided import Scratch
from dataguard.expectations.observation import PARTS, Observation
from dataguard.metrics.base import Attention, Metric
from dataguard.metrics.documents import TELLING
from dataguard.result import Unjudged
from dataguard.shards.manifest import Manifest
from dataguard.shards.roles import BOUNDARIES, PER_TOKEN, PROMPT, ROLES, is_list, is_number_list, role_of
from dataguard.vocabulary.model import Vocabulary
from dataguard.vocabulary.tokenizer_files import CONVERT
from dataguard.vocabulary.told import IDS


@dataclass(frozen=True)
class ShardFacts:
    """What is known of a shard once it has been opened and scanned.

    Args:
        name: The path inside DATA.
        fault: (reason, detail) where it is not intact; then it has no rows here.
        layout: What kind of file it is.
        schema: Its columns as they stand in the file.
        roles: {role: column}, as resolved for this shard.
        rows, tokens: How many it has; 0 where it is not intact.
        digest: Of the file's bytes, where it was taken.
        misnamed: Its name says another layout than its content has.
        tokenizer: The fingerprint of the tokenizer that its rows were made with, where the shard or dataset_info.json says it.
    """

    name: str
    fault: tuple[str, str] | None = None
    layout: str | None = None
    schema: pa.Schema | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    tokens: int = 0
    digest: str | None = None
    misnamed: bool = False
    tokenizer: str | None = None

    def type_of(self, role: str) -> pa.DataType | None:
        """Return the Arrow type of the column that plays a role; None where there is none."""
        if self.schema is None or role not in self.roles:
            return None
        return self.schema.field(self.roles[role]).type

    def has(self, role: str) -> bool:
        """Whether a column plays a role. One class a row (classification) is no column of labels for tokens; nulls may be."""
        kind = self.type_of(role)
        return kind is not None and (role_of(role) not in PER_TOKEN or is_list(kind) or pa.types.is_null(kind))

    def unread(self, required: Iterable[str], metrics: Iterable[Metric]) -> str | None:
        """Return, in words, the first column that is not there, or not of a type that metrics can read.

        Args:
            required: Roles that must be there.
        """
        types = {role: kind for role in self.roles if (kind := self.type_of(role)) is not None}
        for role in required:
            if role not in types:
                return f"no column {role}"
        for metric in metrics:
            for role in (*metric.reads(), *metric.may_read()):
                if role in types and not metric.accepts(role, types[role]):
                    return f"column {self.roles[role]} is {types[role]}"
        return None

    def can_read(self, role: str) -> bool:
        """Whether the column of a role holds lists of whole numbers (or booleans), or nothing but nulls."""
        kind = self.type_of(role)
        return kind is not None and is_number_list(kind)


@dataclass(frozen=True)
class Context:
    """What is known of the data set and of the vocabulary.

    Args:
        vocabulary: Of tokenizer, model, suite and options.
        shards: Every shard, in the order of DATA.
        sources: Names of the rows' sources; the metric table holds their places in this list.
        parameters: The suite's parameters.
        ignored: Files in DATA that are no shards, each with the reason.
        manifests: What the files beside the shards say of them.
        observation: What was seen of a sampler; None where nobody looked.
        baselines: Earlier reports that the suite names, by path: what they hold, or why that cannot be told.
    """

    vocabulary: Vocabulary
    shards: Sequence[ShardFacts]
    sources: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ignored: Sequence[tuple[str, str]] = ()
    manifests: Sequence[Manifest] = ()
    observation: Observation | None = None
    baselines: Mapping[str, Baseline | Unjudged] = field(default_factory=dict)

    @property
    def intact(self) -> list[ShardFacts]:
        """The shards that can be judged."""
        return [shard for shard in self.shards if shard.fault is None]

    def has(self, role: str) -> bool:
        """Whether any intact shard has a column of this role."""
        return any(shard.has(role) for shard in self.intact)

    def has_one_of(self, name: str) -> bool:
        """Whether any intact shard has one of the columns that a name stands for (`columns_meant`)."""
        return any(self.has(role) for role in columns_meant(name))

    def attention(self, column: str) -> Attention:
        """Return what decides which positions of a token column are attended."""
        return Attention(column, self.vocabulary.pad if self.vocabulary.pad_is_own else None)

    def absent(self, name: str, given: Mapping[str, Any]) -> Unjudged | None:
        """Return what is missing where `name` is absent, with what would supply it; None where it is there.

        Args:
            name: A role (or a prefixed companion of one), a field of the vocabulary, `source`, `characters`, `encoder`,
                `limit`, `causal`, `manifest`, `documents`, `boundaries`, `observation` or a part of it, or an argument of the
                expectation.
            given: The expectation's arguments.
        """
        if given.get(name) is not None:
            return None
        if name in {"source", "manifest"}:
            return self._absent_of_rows(name)
        if name == OBSERVATION or name in PARTS:
            return self._absent_of_observation(name)
        if name in VOCABULARY_FIELDS:  # also where the argument of that name is null: it then takes the vocabulary's
            return self._absent_of_vocabulary(name)
        if name in given or (name in self.parameters and not self.has(name)):
            return None if name not in given and self.parameters[name] is not None else self._not_given(name)
        return self._absent_column(name)

    def _not_given(self, name: str) -> Unjudged:
        return Unjudged(f"{name} is not given", f"give {self.way_to_give(name)}")

    def way_to_give(self, name: str) -> str:
        """Return the option that gives an argument; the suite, where it has no parameter of that name."""
        if name not in self.parameters:
            return f"the argument {name} in the suite"
        return "--max-length N" if name == "max_length" else f"--set {name}=VALUE"

    def _absent_column(self, name: str) -> Unjudged | None:
        """Return that there is no such column, or none of several of which one is enough."""
        roles = columns_meant(name)
        if self.has_one_of(name):
            return None
        fix = f"give --column {roles[0]}=NAME where it has another name"
        return self._without(f"no shard has a column {' or '.join(roles)}", fix)

    def _without(self, missing: str, fix: str) -> Unjudged:
        """Return what no row has; where there are no rows at all, that."""
        return Unjudged(missing, fix) if self.intact else NONE_INTACT

    def _absent_of_rows(self, name: str) -> Unjudged | None:
        if name == "source":
            fix = "give --column source=NAME, or put each source into a folder of its own"
            return None if self.sources else self._without("the rows have no source", fix)
        fix = "judge the whole folder that `datasets` (or the writer of an index.json) saved"
        return None if self.manifests else Unjudged("no manifest lies beside the shards", fix)

    def _absent_of_observation(self, name: str) -> Unjudged | None:
        if self.observation is None:
            return Unjudged("no sampler was observed", "run dataguard sampler")
        absent = None if name == OBSERVATION else self.observation.absent(name)
        return None if absent is None else Unjudged(*absent)

    def _absent_of_vocabulary(self, name: str) -> Unjudged | None:
        vocabulary = self.vocabulary
        if name == "causal":
            missing = "the labels may not be those of a causal model"
            fix = "the tokenizer has a mask token, so that labels may be a masked language model's; name a suite to judge them"
            return None if vocabulary.mask is None else Unjudged(missing, fix)
        if name == "encoder":
            return self._absent_encoder()
        if name == "vocabulary":
            name = "limit"
        if getattr(vocabulary, name) is not None:
            return None
        return Unjudged(*self.unknown(name))

    def _absent_encoder(self) -> Unjudged | None:
        """Return why text cannot be turned into ids. The tokenizer is loaded for that, once a process."""
        encoder, tokenizer = self.vocabulary.encoder, self.vocabulary.origin.get("fingerprint")
        if encoder is not None:
            missing = f"{tokenizer or 'the tokenizer'} cannot encode text: {encoder.fault}"
            return None if encoder.fault is None else Unjudged(missing, CONVERT)
        if tokenizer is not None:
            return Unjudged(f"{tokenizer} does not say how text becomes ids", CONVERT)
        return Unjudged(*VOCABULARY_FIELDS["encoder"])

    def unknown(self, field: str) -> tuple[str, str]:
        """Return what is missing where a field of the vocabulary is not known, and what supplies it.

        A special token that the given tokenizer does not name is not supplied by giving the tokenizer.
        """
        if field in IDS and self.vocabulary.fingerprint is not None:
            tokenizer = self.vocabulary.origin.get("fingerprint", "the tokenizer")
            return f"{tokenizer} names no {field} token", f"give vocabulary: {{{field}: ID}} {SETTINGS}"
        return VOCABULARY_FIELDS[field]


OBSERVATION = "observation"
PROMPT_TOLD = "prompt"
"""Stands for the columns that tell a row's prompt, of which one is enough."""
NONE_INTACT = Unjudged("no shard is intact", "see expect_shards_to_be_intact")
SETTINGS = "in the suite or in dataguard.yaml"
VOCABULARY_FIELDS: Mapping[str, tuple[str, str]] = {
    "limit": ("the size of the vocabulary is not known", "give --tokenizer PATH, --model DIR or --vocab-size N"),
    "size": ("the size of the tokenizer is not known", "give --tokenizer PATH or --vocab-size N"),
    "embedding_rows": ("the model's embedding is not known", "give --model DIR"),
    "encoder": (
        "no tokenizer is given that turns text into ids",
        "give --tokenizer PATH, a tokenizer.json or its folder",
    ),
    "characters": ("what text the ids stand for is not known", "give --tokenizer PATH"),
    **{
        name: (f"the {name} id is not known", f"give --tokenizer PATH, or vocabulary: {{{name}: ID}} {SETTINGS}")
        for name in IDS
    },
    "pad_or_eos": ("neither pad nor eos is known", f"give --tokenizer PATH, or vocabulary: {{pad: ID}} {SETTINGS}"),
    "vocabulary": ("nothing is known of the vocabulary", "give --tokenizer PATH, --model DIR or --vocab-size N"),
    "causal": ("", ""),
}
"""What `when` may name of the vocabulary: what is missing where it is absent, and what supplies it."""

COLUMNS_FOR_WHEN: Mapping[str, tuple[str, ...]] = {
    "documents": TELLING,
    "boundaries": BOUNDARIES,
    PROMPT_TOLD: PROMPT,
}
"""What `when` may name of which one column is enough."""


def columns_meant(name: str) -> tuple[str, ...]:
    """Return the roles that a name stands for: its own, or those of which one is enough, with the name's prefix."""
    for group, roles in COLUMNS_FOR_WHEN.items():
        if name == group or name.endswith(f"_{group}"):
            return tuple(name.removesuffix(group) + role for role in roles)
    return (name,)


NAMES_FOR_WHEN = frozenset({"manifest", OBSERVATION, *VOCABULARY_FIELDS, *ROLES, *COLUMNS_FOR_WHEN, *PARTS})
"""What `when` may name beside an expectation's own arguments, the suite's parameters and prefixed roles."""


def names_for_when(arguments: Iterable[str], parameters: Iterable[str]) -> frozenset[str]:
    """Return what `meta.dataguard.when` may name; `column` is none: it always has a value, and says nothing of the data."""
    return (NAMES_FOR_WHEN | set(arguments) | set(parameters)) - {"column"}


def known_for_when(name: str, arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    """Whether `meta.dataguard.when` may name this."""
    prefixed = "_" in name and role_of(name) != name and name.endswith((*ROLES, *COLUMNS_FOR_WHEN))
    return name in names_for_when(arguments, parameters) or prefixed


@dataclass(frozen=True)
class MetricTable:
    """The numbers of every row of every intact shard, in the order of DATA.

    Args:
        frame: Columns `shard` (UInt32, place in `Context.shards`), `row` (Int64), `source` (Int32, place in
            `Context.sources`, or null), and `KEY.NAME` for each number of each metric, null where a shard lacks the
            columns for it.
        scratch: Where what is judged across rows may lie when it does not fit into memory; None keeps it in memory.
    """

    frame: pl.LazyFrame
    scratch: Scratch | None = None

    def collect(self, *expressions: pl.Expr) -> dict[str, Any]:
        """Return aggregates over all rows, by name."""
        return self.frame.select(*expressions).collect(engine="streaming").row(0, named=True)
