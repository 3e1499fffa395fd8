from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import ShardFault
from dataguard.shards.batch import NULL_ELEMENT, NULL_ROW, Batch, ListColumn, attention_of, list_column

INT64_MAX = 2**63 - 1
LAYOUTS = {
    "list": pa.list_,
    "large_list": pa.large_list,
    "list_view": pa.list_view,
    "large_list_view": pa.large_list_view,
}
integers = st.sampled_from(
    [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
)


def rows_of(column: ListColumn) -> list[list[int]]:
    return [column.values[start:stop].tolist() for start, stop in zip(column.offsets, column.offsets[1:], strict=False)]


def by_hand(rows: list[list[int | None] | None]) -> tuple[list[list[int]], list[int]]:
    values = [[min(each or 0, INT64_MAX) for each in row or []] for row in rows]
    return values, [NULL_ROW if row is None else NULL_ELEMENT if None in row else 0 for row in rows]


@st.composite
def typed_rows(draw: st.DrawFn) -> tuple[pa.DataType, list[Any]]:
    kind = draw(integers)
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    element = st.one_of(st.none(), st.integers(low, high))
    return kind, draw(st.lists(st.one_of(st.none(), st.lists(element, max_size=5)), max_size=8))


@given(typed_rows(), st.sampled_from(sorted(LAYOUTS)), st.integers(0, 4), st.integers(0, 8))
def test_agrees_with_plain_lists(typed: tuple[pa.DataType, list[Any]], layout: str, skip: int, keep: int):
    kind, rows = typed
    array = pa.array(rows, LAYOUTS[layout](kind)).slice(skip, keep)
    column = list_column(array)
    assert (rows_of(column), column.nulls.tolist()) == by_hand(rows[skip : skip + keep])
    assert column.values.dtype == (np.int64 if kind.bit_width == 64 or kind == pa.uint32() else np.int32)
    assert column.offsets.dtype == np.int64
    assert column.offsets[0] == 0


@pytest.mark.parametrize("layout", [*LAYOUTS.values(), lambda kind: pa.list_(kind, 4)])
def test_a_row_whose_tokens_an_int32_cannot_count_is_refused(layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataguard.shards.batch._MOST_ROW_VALUES", 3)
    with pytest.raises(ShardFault, match="a row of 4 values"):
        list_column(pa.array([[1, 2, 3, 4], [1, 2, 3, 4]], layout(pa.int32())))
    three = [[1, 2, 3], [1, 2, 3]]
    if layout in LAYOUTS.values():
        assert rows_of(list_column(pa.array(three, layout(pa.int32())))) == three


@given(
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), min_size=3, max_size=3)), max_size=8), st.integers(0, 4)
)
def test_a_null_row_of_fixed_size_owns_nothing(rows: list[list[int] | None], skip: int):
    column = list_column(pa.array(rows, pa.list_(pa.int16(), 3)).slice(skip))
    assert (rows_of(column), column.nulls.tolist()) == by_hand(rows[skip:])  # type: ignore[arg-type]


def test_values_hidden_under_a_null_row_are_not_seen():
    mask = pa.array([False, True, False])
    array = pa.ListArray.from_arrays(
        pa.array([0, 2, 4, 5], pa.int32()), pa.array([1, 2, 99, 98, 3], pa.int32()), mask=mask
    )
    column = list_column(array)
    assert rows_of(column) == [[1, 2], [], [3]]
    assert column.nulls.tolist() == [0, NULL_ROW, 0]


def test_a_null_hidden_under_a_null_row_counts_for_no_other_row():
    mask = pa.array([False, True, False])
    values = pa.array([1, 2, None, None, 3], pa.int32())
    column = list_column(pa.ListArray.from_arrays(pa.array([0, 2, 4, 5], pa.int32()), values, mask=mask))
    assert column.nulls.tolist() == [0, NULL_ROW, 0]


def test_values_before_the_first_offset_are_not_seen():
    array = pa.ListArray.from_arrays(pa.array([1, 3, 4], pa.int32()), pa.array([99, 5, 6, 7], pa.int32()))
    assert rows_of(list_column(array)) == [[5, 6], [7]]


def test_views_may_overlap_and_stand_in_any_order():
    offsets, sizes = pa.array([2, 0, 1, 4], pa.int32()), pa.array([2, 3, 0, 1], pa.int32())
    array = pa.ListViewArray.from_arrays(offsets, sizes, pa.array([10, 11, 12, 13, None], pa.int32()))
    column = list_column(array)
    assert rows_of(column) == [[12, 13], [10, 11, 12], [], [0]]
    assert column.nulls.tolist() == [0, 0, 0, NULL_ELEMENT]


def test_views_that_would_spell_out_too_much_are_refused():
    many = 1 << 20
    offsets, sizes = pa.array(np.zeros(300, np.int32)), pa.array(np.full(300, many, np.int32))
    array = pa.ListViewArray.from_arrays(offsets, sizes, pa.array(np.zeros(many, np.int8)))
    with pytest.raises(ShardFault, match="unsupported_layout"):
        list_column(array)


def test_numbers_past_int64_become_its_largest():
    column = list_column(pa.array([[2**64 - 1, 2**63, INT64_MAX, 7]], pa.list_(pa.uint64())))
    assert column.values.tolist() == [INT64_MAX, INT64_MAX, INT64_MAX, 7]


def test_lists_of_nothing_but_nulls_are_zeros():
    column = list_column(pa.array([[None, None], [], None]))
    assert rows_of(column) == [[0, 0], [], []]
    assert column.nulls.tolist() == [NULL_ELEMENT, 0, NULL_ROW]


def test_truth_values_are_ones_and_zeros():
    assert rows_of(list_column(pa.array([[True, None, False]]))) == [[1, 0, 0]]


@pytest.mark.parametrize("array", [pa.array([1, 2]), pa.array([[1.5]]), pa.array([["a"]]), pa.array([[[1]]])])
def test_what_is_no_list_of_whole_numbers_is_refused(array: pa.Array):
    with pytest.raises(ShardFault, match="unsupported_layout"):
        list_column(array)


def test_a_column_cannot_be_written_to():
    column = list_column(pa.array([[1, 2]], pa.list_(pa.int32())))
    for array in (column.values, column.offsets, column.nulls):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def batch_of(**columns: list[Any]) -> Batch:
    arrays = {role: pa.array(rows, pa.list_(pa.int32())) for role, rows in columns.items()}
    return Batch(arrays, len(next(iter(arrays.values()))))


def test_a_companion_is_laid_out_by_the_column_that_it_goes_with():
    batch = batch_of(input_ids=[[1, 2], [3], None, [4, 5]], labels=[[7, 8], [9, 9], [6], [1, 2]])
    values, paired = batch.beside("input_ids", "labels")
    assert values.tolist() == [7, 8, 0, 1, 2]
    assert paired.tolist() == [True, False, False, True]


lists = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=4)


@given(st.lists(lists.flatmap(lambda row: st.tuples(st.just(row), st.just(row) | lists)), max_size=8))
def test_what_stands_beside_a_row_does_not_depend_on_its_neighbours(pairs: list[tuple[Any, Any]]):
    """Nulls as well: whichever rows are read with it, nothing stands beside a row that does not pair."""
    batch = batch_of(input_ids=[row for row, _ in pairs], labels=[other for _, other in pairs])
    lengths = batch.column("input_ids").lengths
    for found, is_set in (
        (batch.beside("input_ids", "labels"), False),
        (batch.set_beside("input_ids", "labels"), True),
    ):
        ends = np.cumsum(lengths)
        for place, (row, other) in enumerate(pairs):
            pairs_up = None not in (row, other) and len(row) == len(other) and None not in (*row, *other)
            hand = [int(each != 0) if is_set else each for each in other] if pairs_up else [0] * int(lengths[place])
            assert found[0][ends[place] - lengths[place] : ends[place]].tolist() == hand
            assert found[1][place] == pairs_up


def test_a_prefixed_column_has_its_own_companion():
    batch = batch_of(chosen_input_ids=[[1]], chosen_labels=[[2]], labels=[[3]], chosen_attention_mask=[[1]])
    assert batch.beside("chosen_input_ids", "labels")[0].tolist() == [2]
    assert attention_of(batch, "chosen_input_ids") == "chosen_attention_mask"
    assert attention_of(batch_of(input_ids=[[1]]), "input_ids") is None


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=12), st.integers(1, 9))
def test_blocks_are_all_rows_once_in_order(rows: list[list[int]], most: int):
    batch = batch_of(input_ids=rows)
    seen: list[list[int]] = []
    for start, block in batch.blocks("input_ids", most):
        assert start == len(seen)
        part = rows_of(block.column("input_ids"))
        assert len(part) == block.rows
        assert len(part) == 1 or sum(map(len, part)) <= most or block is batch
        seen += part
    assert seen == rows


def test_what_is_derived_is_derived_once():
    batch, asked = batch_of(input_ids=[[1]]), []
    assert [batch.once(("key",), lambda: asked.append(1) or len(asked)) for _ in range(3)] == [1, 1, 1]


@given(typed_rows(), st.integers(0, 3))
def test_one_number_a_row_agrees_with_plain_numbers(typed: tuple[pa.DataType, list[Any]], skip: int):
    kind, rows = typed
    cells = [row[0] if row else None for row in rows]
    values, there = Batch({"images": pa.array(cells, kind).slice(skip)}, max(0, len(cells) - skip)).scalars("images")
    assert values.dtype == np.int64
    assert there.tolist() == [cell is not None for cell in cells[skip:]]
    assert values.tolist() == [min(cell or 0, INT64_MAX) for cell in cells[skip:]]


def test_a_column_of_nothing_but_nulls_has_no_numbers():
    values, there = Batch({"images": pa.nulls(2)}, 2).scalars("images")
    assert (values.tolist(), there.tolist()) == ([0, 0], [False, False])


@pytest.mark.parametrize("array", [pa.array(["1"]), pa.array([1.5]), pa.array([[1]]), pa.array([True])])
def test_what_is_no_whole_number_is_refused(array: pa.Array):
    with pytest.raises(ShardFault, match="unsupported_layout"):
        Batch({"images": array}, 1).scalars("images")
