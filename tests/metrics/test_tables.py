"""Look-up tables by id."""

from __future__ import annotations

import pytest

from dataguard.errors import VocabularyError
from dataguard.metrics.tables import MOST_IDS, flags, white
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


@pytest.mark.parametrize("token", [MOST_IDS, 2**40, 2**63 - 1])
def test_an_id_that_no_vocabulary_has_is_refused_and_not_allocated(token: int):
    with pytest.raises(VocabularyError, match="cannot be a special id"):
        flags((2, token))
