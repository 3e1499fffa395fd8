"""What expectations on a sampler share, against the plainest loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dataguard.expectations.resume_continues import _not_in
from dataguard.expectations.sampled import repeated
from tests.examples import examples

ORDERS = st.lists(st.lists(st.integers(0, 9) | st.just(1 << 40), max_size=6), max_size=4)


@examples(200)
@given(ORDERS)
def test_repeated_tells_what_comes_more_than_once_in_all_orders(orders: list[list[int]]):
    everything = [each for order in orders for each in order]
    found = repeated([np.array(order, np.int64) for order in orders])
    assert [each.tolist() for each in found] == [[everything.count(each) > 1 for each in order] for order in orders]


@examples(200)
@given(st.lists(st.integers(0, 9), max_size=6), ORDERS)
def test_not_in_keeps_what_no_other_order_has(few: list[int], many: list[list[int]]):
    others = {each for order in many for each in order}
    found = _not_in(np.array(few, np.int64), [np.array(order, np.int64) for order in many])
    assert found.tolist() == sorted(set(few) - others)
