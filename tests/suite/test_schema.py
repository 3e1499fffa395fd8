"""The JSON Schema of suites and project files says what the loader says, as far as a schema can."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dataguard.errors import SuiteError
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.suite.files import read
from dataguard.suite.loading import load_suite
from dataguard.suite.project import read_project
from dataguard.suite.schema import project_schema, suite_schema
from dataguard.suite.shipped import shipped
from tests.examples import examples

SUITE = Draft202012Validator(suite_schema(EXPECTATIONS))
PROJECT = Draft202012Validator(project_schema())
CASES = Path(__file__).parents[1] / "cases" / "hand"
VALUES = (
    *(
        None,
        True,
        False,
        0,
        1,
        2,
        -1,
        -100,
        0.5,
        1.5,
        2**63,
        2**70,
        "",
        "x",
        "auto",
        "left",
        "input_ids",
        [],
        [1],
        [-1],
    ),
    *(["x"], ["cap"], ["truncated"], [[0, 1]], {}, {"a": 1}, {"a": {}}, {"a": {"column": "x"}}, {"a": {"x": 1}}),
    *({"web": [0.1, 0.5]}, {"$PARAMETER": 3}, {"$PARAMETER": "p", "x": 1}, {"$PARAMETER": ""}),
)
BEYOND_A_SCHEMA = (
    "do not fit together",
    "stands twice",
    "has no value",
    "when cannot name",
    "(parameter ",
    "a number must be finite",
)
"""Objections of the loader that need more than the shape of one value."""


def objection(suite: Any) -> str | None:
    """Return why the loader refuses a suite; None where it does not."""
    try:
        load_suite(suite)
    except SuiteError as error:
        return str(error)
    return None


def agree(suite: Any) -> bool:
    """Whether loader and schema say the same, or the loader knows what a schema cannot."""
    why = objection(suite)
    return SUITE.is_valid(suite) == (why is None) or (why is not None and any(each in why for each in BEYOND_A_SCHEMA))


def suite_of(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"suite_parameters": {"p": 1}, "expectations": [{"type": name, "kwargs": kwargs}]}


def least(kind: type[Expectation]) -> dict[str, Any]:
    """Return arguments that an expectation must be given."""
    found: dict[str, Any] = {}
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    names = SUITE.schema["$defs"][kind.type()]["properties"]
    for name in required:
        enums = [each for choice in names[name].get("anyOf", ()) for each in choice.get("enum", ())]
        for value in (*enums[:1], *VALUES):
            kwargs = {**dict.fromkeys(required, "x"), **found, name: value}
            if f"{name} of" not in (objection(suite_of(kind.type(), **kwargs)) or ""):
                found[name] = value
                break
    return found


def hand_suites() -> Iterator[tuple[str, Any]]:
    for file in sorted(CASES.glob("*.json")):
        for run in json.loads(file.read_text("utf-8"))["runs"]:
            if isinstance(run.get("suite"), dict):
                yield f"{file.stem}/{run['name']}", run["suite"]


HAND = dict(hand_suites())


def test_they_are_schemas() -> None:
    Draft202012Validator.check_schema(SUITE.schema)
    Draft202012Validator.check_schema(PROJECT.schema)
    assert SUITE.schema["$schema"] == PROJECT.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", shipped())
def test_shipped_suites_hold(name: str) -> None:
    assert list(SUITE.iter_errors(read(shipped()[name]).value)) == []


@pytest.mark.parametrize("name", HAND)
def test_suites_of_field_reports_are_judged_alike(name: str) -> None:
    assert agree(HAND[name]), (objection(HAND[name]), [each.message for each in SUITE.iter_errors(HAND[name])])


def test_some_suites_of_field_reports_are_refused() -> None:
    refused = [name for name, suite in HAND.items() if not SUITE.is_valid(suite)]
    assert {"K01/A", "K02/A", "K03/A"} <= set(refused)


@pytest.mark.parametrize("kind", EXPECTATIONS.values(), ids=EXPECTATIONS)
def test_every_argument_is_judged_alike_whatever_it_is(kind: type[Expectation]) -> None:
    given = least(kind)
    assert objection(suite_of(kind.type(), **given)) is None
    for name in (*kind.arguments(), "nonsense", "severity"):
        for value in VALUES:
            suite = suite_of(kind.type(), **{**given, name: value})
            assert agree(suite), (name, value, objection(suite))
        assert SUITE.is_valid(suite_of(kind.type(), **{**given, name: {"$PARAMETER": "p"}})) == (
            name in kind.arguments()
        )
    for name in given:
        assert not SUITE.is_valid(suite_of(kind.type(), **{each: given[each] for each in given if each != name}))
    assert SUITE.is_valid({"expectations": [{"type": kind.type()}]}) == (not given)


@pytest.mark.parametrize("kind", EXPECTATIONS.values(), ids=EXPECTATIONS)
def test_every_argument_says_what_it_is(kind: type[Expectation]) -> None:
    schema = SUITE.schema["$defs"][kind.type()]
    assert schema["description"]
    assert all(each["description"] for each in schema["properties"].values())


def test_a_parameter_may_stand_wherever_a_value_does() -> None:
    kwargs = {"sentinels": [5, {"$PARAMETER": "p"}], "by_source": {"web": {"limit": {"$PARAMETER": "p"}}}}
    suite = suite_of("expect_token_ids_to_be_in_vocabulary", **kwargs)
    assert objection(suite) is None
    assert SUITE.is_valid(suite)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value of a document."""
    yield place
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*place, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*place, number))


def changed(document: Any, place: tuple[Any, ...], how: str, value: Any) -> Any:
    """Return a document in which one value is another, is gone, has another name or has another beside it."""
    document = copy.deepcopy(document)
    if not place:
        return value
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    last = place[-1]
    if how == "replace":
        holder[last] = value
    elif how == "remove":
        del holder[last]
    elif isinstance(holder, dict):
        holder[f"{last}x"] = holder.pop(last) if how == "rename" else value
    return document


SHIPPED = [read(path).value for path in shipped().values()]
LIKELY = st.sampled_from([*VALUES, "critical", "expect_rows_not_to_be_empty", {"dataguard": {"when": ["labels"]}}])


@examples(150)
@given(data=st.data())
def test_mutated_suites_are_judged_alike(data: st.DataObject) -> None:
    suite = data.draw(st.sampled_from(SHIPPED))
    place = data.draw(st.sampled_from(list(places(suite))))
    how = data.draw(st.sampled_from(["replace", "remove", "rename", "add"]))
    mutated = changed(suite, place, how, data.draw(LIKELY))
    assert not isinstance(mutated, dict) or agree(mutated), objection(mutated)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("expectation",), []),
        (("name",), 7),
        (("expectations",), []),
        (("expectations",), {}),
        (("expectations", 0, "typ"), "x"),
        (("expectations", 0, "type"), "expect_nothing"),
        (("expectations", 0, "severity"), "bad"),
        (("expectations", 0, "limit"), 3),
        (("expectations", 0, "id"), 3),
        (("expectations", 0, "meta"), {"dataguard": {"wehn": []}}),
        (("meta",), {"dataguard": {"column": {}}}),
        (("meta",), {"dataguard": {"columns": {"imput_ids": "a"}}}),
        (("meta",), {"dataguard": {"columns": {"input_ids": ""}}}),
        (("meta",), {"dataguard": {"vocabulary": {"sise": 3}}}),
        (("meta",), {"dataguard": {"vocabulary": {"size": 0}}}),
        (("meta",), {"dataguard": {"vocabulary": {"special": {"x": "3"}}}}),
        (("meta",), {"dataguard": {"vocabulary": {"reserved": [-1]}}}),
        (("meta",), {"dataguard": {"quarantine": ["bad"]}}),
        (("suite_parameters",), []),
    ],
)
@pytest.mark.parametrize("suite", SHIPPED, ids=list(shipped()))
def test_both_refuse(suite: Any, place: tuple[Any, ...], value: Any) -> None:
    broken = changed(suite, place, "replace", value)
    assert objection(broken) is not None
    assert not SUITE.is_valid(broken)


PROJECT_VALUES = st.sampled_from(
    [
        *(None, True, 0, 1, -1, 1.5, "", "x", "10GiB", "critical", "column", [], ["x"], [1], {}, {"x": 1}),
        *({"input_ids": "a"}, {"chosen_labels": "a"}, {"size": 5, "pad": None}, {"size": True}, {"special": {"a": 1}}),
    ]
)
KEYS = st.sampled_from([*PROJECT.schema["properties"], "loader"])


@examples(300)
@given(document=st.dictionaries(KEYS, PROJECT_VALUES, min_size=1, max_size=3))
def test_project_files_are_judged_alike(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "project"
    folder.mkdir(exist_ok=True)
    file = folder / "dataguard.yaml"
    file.write_text(json.dumps(document))
    try:
        read_project(file)
        why = None
    except SuiteError as error:
        why = str(error)
    assert PROJECT.is_valid(document) == (why is None) or (why is not None and "there is no" in why), why
