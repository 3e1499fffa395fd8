"""What a suite may say, and what is refused, with file, line and the nearest known name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

from dataguard.errors import SuiteError
from dataguard.expectations.base import Expectation, Level, RowExpectation
from dataguard.result import Severity
from dataguard.suite.loading import load_suite


class ExpectPears(RowExpectation):
    """Rows are pears."""

    limit: Annotated[int, Field(ge=1)] | None = None
    share: float = 0.5
    side: Literal["left", "right"] = "left"


class ExpectCrates(Expectation):
    """Shards are crates."""

    level: ClassVar[Level] = "shard"
    default_severity: ClassVar[Severity] = "warning"

    names: tuple[str, ...]
    low: int = 0
    high: int = 9

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            msg = f"low ({self.low}) is above high ({self.high})"
            raise ValueError(msg)
        return self


TABLE: dict[str, type[Expectation]] = {each.type(): each for each in (ExpectPears, ExpectCrates)}
PEARS = {"type": "expect_pears"}


def suite_of(*expectations: Any, **more: Any) -> dict[str, Any]:
    return {"name": "fruit", "expectations": list(expectations), **more}


def pears(**kwargs: Any) -> dict[str, Any]:
    return {"type": "expect_pears", "kwargs": kwargs}


def load(source: str | Path | Mapping[str, Any], **parameters: Any) -> Any:
    return load_suite(source, parameters, TABLE)


def refused(source: str | Path | Mapping[str, Any], **parameters: Any) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        load(source, **parameters)
    return caught.value


def refused_text(folder: Path, text: str, name: str = "suite.yaml") -> tuple[str, int | None]:
    """Return the message for a suite of this text, and the line that it names."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    error = refused(file)
    assert error.file is not None
    assert error.file.startswith(str(file))
    return str(error), error.line


def test_an_expectation_gets_its_arguments_and_settings() -> None:
    suite = load(
        suite_of(
            {
                "type": "expect_pears",
                "kwargs": {"limit": 7, "mostly": 0.9, "column": "labels", "by_source": {"web": {"limit": 8}}},
                "severity": "info",
                "meta": {"dataguard": {"when": ["labels"]}, "owner": "us"},
                "id": "pears-1",
            },
            {"type": "expect_crates", "kwargs": {"names": ["a"]}},
        )
    )
    first, second = suite.expectations
    assert first.expectation == ExpectPears(limit=7, mostly=0.9, column="labels", by_source={"web": {"limit": 8}})
    assert (first.severity, first.when, first.id, first.meta["owner"]) == ("info", ("labels",), "pears-1", "us")
    assert first.kwargs == {"limit": 7, "mostly": 0.9, "column": "labels", "by_source": {"web": {"limit": 8}}}
    assert second.expectation == ExpectCrates(names=("a",))
    assert (second.severity, second.when, second.kwargs) == ("warning", (), {"names": ["a"]})
    assert (suite.name, suite.origin) == ("fruit", "a dict")


def test_the_suite_s_own_settings_are_read() -> None:
    settings = {
        "columns": {"input_ids": "tokens", "chosen_labels": "y"},
        "vocabulary": {"size": 100, "pad": 0, "special": {"<x>": 4}, "reserved": [9], "unk": None},
        "quarantine": ["critical", "critical"],
    }
    suite = load(suite_of(PEARS, meta={"dataguard": settings}))
    assert suite.columns == {"input_ids": "tokens", "chosen_labels": "y"}
    assert suite.vocabulary == settings["vocabulary"]
    assert suite.quarantine == ("critical",)
    assert load(suite_of(PEARS)).quarantine == ("critical", "warning")


def test_what_great_expectations_writes_is_accepted() -> None:
    written = {"id": None, "notes": None, "description": "d", "rendered_content": [], "success_on_last_run": True}
    suite = load(
        suite_of({**PEARS, **written, "kwargs": None, "meta": None, "severity": None}, **written, meta={"v": 1})
    )
    assert suite.expectations[0].id is None
    assert suite.expectations[0].severity == "critical"


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "fruit.yaml"
    file.write_text(
        "# fruit\nexpectations:\n  - type: expect_pears\n\n  - type: expect_crates\n    kwargs: {names: [a]}\n"
    )
    suite = load(file)
    assert [each.line for each in suite.expectations] == [3, 5]
    assert (suite.name, suite.origin) == ("fruit", str(file))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("expectation:\n  - type: expect_pears", 1, "did you mean expectations"),
        ("name: a\nexpectations:\n  - type: expect_bears", 3, "did you mean expect_pears"),
        ("expectations:\n  - kind: expect_pears", 2, "has no type"),
        ("expectations:\n  - type: [expect_pears]", 2, "type must be text"),
        ("expectations:\n  - expect_pears", 2, "must be a mapping"),
        ("expectations:\n  - type: expect_pears\n    kwarg: {}", 3, "did you mean kwargs?"),
        ("expectations:\n  - type: expect_pears\n    limit: 3", 3, "write limit under kwargs"),
        ("expectations:\n  - type: expect_pears\n    kwargs:\n      limits: 3", 4, "did you mean limit?"),
        ("expectations:\n  - type: expect_pears\n    kwargs: {severity: info}", 3, "beside kwargs"),
        ("expectations:\n  - type: expect_pears\n    kwargs: [3]", 3, "kwargs must be a mapping"),
        ("expectations:\n  - type: expect_pears\n    severity: Critical", 3, "did you mean critical?"),
        ("expectations:\n  - type: expect_pears\n    severity: [info]", 3, "there is no severity"),
        ("expectations:\n  - type: expect_pears\n    id: 7", 3, "id must be text"),
        ("name: 7\nexpectations:\n  - type: expect_pears", 1, "name must be text"),
        ("expectations: {type: expect_pears}", 1, "must be a list"),
        ("name: a\nexpectations: []", 2, "the suite is empty"),
        ("name: a", 1, "has no expectations"),
        ("", None, "the file is empty"),
        ("- type: expect_pears", 1, "a suite must be a mapping"),
    ],
)
def test_refuses_what_is_no_suite(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    message, told = refused_text(tmp_path, text)
    assert says in message
    assert told == line


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"limit": "7"}, 'limit of expect_pears cannot be "7"'),
        ({"limit": True}, "it must be a whole number"),
        ({"limit": 1.5}, "whole number"),
        ({"limit": 0}, "it must be at least 1"),
        ({"limit": [1]}, "whole number"),
        ({"share": "much"}, "it must be a number"),
        ({"share": None}, "cannot be null"),
        ({"mostly": 1.01}, "it must be at most 1"),
        ({"side": "up"}, "it must be 'left' or 'right'"),
        ({"column": 3}, "it must be text"),
        ({"by_source": ["web"]}, "it must be a mapping"),
        ({"by_source": {"web": 3}}, "it must be a mapping"),
        ({"by_source": {"web": {"limits": 3}}}, "did you mean limit?"),
        ({"by_source": {"web": {"limit": "3"}}}, "whole number"),
        ({"by_source": {"web": {"mostly": 0.5}}}, "cannot differ by source"),
        ({"by_source": {"web": {"by_source": {}}}}, "cannot differ by source"),
        ({"share": float("nan")}, "finite"),
        ({"share": object()}, "cannot hold a object"),
    ],
)
def test_refuses_arguments_that_cannot_be(kwargs: dict[str, Any], says: str) -> None:
    assert says in str(refused(suite_of(pears(**kwargs))))


@pytest.mark.parametrize(
    ("kind", "kwargs", "why"),
    [
        ("expect_rows_to_contain_tokens", {"tokens": ["a"]}, "it must be a whole number"),
        ("expect_rows_to_contain_tokens", {"tokens": [5, "a"]}, "it must be a whole number"),
        ("expect_eos_at_document_ends", {"stop_ids": ["a"]}, "it must be a whole number"),
        ("expect_columns_to_exist", {"columns": [3]}, "it must be text"),
        ("expect_columns_to_exist", {"columns": []}, "it must have at least 1 item, not 0"),
        ("expect_truncation_to_be_consistent_across_sources", {"check": ["caps"]}, "it must be 'cap', 'side' or 'eos'"),
    ],
)
def test_a_wrong_item_is_told_without_what_the_list_is_then_short_of(kind: str, kwargs: Any, why: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(suite_of({"type": kind, "kwargs": kwargs}))
    assert caught.value.why == why


def test_a_dict_s_errors_name_the_place() -> None:
    error = refused(suite_of(PEARS, pears(by_source={"web": {"limit": 0}})))
    assert error.line is None
    assert "expectations[1].kwargs.by_source.web.limit" in str(error.file)


@pytest.mark.parametrize("name", ["mostly", "by_source"])
def test_mostly_and_by_source_are_for_rows(name: str) -> None:
    error = refused(suite_of({"type": "expect_crates", "kwargs": {"names": [], name: {}}}))
    assert "row-level" in str(error)


def test_a_class_s_own_objection_is_told() -> None:
    error = refused(suite_of({"type": "expect_crates", "kwargs": {"names": [], "low": 9, "high": 1}}))
    assert "do not fit together" in error.what
    assert error.why == "low (9) is above high (1)"


def test_an_argument_that_must_be_given_is_asked_for() -> None:
    assert "needs the argument names" in refused(suite_of({"type": "expect_crates"})).what


def test_a_wrong_vocabulary_is_told_with_its_line(tmp_path: Path) -> None:
    text = "expectations:\n  - type: expect_pears\nmeta:\n  dataguard:\n    vocabulary:\n      size: 5\n      pad: x\n"
    message, line = refused_text(tmp_path, text)
    assert "vocabulary.pad: 'x' cannot be used" in message
    assert line == 7


def test_a_special_id_past_all_tokens_is_told_with_its_line(tmp_path: Path) -> None:
    text = "expectations:\n  - type: expect_pears\nmeta:\n  dataguard:\n    vocabulary:\n      size: 5\n      pad: 9\n"
    message, line = refused_text(tmp_path, text)
    assert "vocabulary.pad: 9 cannot be used" in message
    assert "ids end at 4, because size is 5" in message
    assert line == 7
    message, line = refused_text(tmp_path, text.replace("pad: 9", "special: {a.b: 9}"))
    assert "vocabulary.special.a.b: 9 cannot be used" in message
    assert line == 7


def test_refuses_expectations_that_cannot_be_told_apart(tmp_path: Path) -> None:
    text = "expectations:\n  - type: expect_pears\n  - type: expect_pears\n    kwargs: {share: 0.5}\n"
    message, line = refused_text(tmp_path, text)
    assert "stands twice" in message
    assert "in line 2" in message
    assert line == 3
    assert len(load(suite_of(PEARS, pears(column="labels"), pears(limit=3))).expectations) == 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"column": {}}, "did you mean columns?"),
        ({"columns": {"imput_ids": "a"}}, "did you mean input_ids"),
        ({"columns": {"input_ids": ""}}, "at least 1 character"),
        ({"columns": {"input_ids": 3}}, "it must be text"),
        ({"vocabulary": {"sise": 3}}, "did you mean size?"),
        ({"vocabulary": {"size": 0}}, "vocabulary.size: 0 cannot be used"),
        ({"vocabulary": {"pad": -1}}, "a whole number from 0 up"),
        ({"vocabulary": {"special": {"<x>": "4"}}}, "whole number"),
        ({"vocabulary": 5}, "it must be a mapping"),
        ({"quarantine": ["bad"]}, "'critical', 'warning' or 'info'"),
        ({"quarantine": "critical"}, "it must be a list"),
        ([], "must be a mapping"),
    ],
)
def test_refuses_settings_of_a_suite_that_cannot_be(settings: Any, says: str) -> None:
    assert says in str(refused(suite_of(PEARS, meta={"dataguard": settings})))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"wehn": ["labels"]}, "did you mean when?"),
        ({"when": "labels"}, "it must be a list"),
        ({"when": ["lables"]}, "did you mean labels?"),
        ({"when": ["limits"]}, "did you mean limit?"),
        ({"when": ["column"]}, "when cannot name"),
        ({"quarantine": ["info"]}, "has no key quarantine"),
    ],
)
def test_refuses_settings_of_an_expectation_that_cannot_be(settings: Any, says: str) -> None:
    assert says in str(refused(suite_of({**PEARS, "meta": {"dataguard": settings}})))


def test_when_may_name_roles_arguments_parameters_and_the_vocabulary() -> None:
    names = ["labels", "chosen_labels", "characters", "source", "limit", "share", "depth"]
    meta = {"dataguard": {"when": names}}
    suite = load(suite_of({**PEARS, "meta": meta}, suite_parameters={"depth": None}))
    assert suite.expectations[0].when == tuple(names)


class TestParameters:
    SUITE: ClassVar = suite_of(pears(limit={"$PARAMETER": "depth"}))

    def test_those_given_win_over_the_suite_s_own(self) -> None:
        suite = load({**self.SUITE, "suite_parameters": {"depth": 3, "other": 1}}, depth=4)
        assert suite.expectations[0].kwargs == {"limit": 4}
        assert suite.expectations[0].expectation == ExpectPears(limit=4)
        assert suite.parameters == {"depth": 4, "other": 1}

    def test_null_is_a_value(self) -> None:
        suite = load({**self.SUITE, "suite_parameters": {"depth": 3}}, depth=None)
        assert suite.expectations[0].kwargs == {"limit": None}

    def test_they_may_stand_anywhere_in_the_arguments(self) -> None:
        kwargs = {"by_source": {"web": {"limit": {"$PARAMETER": "depth"}}}}
        suite = load(suite_of(pears(**kwargs), suite_parameters={"depth": 3}))
        assert suite.expectations[0].kwargs == {"by_source": {"web": {"limit": 3}}}
        crates = {"type": "expect_crates", "kwargs": {"names": ["a", {"$PARAMETER": "name"}]}}
        assert load(suite_of(crates), name="b").expectations[0].expectation.names == ("a", "b")

    def test_one_may_be_all_arguments(self) -> None:
        suite = suite_of({"type": "expect_pears", "kwargs": {"$PARAMETER": "all"}})
        assert load(suite, all={"limit": 3}).expectations[0].kwargs == {"limit": 3}
        assert "kwargs must be a mapping" in refused(suite, all=3).what

    def test_what_looks_like_one_elsewhere_is_none(self) -> None:
        load(suite_of({**PEARS, "meta": {"theirs": {"$PARAMETER": 3}}, "notes": {"$PARAMETER": "x", "y": 1}}))

    def test_one_without_a_value_is_refused_and_names_set(self) -> None:
        error = refused(self.SUITE)
        assert "the parameter depth has no value" in error.what
        assert "--set depth=VALUE" in str(error.fix)
        assert "did you mean dept?" in str(refused({**self.SUITE, "suite_parameters": {"dept": 3}}))

    def test_one_that_the_suite_does_not_have_is_refused(self) -> None:
        error = refused(self.SUITE, deph=3, depth=3)
        assert "the suite has no parameter deph" in error.what
        assert error.fix == "did you mean depth?"
        error = refused(suite_of(PEARS), depth=3)
        assert "has no parameters" in str(error.fix)
        assert "{$PARAMETER: depth}" in str(error.why)

    @pytest.mark.parametrize("value", [{"$PARAMETER": "a", "b": 1}, {"$PARAMETER": 3}, {"$PARAMETER": ""}])
    def test_one_that_is_no_parameter_is_refused(self, value: object) -> None:
        assert "is no parameter" in refused(suite_of(pears(limit=value)), a=1).what

    def test_a_wrong_value_is_told_with_the_parameter(self) -> None:
        assert "(parameter depth)" in refused(self.SUITE, depth="deep").what

    def test_null_where_a_number_must_be_is_refused_unless_it_skips(self) -> None:
        expectation = pears(share={"$PARAMETER": "depth"})
        error = refused(suite_of(expectation), depth=None)
        assert "cannot be null (parameter depth)" in error.what
        assert "when" in str(error.fix)
        for name in ("depth", "share"):
            skipped = {**expectation, "meta": {"dataguard": {"when": [name]}}}
            suite = load(suite_of(skipped, suite_parameters={"depth": None}))
            assert suite.expectations[0].kwargs == {"share": None}
            assert load(suite_of(skipped), depth=0.25).expectations[0].expectation.share == 0.25

    def test_a_skipped_expectation_s_other_arguments_are_still_checked(self) -> None:
        skipped = {**pears(share=None, limit=0), "meta": {"dataguard": {"when": ["share"]}}}
        assert "limit of expect_pears cannot be 0" in refused(suite_of(skipped)).what


class TestSource:
    def test_a_name_that_is_neither_file_nor_shipped(self) -> None:
        error = refused("pretrian")
        assert "neither a file nor a shipped suite" in str(error)
        assert "shipped suite: pretrain, pre" in str(error.fix)
        assert "shipped suite: sft, " in str(refused("sfd").fix)

    @pytest.mark.parametrize("name", ["no/such.yaml", "a" * 5000, "\0"])
    def test_a_file_that_is_not_there(self, name: str) -> None:
        assert "there is no suite" in refused(name).what

    def test_a_folder(self, tmp_path: Path) -> None:
        assert "this is a folder" in refused(tmp_path).what

    def test_a_file_called_like_a_shipped_suite_is_named_by_its_path(self, tmp_path: Path) -> None:
        (tmp_path / "sft").write_text("expectations:\n  - type: expect_pears\n")
        assert load(tmp_path / "sft").origin == str(tmp_path / "sft")


KEYS = st.sampled_from(
    ["type", "kwargs", "meta", "dataguard", "when", "limit", "by_source", "$PARAMETER", "columns", "x"]
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(
    kwargs=st.dictionaries(st.sampled_from(["limit", "share", "side", "mostly", "by_source", "x"]), PLAIN, max_size=3)
)
def test_any_arguments_are_understood_or_refused(kwargs: dict[str, Any]) -> None:
    try:
        suite = load(suite_of(pears(**kwargs)))
    except SuiteError:
        return
    expectation = suite.expectations[0].expectation
    assert set(expectation.variants()) == set(kwargs.get("by_source", {}))


@given(expectation=st.dictionaries(KEYS, PLAIN, max_size=4), meta=PLAIN)
def test_any_dict_is_understood_or_refused(expectation: dict[str, Any], meta: Any) -> None:
    with pytest.raises(SuiteError):
        load(suite_of(expectation, meta=meta))
