"""Roles: what a column is for, and which column of a shard plays which role."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

INPUT_IDS = "input_ids"
ATTENTION_MASK = "attention_mask"
LABELS = "labels"
TEXT = "text"
PER_TOKEN = (ATTENTION_MASK, LABELS, "position_ids", "document_ids", "loss_mask")
"""Roles with one value for each token, beside input_ids itself."""
BOUNDARIES = ("cu_seqlens", "seq_lengths")
"""Roles that say where the documents of a row begin, or how long they are."""
PROMPT_IDS, PROMPT_LENGTH, TARGET_SPANS = "prompt_ids", "prompt_length", "target_spans"
PROMPT = (PROMPT_LENGTH, PROMPT_IDS)
"""Roles that say which tokens a row begins with are its prompt."""
ROLES = (
    INPUT_IDS,
    *PER_TOKEN,
    *BOUNDARIES,
    "source",
    TEXT,
    *PROMPT,
    TARGET_SPANS,
)
USUAL_NAMES = ("tokens", "token_ids", "ids")
"""Names that are taken as input_ids where nothing is called so."""
NEVER_IDS = frozenset(ROLES) - {INPUT_IDS} | {
    "token_type_ids",
    "special_tokens_mask",
    "assistant_masks",
    "completion_mask",
    "cu_seq_lens",
    "seq_idx",
    "indices",
    "length",
    "lengths",
}
"""Columns of integer lists that hold something else than token ids."""


def companion(column: str, role: str) -> str:
    """Return the column of `role` that goes with a token column: chosen_input_ids brings chosen_labels."""
    if column.endswith(INPUT_IDS):
        return column.removesuffix(INPUT_IDS) + role
    return role


def is_role(name: str) -> bool:
    """Whether a name is a role, or one with a prefix: chosen_input_ids."""
    return name in ROLES or name.endswith(tuple(f"_{role}" for role in ROLES))


def role_of(column: str) -> str:
    """Return the role that a column's name stands for: chosen_labels plays labels; an unknown name input_ids."""
    for role in (INPUT_IDS, *PER_TOKEN, *BOUNDARIES):
        if column == role or column.endswith(f"_{role}"):
            return role
    return column if column in ROLES else INPUT_IDS


def is_list(kind: pa.DataType) -> bool:
    """Whether a column's rows are lists, in any of Arrow's layouts."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def is_number_list(kind: pa.DataType) -> bool:
    """Whether a column's rows are lists of whole numbers (or booleans), or of nothing but nulls."""
    if not is_list(kind):
        return False
    inner = kind.value_type
    return bool(pa.types.is_integer(inner) or pa.types.is_boolean(inner) or pa.types.is_null(inner))


def is_span_list(kind: pa.DataType) -> bool:
    """Whether a column's rows are lists of spans: of pairs of whole numbers, or of {start, end}."""
    if not is_list(kind):
        return False
    inner = kind.value_type
    if pa.types.is_struct(inner):
        return sorted(field.name for field in inner) == ["end", "start"] and all(is_number(each.type) for each in inner)
    return is_number_list(inner) or pa.types.is_null(inner)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column has one whole number a row, or nothing but nulls."""
    return bool(pa.types.is_integer(kind) or pa.types.is_null(kind))


def is_text(kind: pa.DataType | None) -> bool:
    """Whether a column has one text a row, in any of Arrow's layouts."""
    if kind is not None and pa.types.is_dictionary(kind):
        kind = kind.value_type
    return kind is not None and bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_integer_list(kind: pa.DataType) -> bool:
    """Whether a column's rows are lists of integers."""
    return is_list(kind) and pa.types.is_integer(kind.value_type)


def token_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that may hold token ids: lists of integers whose name says nothing else."""
    return [
        field.name
        for field in schema
        if is_integer_list(field.type) and field.name not in NEVER_IDS and role_of(field.name) == INPUT_IDS
    ]


def resolve(schema: pa.Schema, mapped: Mapping[str, str]) -> dict[str, str]:
    """Return which column of a shard plays each role: {role: column}.

    Every column plays the role of its own name. A mapping (`--column`, a suite's `columns`) comes first; without
    one, and without a column called input_ids, the column called tokens, token_ids or ids is taken as input_ids, or
    the only column of integer lists. One with a prefix brings its companions: where chosen_input_ids is input_ids,
    chosen_labels is labels.
    """
    names = set(schema.names)
    found = {name: name for name in names if name not in mapped}
    found.update({role: name for role, name in mapped.items() if name in names})
    if INPUT_IDS not in mapped and INPUT_IDS not in names:
        candidates = [name for name in token_columns(schema) if name not in mapped.values()]
        usual = [name for name in USUAL_NAMES if name in candidates]
        if usual or len(candidates) == 1:
            found[INPUT_IDS] = (usual or candidates)[0]
    ids = found.get(INPUT_IDS, INPUT_IDS)
    for role in (*PER_TOKEN, *BOUNDARIES, *PROMPT, TARGET_SPANS, TEXT) if ids != INPUT_IDS else ():
        beside = companion(ids, role)
        if role not in mapped and beside in names:
            found[role] = beside
    return found
