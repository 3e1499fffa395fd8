"""Look-up tables by id."""

from __future__ import annotations

from dataguard.metrics.tables import flags, white
from tests.builders import table_of_characters


def test_flags_are_1_at_the_ids_alone():
    assert flags((1, 4)).tolist() == [0, 1, 0, 0, 1]
    assert flags(()).tolist() == []


def test_white_is_1_at_ids_of_white_space_alone():
    table = table_of_characters(b" ", b" a", b"", "\u00a0\n".encode(), b"\xe3\x80")
    assert white(table).tolist() == [1, 0, 0, 1, 0]
    assert white(None).tolist() == []


def test_tables_are_read_only():
    assert not flags((2,)).flags.writeable
    assert not white(table_of_characters(b" ")).flags.writeable
