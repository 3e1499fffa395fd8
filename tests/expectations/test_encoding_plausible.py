"""expect_token_encoding_to_be_plausible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import SuiteError
from tests.builders import judged, list_array, reasons, table_of
from tests.examples import examples
from tests.metrics.strategies import LAYOUTS
from tests.metrics.test_encoding import by_hand, stored

PLAUSIBLE = "expect_token_encoding_to_be_plausible"
GPT2, QWEN3 = 50257, 151669
DICE = np.random.default_rng(1)


def text_like(size: int, rows: int = 40, length: int = 120) -> list[list[int]]:
    """Return rows in which low ids are frequent, as they are in text."""
    return (3 + (size - 3) * DICE.random((rows, length)) ** 4).astype(np.int64).tolist()


def misread(rows: list[list[int]], written: str, read: str) -> list[list[int]]:
    """Return what rows written as one type are when they are read as another."""
    return [np.array(row).astype(written).view(read).tolist() for row in rows]


def table(rows: Any, kind: pa.DataType | None = None, layout: str = "list", skip: int = 0) -> pa.Table:
    return pa.table({"input_ids": list_array(rows, kind or pa.int64(), layout, skip)})


def said(rows: Any, size: int | None = GPT2, kind: pa.DataType | None = None, **more: Any) -> str | None:
    result = judged(PLAUSIBLE, table(rows, kind), vocabulary={"size": size}, **more)
    assert (result.unjudged is None) == (size is not None)
    assert result.success == (not result.findings and size is not None)
    return next((each.reason for each in result.findings), None)


FAULTS = {
    "uint32 read as uint16": ("<u4", "<u2", "interleaved_zeros"),
    "uint32 read as int16": ("<u4", "<i2", "interleaved_zeros"),
    "int64 read as int32": ("<i8", "<i4", "interleaved_zeros"),
    "int64 read as uint16": ("<i8", "<u2", "interleaved_zeros"),
    "big-endian uint32 read as uint16": (">u4", "<u2", "interleaved_zeros"),
    "big-endian uint16": (">u2", "<u2", "byte_order"),
    "big-endian uint16 read as int16": (">u2", "<i2", "byte_order"),
    "big-endian uint32": (">u4", "<u4", "byte_order"),
    "big-endian int32": (">i4", "<i4", "byte_order"),
    "big-endian int64": (">i8", "<i8", "byte_order"),
    "uint16 read as int16": ("<u2", "<i2", "wrapped_uint16"),
    "uint16 read as uint32": ("<u2", "<u4", "packed_width"),
    "uint16 read as int32": ("<u2", "<i4", "packed_width"),
    "uint16 read as int64": ("<u2", "<i8", "packed_width"),
    "int32 read as int64": ("<i4", "<i8", "packed_width"),
    "uint32 read as uint64": ("<u4", "<u8", "packed_width"),
}


@pytest.mark.parametrize("size", [1000, 30522, GPT2])
@pytest.mark.parametrize("fault", FAULTS)
def test_names_how_the_ids_were_misread(fault: str, size: int):
    written, read, reason = FAULTS[fault]
    rows = text_like(size)
    negative = read == "<i2" and reason == "wrapped_uint16"
    if negative:
        rows = [[*row, size - 1, 40_000 % size] for row in rows]
    kind = pa.uint64() if read == "<u8" else pa.int64()
    expected = None if negative and size < 2**15 else reason
    assert said(misread(rows, written, read), size, kind) == expected


@pytest.mark.parametrize("fault", [each for each in FAULTS if "16" not in each])
def test_names_how_ids_of_a_larger_vocabulary_were_misread(fault: str):
    written, read, reason = FAULTS[fault]
    kind = pa.uint64() if read == "<u8" else pa.int64()
    chinese = DICE.integers(90_000, QWEN3, (20, 100)).tolist()
    for rows in (text_like(QWEN3), chinese):
        assert said(misread(rows, written, read), QWEN3, kind) == reason


def test_high_halves_of_a_larger_vocabulary_are_not_all_zeros():
    chinese = DICE.integers(90_000, QWEN3, (20, 100)).tolist()
    assert said(misread(chinese, "<u4", "<u2"), QWEN3) == "interleaved_zeros"


@pytest.mark.parametrize("rows", [1, 2, 3, 40])
def test_few_rows_are_enough(rows: int):
    some = [[11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]] * rows
    for written, read, reason in FAULTS.values():
        if reason != "wrapped_uint16":
            assert said(misread(some, written, read), 100, pa.uint64() if read == "<u8" else None) == reason


@pytest.mark.parametrize("size", [100, 260, 1000, 32000, GPT2, 65536, QWEN3])
@pytest.mark.parametrize("kind", [pa.int32(), pa.uint32(), pa.int64(), pa.uint64()], ids=str)
def test_ids_as_they_should_be_hold(size: int, kind: pa.DataType):
    for rows in (text_like(size), DICE.integers(0, size, (20, 60)).tolist(), [[5, 6, 7, 8, 9, 10]], [[size - 1] * 9]):
        assert said(rows, size, kind) is None


@pytest.mark.parametrize(
    "rows",
    [
        [[5] * 100, [7] * 100],
        [[0] * 100, [0] * 30],
        [[256] * 100] * 50,
        [[11, 12, 13, 0, 0, 0, 0, 0, 0, 0]] * 9,
        [[0, 0, 0, 0, 0, 0, 11, 12, 13]] * 9,
        [[11, 0], [12, 0], [13, 0], [14, 0]],
        [[5, 0, 5, 0, 5, 0, 5, 0]] * 3,
        [[1, 0, 1, 0, 1, 0, 1, 0]] * 3,
        [[3, 0, 0, 0, 9, 0, 0, 8, 0, 0, 0, 0, 0, 6, 0, 0, 5]] * 3,
        [[256, 512, 768, 1024, 2048, 4096]] * 40,
        [[-100] * 8, [-100, -100, 5, 6, 7, 8]],
        [[-1, 5, 6, 7, -200, 8]],
        [None, [], [None, 5, 6]],
        [[]],
        [],
    ],
    ids=str,
)
def test_constant_zero_rich_and_ignored_rows_hold(rows: Any):
    for size in (5000, GPT2, QWEN3):
        assert said(rows, size) is None


def test_rows_that_are_mostly_zeros_hold():
    sparse = [
        [int(each) if keep else 0 for each, keep in zip(row, DICE.random(len(row)) < 0.2, strict=True)]
        for row in text_like(GPT2)
    ]
    assert said(sparse) is None


def test_ids_of_another_vocabulary_are_beyond_the_limit_and_no_encoding():
    for size in (100, 260, 32000, GPT2):
        for rows in (
            text_like(QWEN3),
            DICE.integers(0, QWEN3, (20, 60)).tolist(),
            DICE.integers(0, 262_144, (20, 60)).tolist(),
        ):
            assert said(rows, size) is None
    added = [[*row[:4], *range(GPT2, GPT2 + 6)] for row in text_like(GPT2)]
    assert said(added) is None


def test_one_bad_row_among_many_is_no_encoding():
    bad = misread(text_like(GPT2, rows=1), "<u4", "<u2")
    assert said([*text_like(GPT2, rows=20), *bad]) is None


@pytest.mark.parametrize(
    ("value", "size", "reason"),
    [
        (4294967196, GPT2, "unsigned_ignore_index"),
        (4294967196, QWEN3, "unsigned_ignore_index"),
        (65436, GPT2, "unsigned_ignore_index"),
        (65436, QWEN3, None),
        (65437, GPT2, None),
        (-100, GPT2, None),
    ],
)
def test_what_ignore_index_becomes_in_an_unsigned_type(value: int, size: int, reason: str | None):
    assert said([[value, value, value, 5, 6, 7], [5, 6, 7, 8, 9, 10]], size) == reason


def test_ignore_index_in_64_bits_without_a_sign():
    assert said([[2**64 - 100, 5, 6, 7, 8, 9]], GPT2, pa.uint64()) == "unsigned_ignore_index"


def test_labels_may_be_judged():
    rows = table_of(input_ids=[[5, 6, 7]] * 2, labels=list_array([[4294967196, 6, 7]] * 2, pa.uint32()))
    (finding,) = judged(PLAUSIBLE, rows, vocabulary={"size": 100}, column="labels").findings
    assert (finding.column, finding.reason) == ("labels", "unsigned_ignore_index")


@pytest.mark.parametrize(
    ("kind", "size", "reason"),
    [
        (pa.uint16(), 65536, None),
        (pa.uint16(), 65537, "wrapped_uint16"),
        (pa.int16(), 32768, None),
        (pa.int16(), 32769, "wrapped_uint16"),
        (pa.int32(), QWEN3, None),
        (pa.uint8(), 200, None),
    ],
)
def test_16_bits_under_a_vocabulary_that_needs_more(kind: pa.DataType, size: int, reason: str | None):
    assert said([[5, 6, 7, 8, 9, 10]], size, kind) == reason
    assert said([[]], size, kind) is None


@pytest.mark.parametrize("layout", ["list", "large_list", "fixed", "list_view"])
def test_16_bits_in_every_layout(layout: str):
    rows = table([[5, 6, 7, 8, 9, 10]], pa.uint16(), layout)
    assert reasons(judged(PLAUSIBLE, rows, vocabulary={"size": QWEN3})) == {"wrapped_uint16": 1}


def test_negative_ids_that_are_in_range_with_65536():
    assert said([[5, 6, -20000, 7]]) == "wrapped_uint16"
    assert said([[5, 6, -10000, 7]]) is None
    assert said([[5, 6, -20000, -1, 5, -1, 5, -1]]) is None


def test_names_the_shards_and_no_rows(tmp_path: Path):
    rows = text_like(1000)
    pq.write_table(table(misread(rows, "<u4", "<u2")), tmp_path / "a.parquet")
    pq.write_table(table(rows), tmp_path / "b.parquet")
    pq.write_table(table(misread(rows, "<u2", "<u4")), tmp_path / "c.parquet", row_group_size=3)
    pq.write_table(table([[], None]), tmp_path / "d.parquet")
    result = judged(PLAUSIBLE, tmp_path, vocabulary={"size": 1000})
    assert [(each.shard, each.row, each.reason) for each in result.findings] == [
        ("a.parquet", None, "interleaved_zeros"),
        ("c.parquet", None, "packed_width"),
    ]
    assert (result.element_count, result.unexpected_count, result.missing_count) == (4, 2, 1)
    assert reasons(result) == {"interleaved_zeros": 1, "packed_width": 1}
    assert all(each.detail for each in result.findings)


def test_masked_and_padded_ids_count_too():
    rows = [[*row, *[0] * 60] for row in misread(text_like(1000), "<u4", "<u2")]
    mask = [[1] * (len(row) - 60) + [0] * 60 for row in rows]
    result = judged(PLAUSIBLE, {"input_ids": rows, "attention_mask": mask}, vocabulary={"size": 1000, "pad": 0})
    assert reasons(result) == {"interleaved_zeros": 1}


@pytest.mark.parametrize("pad", [0, 1, 2, 50256, 151643])
def test_padding_of_any_id_hides_no_pattern(pad: int):
    size = max(GPT2, pad + 1)
    rows = [[*row, *[pad] * 150] for row in text_like(min(size, GPT2))]
    assert said(rows, size) is None
    assert said(misread(rows, "<i8", "<i4"), size) == "interleaved_zeros"
    assert said(misread(rows, ">i4", "<i4"), size) == "byte_order"


def test_rows_shorter_than_min_tokens_show_no_zeros():
    rows = [[11, 0, 12, 0, 13]] * 10
    assert said(rows, 100) is None
    assert said(rows, 100, min_tokens=5) == "interleaved_zeros"


def test_fewer_than_min_tokens_show_no_byte_order():
    assert said([[2816, 3072, 3328]], 100) is None
    assert said([[2816, 3072, 3328]] * 2, 100) == "byte_order"


def test_without_a_vocabulary_it_cannot_be_judged_but_what_is_seen_is_told():
    assert said([[11, 0, 12, 0, 13, 0]], None) == "interleaved_zeros"
    assert said(misread(text_like(GPT2), ">u4", "<u4"), None) == "byte_order"
    assert said([[5, 6, 7]], None) is None


def test_a_shard_without_the_column_cannot_be_judged():
    result = judged(PLAUSIBLE, table_of(input_ids=[[5]]), vocabulary={"size": 10}, column="labels")
    assert result.unjudged is not None
    assert not result.success


def reference(rows: list[list[int]], limit: int, min_tokens: int) -> str | None:
    """Judge one shard of 64-bit ids in plain Python."""
    signs = [by_hand(row, limit, min_tokens) for row in rows]
    total = {name: sum(each[name] for each in signs) for name in signs[0]} if signs else {}
    if not total or not total["tokens"]:
        return None
    odd, even = sum(each["span"] // 2 for each in signs), sum((each["span"] + 1) // 2 for each in signs)
    tokens, outside = total["tokens"], total["outside"]

    def different(name: str) -> int:
        seen = 0
        for each in signs:
            seen |= each[name]
        return (seen % 2**64).bit_count()

    if (
        total["span"] * 2 >= tokens
        and odd > 1
        and total["odd_halves"] >= 0.95 * odd
        and total["even_halves"] <= 0.75 * even
    ):
        return "interleaved_zeros"
    swapped = total["swapped"] >= 0.9 * outside
    many = (outside >= 0.9 * tokens and different("outside_values") >= 3) or (
        outside >= 0.1 * tokens and different("outside_values") >= 16
    )
    low = total["low"] >= 0.25 * tokens and total["high"] <= 0.25 * total["low"] and different("low_values") >= 16
    if tokens >= min_tokens and ((swapped and many) or low):
        return "byte_order"
    if total["wrapped"] and 2 * total["wrapped"] >= total["negative"]:
        return "wrapped_uint16"
    if 2 * tokens >= min_tokens and 2 * total["packed"] >= tokens:
        return "packed_width"
    return "unsigned_ignore_index" if total["ignored"] and 2 * total["ignored"] >= outside else None


SHARDS = st.one_of(
    st.lists(st.lists(stored(pa.int64()), max_size=12), max_size=5),
    st.builds(
        misread,
        st.lists(
            st.lists(st.integers(3, 99), min_size=4, max_size=12).map(lambda row: row[: len(row) // 4 * 4]), max_size=5
        ),
        st.sampled_from(["<u2", ">u2", "<u4", ">u4", "<i8", ">i8"]),
        st.sampled_from(["<u2", "<i2", "<i4", "<i8"]),
    ),
)


@examples(60)
@given(
    SHARDS, st.sampled_from([100, 20_000, GPT2, QWEN3]), st.integers(2, 7), LAYOUTS.filter(lambda each: each != "fixed")
)
def test_agrees_with_a_judge_in_plain_python(rows: list[list[int]], limit: int, min_tokens: int, layout: str):
    result = judged(
        PLAUSIBLE, table(rows, pa.int64(), layout, skip=1), vocabulary={"size": limit}, min_tokens=min_tokens
    )
    assert next((each.reason for each in result.findings), None) == reference(rows, limit, min_tokens)


def test_min_tokens_is_a_number_that_kernels_can_compare():
    rows = [[3, 0, 4, 0, 5, 0, 6, 0]]
    assert said(rows, min_tokens=(1 << 63) - 1) is None
    with pytest.raises(SuiteError, match="min_tokens"):
        said(rows, min_tokens=1 << 63)
