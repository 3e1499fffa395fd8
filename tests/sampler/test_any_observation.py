"""Whatever an observation holds, every expectation has a verdict on it, and counts add up."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataguard.run.sampler import Judging
from dataguard.sampler.observation import observation_of
from dataguard.suite.loading import load_suite
from tests.examples import examples

EVERY = load_suite(
    {
        "expectations": [
            {"type": each.expectation.type(), "kwargs": dict(each.kwargs)}
            for each in load_suite("sampler").expectations
        ]
        + [
            {"type": "expect_ranks_to_be_equally_long", "kwargs": {"unit": "sample"}},
            {"type": "expect_no_padded_duplicates", "kwargs": {"exact": True}},
            {"type": "expect_epoch_orders_to_differ", "kwargs": {"shuffle": False}},
        ]
    }
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    samples = draw(st.integers(0, 6))
    order = st.lists(st.integers(0, samples - 1), max_size=7) if samples else st.just([])

    def orders(least: int = 0) -> Any:
        return draw(st.lists(order, min_size=least, max_size=3))

    def epochs() -> list[dict[str, Any]]:
        return [{"epoch": draw(st.integers(-1, 2)), "ranks": orders()} for _ in range(draw(st.integers(1, 3)))]

    document: dict[str, Any] = {
        "samples": samples,
        "world_size": draw(st.integers(-1, 4)),
        "batch_size": draw(st.integers(1, 3)),
        "drop_last": draw(st.sampled_from([False, True, "sampler", "loader"])),
        "epochs": epochs(),
    }
    if draw(st.booleans()):
        document["reproduction"] = epochs()
    if draw(st.booleans()):
        document["items"] = draw(st.lists(st.sampled_from("ab"), min_size=samples, max_size=samples))
    if draw(st.booleans()):
        unbroken = orders(1)
        consumed = draw(st.integers(0, min(map(len, unbroken))))
        ranks = orders(1)
        more = {"world_size": len(ranks), "batch_size": draw(st.integers(1, 3))}
        document["resume"] = {"epoch": 0, "consumed_per_rank": consumed, "unbroken": unbroken, "ranks": ranks, **more}
    if draw(st.booleans()):
        document["seeds"] = [{"seed": 1, "epochs": epochs()}]
        document["lengths"] = draw(st.lists(st.integers(0, 5), min_size=samples, max_size=samples))
        document["sources"] = draw(st.lists(st.sampled_from(["x", None]), min_size=samples, max_size=samples))
    workers = st.fixed_dictionaries(
        {"epoch": st.integers(0, 1), "rank": st.integers(0, 1), "worker": st.integers(0, 1)},
        optional={
            "samples": order,
            "seed": st.integers(0, 1),
            "draws": st.lists(st.sampled_from([0.5, 1.0]), max_size=2),
        },
    )
    document["workers"] = draw(st.lists(workers, max_size=4))
    document["arguments"] = [
        {"rank": draw(st.integers(-1, 2)), "world_size": draw(st.integers(-1, 2))}
        for _ in range(draw(st.integers(0, 2)))
    ]
    return document


@examples(200)
@given(documents())
def test_every_expectation_has_a_verdict(document: dict[str, Any]):
    seen = observation_of(json.dumps(document), "observed.json")
    result = Judging(EVERY, seen, "info").result(chosen=False)
    for each in result.results:
        if each.unjudged is not None:
            continue
        reasons = dict(each.details.get("reasons", {}))
        if each.type == "expect_sampler_arguments_to_be_valid":
            reasons.pop("world_larger_than_data", None)
        if each.type == "expect_no_padded_duplicates" and not each.kwargs.get("exact"):
            reasons.pop("padded_duplicate", None)
        assert each.unexpected_count == sum(reasons.values()), each
        assert each.success == (not reasons), each
        assert len(each.findings) == each.unexpected_count, each
    json.dumps(result.to_dict())
