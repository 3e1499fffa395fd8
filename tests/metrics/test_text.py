"""Rows become text: joined ids against the plainest loop and tokenizers' own decoder, columns in every layout."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from dataguard.errors import ShardFault
from dataguard.metrics.base import Attention
from dataguard.metrics.text import BREAK, NO_UTF8, OfText
from dataguard.shards import text as texts
from dataguard.shards.batch import Batch
from dataguard.vocabulary.characters import character_table
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, list_array, table_of_characters
from tests.metrics.strategies import quick
from tests.metrics.texts import PIECES, array_of, batch_of_texts, small_pieces

SPECIAL = 0
SPELLED = [
    *(b"<s>", b"", b"a", b"\xe4\xb8", b"\xad", b"\xfe", b"\xff", b"eight by", b"nine byte", b"\xf0\x9f\x98\x80"),
    *(b"a long one of twenty-six.", "中文字中文字中文字".encode()),
]
TABLE = table_of_characters(*SPELLED)
SHARED = Path(os.environ.get("DATAGUARD_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"
TOKENIZERS = Path(__file__).resolve().parents[2] / "fixtures" / "tokenizers"


@dataclass(frozen=True)
class Bytes(OfText):
    """The texts themselves, as a metric gathers them from pieces; and what is at the bytes that are `wanted`."""

    gives: ClassVar[dict[str, Any]] = {"present": pl.Boolean, "at": pl.Int32}
    positions: ClassVar[tuple[str, ...]] = ("at",)
    wanted: tuple[int, ...] = ()
    seen: dict[int, bytes] = field(default_factory=dict, compare=False)

    def count(self, pieces, numbers, *, spaced):
        opened = None
        for piece in pieces:
            assert not piece.data.flags.writeable
            assert piece.begins == (opened is None)
            for place in range(len(piece.offsets) - 1):
                part = piece.data[piece.offsets[place] : piece.offsets[place + 1]].tobytes()
                self.seen[piece.row + place] = self.seen.get(piece.row + place, b"") + part
            last = piece.row + len(piece.offsets) - 2
            assert opened is None or piece.row == opened
            opened = None if piece.ends else last
        assert opened is None
        numbers[0, : len(self.wanted)] = self.wanted


def bytes_of(
    table: CharacterTable | None = TABLE, special: tuple[int, ...] = (SPECIAL,), wanted: tuple[int, ...] = ()
) -> Bytes:
    return Bytes(Attention("input_ids"), special, table, wanted)


def joined(batch: Batch, table: CharacterTable | None = TABLE, special: tuple[int, ...] = (SPECIAL,)) -> list[bytes]:
    metric = bytes_of(table, special)
    metric.compute(batch)
    return [metric.seen.get(row, b"") for row in range(batch.rows)]


def by_hand(row: list[int] | None, seen: list[bool] | None) -> tuple[bytes, list[int]]:
    """Return a row's text, and the token that each of its bytes is of (a BREAK: of the one behind it)."""
    text, tokens, parted = b"", [], False
    for place, token in enumerate(row or []):
        inside = (seen is None or seen[place]) and 0 <= token < len(SPELLED) and token != SPECIAL
        if not inside:
            parted = text != b""
        elif SPELLED[token]:
            own = (bytes([BREAK]) if parted else b"") + SPELLED[token].replace(bytes([BREAK]), bytes([NO_UTF8]))
            text, tokens, parted = text + own, tokens + [place] * len(own), False
    return text, tokens


IDS = st.one_of(
    st.integers(0, len(SPELLED) - 1), st.integers(2, len(SPELLED) - 1), st.sampled_from([-1, 99, 2**31 - 1])
)


@quick
@given(st.data(), PIECES)
def test_ids_are_joined_as_the_plain_loop_joins_them(data: st.DataObject, size: int):
    rows = data.draw(st.lists(st.one_of(st.none(), *[st.lists(IDS, max_size=12)] * 4), max_size=6))
    masks = [data.draw(st.lists(st.booleans(), min_size=len(row or []), max_size=len(row or []))) for row in rows]
    masked, kind = data.draw(st.booleans()), data.draw(st.sampled_from([pa.int32(), pa.int64(), pa.uint32()]))
    ids = [None if row is None else [max(each, 0) if kind == pa.uint32() else each for each in row] for row in rows]
    columns = {"attention_mask": [[int(each) for each in mask] for mask in masks]} if masked else {}
    batch = batch_of(kind=kind, skip=data.draw(st.integers(0, 2)), input_ids=ids, **columns)
    expected = [
        by_hand(row, mask if masked and row is not None else None) for row, mask in zip(ids, masks, strict=True)
    ]
    with small_pieces(size):
        assert joined(batch) == [text for text, _ in expected]
        wanted = tuple(data.draw(st.integers(-1, len(text) - 1)) for text, _ in expected)
        found = bytes_of(wanted=wanted).compute(batch)["at"].tolist()
    tokens = [of[at] if at >= 0 else -1 for at, (_, of) in zip(wanted, expected, strict=True)]
    assert found == tokens


@pytest.mark.parametrize("size", range(17, 40))
def test_pieces_are_cut_between_characters(size: int):
    @dataclass(frozen=True)
    class Decoded(Bytes):
        def count(self, pieces, numbers, *, spaced):
            for piece in pieces:
                piece.data[: piece.offsets[-1]].tobytes().decode("utf-8")

    with small_pieces(size):
        Decoded(Attention("input_ids"), (SPECIAL,), TABLE).compute(batch_of(input_ids=[[11, 9, 11], [2] * 40, [11]]))


def test_a_row_of_ten_thousand_tokens_goes_through_small_pieces():
    with small_pieces(1000):
        assert joined(batch_of(input_ids=[[8, 2] * 5000, [], [7]])) == [b"nine bytea" * 5000, b"", b"eight by"]


def test_a_token_that_no_buffer_holds_is_joined_in_parts():
    table = table_of_characters(b"", "ü".encode() * 5000, b"x")
    with small_pieces(100):
        (text,) = joined(batch_of(input_ids=[[2, 1, 2]]), table=table)
    assert text.decode() == "x" + "ü" * 5000 + "x"


@pytest.mark.parametrize("layout", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("skip", [0, 3])
def test_a_column_of_any_layout_is_the_text(layout: str, skip: int):
    rows = ["one", None, "", "zwölf is longer than a view's own bytes", "one", "中文"]
    batch = batch_of_texts(rows, layout, skip)
    column = texts.text_column(batch.array("text"))
    of_rows = range(len(rows)) if column.of_rows is None else column.of_rows.tolist()
    parts = [column.data[column.offsets[i] : column.offsets[i + 1]].tobytes().decode() for i in of_rows]
    assert column.present.tolist() == [each is not None for each in rows]
    assert [part if there else None for part, there in zip(parts, column.present, strict=True)] == rows


@pytest.mark.parametrize("kind", [pa.string(), pa.null(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_a_column_of_nulls_has_no_text(kind: pa.DataType):
    assert texts.text_column(pa.array([None, None], kind)).present.tolist() == [False, False]
    assert len(texts.text_column(pa.array([], kind)).present) == 0


def test_a_dictionary_may_hold_nulls_and_what_no_row_uses():
    array = pa.DictionaryArray.from_arrays(pa.array([2, None, 1, 2], pa.int8()), pa.array(["x" * 99, None, "b"]))
    column = texts.text_column(array)
    assert column.present.tolist() == [True, False, False, True]
    assert len(column.data) < 200


def test_the_texts_of_a_dictionary_may_be_views():
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int8()), pa.array(["one", "two"], pa.string_view()))
    assert joined(Batch({"input_ids": list_array([[2]] * 3), "text": array}, 3))[:2] == [b"one", b"two"]


def test_views_that_all_stand_for_the_same_bytes_are_not_spelled_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(texts, "_MOST_VIEW_BYTES", 1000)
    one = pa.array(["x" * 100], pa.string_view())
    views = pa.py_buffer(one.buffers()[1].to_pybytes()[:16] * 20)
    array = pa.Array.from_buffers(pa.string_view(), 20, [None, views, one.buffers()[2]])
    with pytest.raises(ShardFault, match="spell out 2,000 bytes"):
        texts.text_column(array)


def test_the_column_comes_before_the_ids_and_a_prefix_brings_its_own():
    rows = {"chosen_input_ids": list_array([[2]]), "text": array_of(["other"], "string")}
    for columns, expected in ((rows, b"a"), (rows | {"chosen_text": array_of(["mine"], "string")}, b"mine")):
        metric = Bytes(Attention("chosen_input_ids"), (SPECIAL,), TABLE)
        metric.compute(Batch(columns, 1))
        assert metric.seen[0] == expected


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.string()), pa.binary()])
def test_a_column_that_holds_no_text_is_left_alone(kind: pa.DataType):
    columns = {"input_ids": list_array([[2]]), "text": pa.nulls(1, kind)}
    assert joined(Batch(columns, 1)) == [b"a"]
    ids = pa.list_(pa.int32())
    assert bytes_of().can_compute({"input_ids": ids, "text": kind})
    assert not bytes_of(table=None).can_compute({"input_ids": ids, "text": kind})
    assert bytes_of(table=None).can_compute({"input_ids": ids, "text": pa.string()})


def as_decoded(text: str, name: str) -> str:
    """Return joined text as that tokenizer's decoder shows it: it drops the space that the first word brings."""
    return text if name in ("gpt2", "qwen3") else text.removeprefix(" ")


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "mistral-v1", "bert-wordpiece"])
def test_joined_text_is_what_tokenizers_decode(name: str):
    folder = TOKENIZERS / name if (TOKENIZERS / name).exists() else SHARED / "tokenizers" / name
    files = sorted((SHARED / "text").glob("*.jsonl.gz"))
    if not files or not folder.exists():
        pytest.skip(f"needs the corpora and tokenizers in {SHARED}")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    table = character_table(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")))
    special = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            documents = [json.loads(line)["text"][:4000] for line in islice(lines, 12)]
        rows = [each.ids for each in tokenizer.encode_batch(documents, add_special_tokens=False)]
        rows = [[token for token in row if token not in special] for row in rows]
        spelled = joined(batch_of(input_ids=rows), table=table, special=tuple(sorted(special)))
        for text, row in zip(spelled, rows, strict=True):
            assert as_decoded(text.decode("utf-8", "replace"), name) == tokenizer.decode(row), file.name


def test_the_bytes_of_every_id_are_there():
    table = table_of_characters(*(bytes([byte]) for byte in range(256)))
    (text,) = joined(batch_of(input_ids=[list(range(256))]), table=table, special=())
    assert np.frombuffer(text, np.uint8).tolist() == [255 if byte == BREAK else byte for byte in range(256)]
