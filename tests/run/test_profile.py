"""A proposed suite holds on the data that it came from, and on the next shard of the same; each planted fault fails it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import DataError, OutputError
from dataguard.expectations import EXPECTATIONS
from dataguard.result import Result
from dataguard.run.profile import Profiled, profile
from dataguard.run.request import Request
from dataguard.suite.loading import load_suite
from dataguard.suite.schema import suite_schema
from tests.builders import byte_tokenizer, ids_of

Row = dict[str, Any]
PAD, BOS, EOS = 0, 1, 2
WORDS = [
    "the",
    "run",
    "of",
    "a",
    "model",
    "on",
    "data",
    "nobody",
    "read",
    "is",
    "long",
    "and",
    "ends",
    "in",
    "loss",
    "at",
]
CAP = 64
SCHEMA = pa.schema(
    [
        ("input_ids", pa.list_(pa.int32())),
        ("attention_mask", pa.list_(pa.int8())),
        ("labels", pa.list_(pa.int64())),
        ("source", pa.string()),
    ]
)


def sample(draw: random.Random, source: str) -> Row:
    """Return a row: bos, text, eos, cut at CAP or padded right to a multiple of 8; the beginning is not learned."""
    text = " ".join(draw.choices(WORDS, k=draw.randint(4, 30))).replace("loss", str(draw.randint(0, 9999)))
    ids = [BOS, *ids_of(f"{text}. "), EOS]
    ids = ids[:CAP]
    padding = -len(ids) % 8
    labels = [-100 if place < 3 else token for place, token in enumerate(ids)]
    return {
        "input_ids": [*ids, *[PAD] * padding],
        "attention_mask": [*[1] * len(ids), *[0] * padding],
        "labels": [*labels, *[-100] * padding],
        "source": source,
    }


def good_rows(seed: int, rows: int = 600) -> list[Row]:
    draw = random.Random(seed)
    return [sample(draw, draw.choices(["web", "code", "books"], [6, 3, 1])[0]) for _ in range(rows)]


def write(folder: Path, rows: list[Row], schema: pa.Schema = SCHEMA, shards: int = 3) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // shards)
    for number in range(shards):
        part = rows[number * size : (number + 1) * size]
        pq.write_table(pa.Table.from_pylist(part, schema), folder / f"part-{number}.parquet")
    return folder


def profiled(data: Any, out: Path | None = None, **more: Any) -> Profiled:
    return profile(Request(data=data, **{"tokenizer": byte_tokenizer(), **more}), out)


def judge(data: Path, suite: Path, **more: Any) -> Result:
    return dataguard.validate(data, suite=suite, store=None, jobs=1, **{"tokenizer": byte_tokenizer(), **more})


def failed(result: Result) -> dict[str, dict[str, int]]:
    return {each.type: dict(each.details.get("reasons", {})) for each in result.results if not each.success}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the suite that was proposed from good rows, its baseline beside it."""
    place = tmp_path_factory.mktemp("profile")
    found = profiled(write(place / "data", good_rows(0)), place / "out", store=None)
    assert failed(found.result) == {}
    return place / "out" / "suite.yaml"


def test_the_suite_holds_on_the_data_that_it_came_from(suite: Path):
    result = judge(suite.parents[1] / "data", suite)
    assert failed(result) == {}
    drift = result.results[-1]
    assert {each["metric"]: each["psi"] for each in drift.observed_value} == dict.fromkeys(
        ["attended_tokens", "source", "token_use", "supervised_fraction", "symbol_fraction", "digit_fraction"], 0
    )


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_suite_holds_on_tomorrow_s_rows(suite: Path, tmp_path: Path, seed: int):
    assert failed(judge(write(tmp_path / "data", good_rows(seed, 150 * seed)), suite)) == {}


def test_the_suite_asks_for_what_was_seen(suite: Path):
    entries = {each.expectation.type(): each.kwargs for each in load_suite(suite).expectations}
    assert entries["expect_sequence_lengths_to_be_between"] == {"max_length": CAP, "multiple_of": 8}
    assert entries["expect_padding_side_to_be"] == {"side": "right"}
    assert entries["expect_bos_at_document_starts"] == {"policy": "required"}
    assert entries["expect_eos_at_document_ends"] == {"policy": "unless_truncated", "max_length": CAP}
    assert entries["expect_columns_to_exist"] == {"columns": ["input_ids", "attention_mask", "labels", "source"]}
    assert entries["expect_sources_to_be_known"] == {"allowed": ["books", "code", "web"]}
    assert entries["expect_truncation_to_be_consistent_across_sources"] == {"max_length": CAP, "min_rows": 100}
    assert entries["expect_eos_to_be_supervised"] == {"min_fraction": 0.5}
    low, high = entries["expect_source_token_share_to_be_between"]["shares"]["web"]
    assert 0.4 < low < 0.55
    assert 0.65 < high < 0.8
    assert "expect_position_ids_to_be_consistent" not in entries


def changed(row: Row, text: str) -> Row:
    """Return a row of another text."""
    ids = [BOS, *ids_of(text), EOS]
    return {**row, "input_ids": ids, "attention_mask": [1] * len(ids), "labels": [-100, *ids[1:]]}


def padded_left(row: Row) -> Row:
    shift = {"input_ids": PAD, "attention_mask": 0, "labels": -100}
    content = sum(row["attention_mask"])
    return {**row, **{name: [each] * 8 + row[name][: content // 8 * 8] for name, each in shift.items()}}


ROW_FAULTS: Mapping[str, tuple[Callable[[Row], Row], str, str]] = {
    "beyond": (
        lambda row: {**row, "input_ids": [*row["input_ids"][:5], 260, *row["input_ids"][6:]]},
        "expect_token_ids_to_be_in_vocabulary",
        "beyond_limit",
    ),
    "negative": (
        lambda row: {**row, "input_ids": [*row["input_ids"][:5], -1, *row["input_ids"][6:]]},
        "expect_token_ids_to_be_in_vocabulary",
        "negative",
    ),
    "left": (padded_left, "expect_padding_side_to_be", "left_padded"),
    "shifted": (
        lambda row: {**row, "labels": [*row["labels"][1:], -100]},
        "expect_labels_to_align_with_input_ids",
        "shifted",
    ),
    "misaligned": (
        lambda row: {**row, "labels": [each if each == -100 else 99 for each in row["labels"]]},
        "expect_labels_to_align_with_input_ids",
        "mismatch",
    ),
    "untaught": (
        lambda row: {**row, "labels": [-100] * len(row["labels"])},
        "expect_supervised_tokens_to_be_between",
        "no_target",
    ),
    "periodic": (lambda row: changed(row, "ab" * 100), "expect_rows_not_to_be_periodic", "periodic"),
    "digits": (lambda row: changed(row, "key " + "31415926535" * 8), "expect_digit_runs_to_be_below", "long_digit_run"),
    "symbols": (
        lambda row: changed(row, "<|#*&^%$@!>" * 3 + " a b"),
        "expect_symbol_fraction_to_be_below",
        "symbol_heavy",
    ),
    "empty": (
        lambda row: {**row, "input_ids": [], "attention_mask": [], "labels": []},
        "expect_rows_not_to_be_empty",
        "no_tokens",
    ),
    "blank": (lambda row: changed(row, " " * 14), "expect_rows_not_to_be_empty", "blank_text"),
    "null": (lambda row: {**row, "input_ids": None}, "expect_rows_not_to_be_null", "null_row"),
    "null label": (lambda row: {**row, "labels": None}, "expect_rows_not_to_be_null", "null_row"),
    "long": (
        lambda row: {**row, **{name: row[name] * 9 for name in ("input_ids", "attention_mask", "labels")}},
        "expect_sequence_lengths_to_be_between",
        "too_long",
    ),
    "odd length": (
        lambda row: {**row, **{name: row[name][:21] for name in ("input_ids", "attention_mask", "labels")}},
        "expect_sequence_lengths_to_be_between",
        "not_multiple",
    ),
    "unequal": (
        lambda row: {**row, "labels": row["labels"][:-1]},
        "expect_columns_to_have_equal_lengths",
        "labels_length",
    ),
    "mask": (
        lambda row: {**row, "attention_mask": [each * 2 for each in row["attention_mask"]]},
        "expect_attention_mask_to_be_binary",
        "not_binary",
    ),
    "no bos": (
        lambda row: {**row, "input_ids": [5, *row["input_ids"][1:]]},
        "expect_bos_at_document_starts",
        "missing_bos",
    ),
    "source": (lambda row: {**row, "source": "weeb"}, "expect_sources_to_be_known", "unknown_source"),
    "no source": (lambda row: {**row, "source": None}, "expect_sources_to_be_known", "missing_source"),
}


@pytest.mark.parametrize("place", [0, 199, 200, 599])
@pytest.mark.parametrize("name", ROW_FAULTS)
def test_one_bad_row_fails_the_suite(suite: Path, tmp_path: Path, name: str, place: int):
    plant, kind, reason = ROW_FAULTS[name]
    rows = good_rows(77)
    rows[place] = plant(rows[place])
    found = failed(judge(write(tmp_path / "data", rows), suite))
    assert kind in found
    assert found[kind].get(reason) == 1


def cut(row: Row, length: int) -> Row:
    """Return a row that was cut at another length."""
    names = ("input_ids", "attention_mask", "labels")
    return {**row, **{name: row[name][:length] for name in names}} if len(row["input_ids"]) > length else row


def test_a_source_that_is_cut_elsewhere_fails_the_suite(suite: Path, tmp_path: Path):
    rows = [cut(row, 40) if row["source"] == "code" else row for row in good_rows(5)]
    found = failed(judge(write(tmp_path / "data", rows), suite))
    assert found["expect_truncation_to_be_consistent_across_sources"] == {"different_cap": 1}


def test_a_data_set_that_is_cut_elsewhere_is_drift(suite: Path, tmp_path: Path):
    found = failed(judge(write(tmp_path / "data", [cut(row, 40) for row in good_rows(5)]), suite))
    assert "expect_distributions_to_match_baseline" in found


def test_copies_fail_the_suite(suite: Path, tmp_path: Path):
    rows = good_rows(5)
    rows[450:460] = [dict(row) for row in rows[10:20]]
    found = failed(judge(write(tmp_path / "data", rows), suite))
    assert found["expect_rows_to_be_unique"]["duplicate"] >= 10


def test_another_mix_of_sources_fails_the_suite(suite: Path, tmp_path: Path):
    rows = [{**row, "source": "web" if place % 10 else row["source"]} for place, row in enumerate(good_rows(5))]
    found = failed(judge(write(tmp_path / "data", rows), suite))
    assert set(found["expect_source_token_share_to_be_between"]) == {"share_above", "share_below"}
    assert "expect_distributions_to_match_baseline" in found


def test_other_columns_in_one_shard_fail_the_suite(suite: Path, tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(5))
    one = folder / "part-1.parquet"
    pq.write_table(pq.read_table(one).drop_columns(["labels"]), one)
    found = failed(judge(folder, suite))
    assert found["expect_columns_to_exist"] == {"missing_column": 1}
    assert "expect_schemas_to_match" in found


def test_another_type_in_one_shard_fails_the_suite(suite: Path, tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(5))
    one = folder / "part-1.parquet"
    table = pq.read_table(one)
    pq.write_table(table.set_column(0, "input_ids", table["input_ids"].cast(pa.list_(pa.int64()))), one)
    assert failed(judge(folder, suite)) == {"expect_schemas_to_match": {"different_dtype": 1}}


def test_a_damaged_shard_fails_the_suite(suite: Path, tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(5))
    one = folder / "part-1.parquet"
    one.write_bytes(one.read_bytes()[:-9])
    assert "expect_shards_to_be_intact" in failed(judge(folder, suite))


# A fault is never learned


@pytest.mark.parametrize("name", [each for each in ROW_FAULTS if each not in {"source", "odd length"}])
def test_a_fault_in_the_data_stays_one_in_the_suite(tmp_path: Path, name: str):
    plant, kind, reason = ROW_FAULTS[name]
    rows = good_rows(7)
    for place in (3, 211, 590):
        rows[place] = plant(rows[place])
    found = profiled(write(tmp_path / "data", rows), tmp_path / "out", store=None)
    assert failed(found.result)[kind].get(reason) == 3
    assert kind in failed(judge(tmp_path / "data", tmp_path / "out" / "suite.yaml"))
    assert f"FAILS here: 3 {reason}" in next(line.reason for line in found.proposed.lines if reason in line.reason)


def test_a_shard_of_other_columns_is_no_norm(tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(5))
    one = folder / "part-1.parquet"
    pq.write_table(pq.read_table(one).drop_columns(["labels"]), one)
    found = failed(profiled(folder, store=None).result)
    assert found["expect_columns_to_exist"] == {"missing_column": 1}
    assert "expect_labels_to_align_with_input_ids" not in found


def test_a_column_that_few_shards_have_is_judged_where_it_is(tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(5))
    for number in (0, 1):
        one = folder / f"part-{number}.parquet"
        pq.write_table(pq.read_table(one).drop_columns(["labels"]), one)
    found = profiled(folder, store=None)
    assert set(failed(found.result)) == {"expect_schemas_to_match"}
    align = next(line for line in found.proposed.lines if line.type == "expect_labels_to_align_with_input_ids")
    assert list(align.when) == ["labels"]


def test_without_a_vocabulary_the_range_of_ids_is_not_learned_from_the_ids(tmp_path: Path):
    found = profiled(write(tmp_path / "data", good_rows(5)), tokenizer=None, store=None)
    line = next(line for line in found.proposed.lines if line.type == "expect_token_ids_to_be_in_vocabulary")
    assert not line.kwargs
    assert "the highest id is 125; the limit is not known. NOT JUDGED here" in line.reason
    assert "--tokenizer" in line.reason
    assert not found.result.success
    known = profiled(tmp_path / "data", tokenizer=None, vocab_size=260, store=None)
    assert "expect_token_ids_to_be_in_vocabulary" not in failed(known.result)
    assert known.proposed.document()["meta"]["dataguard"] == {"vocabulary": {"size": 260}}


def test_a_shard_without_tokens_beside_one_with_them_is_no_reason_to_stop(tmp_path: Path):
    write(tmp_path / "data", good_rows(5, 50), shards=1)
    pq.write_table(pa.table({"note": ["a", "b"]}), tmp_path / "data" / "z.parquet")
    found = profiled(tmp_path / "data", store=None)
    assert "expect_schemas_to_match" in failed(found.result)
    assert "expect_columns_to_exist" not in {line.type for line in found.proposed.lines}
    assert "no column of a known role is in most shards" in found.proposed.yaml()


# Other kinds of data


def test_labels_that_are_shifted_already_are_seen_as_such(tmp_path: Path):
    rows = [{**row, "labels": [*row["labels"][1:], -100]} for row in good_rows(3)]
    found = profiled(write(tmp_path / "data", rows), store=None)
    kwargs = {line.type: line.kwargs for line in found.proposed.lines}
    assert kwargs["expect_labels_to_align_with_input_ids"] == {"shift": 1}
    assert kwargs["expect_supervised_tokens_to_be_between"] == {"min_value": 1, "shift": 1}
    assert failed(found.result) == {}


def test_both_sides_of_pairs_get_lines_of_their_own(tmp_path: Path):
    rows = good_rows(3, 200)
    names = ("input_ids", "attention_mask", "labels")
    sides = {"chosen": rows[:100], "rejected": rows[100:]}
    table = pa.table({f"{side}_{name}": [row[name] for row in own] for side, own in sides.items() for name in names})
    pq.write_table(table, tmp_path / "pairs.parquet")
    found = profiled(tmp_path / "pairs.parquet", tmp_path / "out", store=None)
    assert failed(found.result) == {}
    asked = [(line.type, line.kwargs.get("column")) for line in found.proposed.lines]
    for side in sides:
        assert ("expect_labels_to_align_with_input_ids", f"{side}_input_ids") in asked
        assert ("expect_distributions_to_match_baseline", f"{side}_input_ids") in asked
    unique = [line.kwargs for line in found.proposed.lines if line.type == "expect_rows_to_be_unique"]
    assert unique == [{"column": "chosen_input_ids", "columns": ["chosen_input_ids", "rejected_input_ids"]}]
    assert failed(judge(tmp_path / "pairs.parquet", tmp_path / "out" / "suite.yaml")) == {}


def test_rows_of_one_length_are_asked_to_have_it(tmp_path: Path):
    draw = random.Random(0)
    table = pa.table({"tokens": [[draw.randrange(4, 200) for _ in range(32)] for _ in range(300)]})
    pq.write_table(table, tmp_path / "packed.parquet")
    kwargs = {line.type: line.kwargs for line in profiled(tmp_path / "packed.parquet", store=None).proposed.lines}
    assert kwargs["expect_sequence_lengths_to_be_between"] == {"min_length": 32, "max_length": 32}
    assert kwargs["expect_padding_side_to_be"] == {"side": "none"}


def test_a_last_row_that_is_shorter_is_tolerated(tmp_path: Path):
    draw = random.Random(0)
    lengths = [*[32] * 499, 7]
    table = pa.table({"input_ids": [[draw.randrange(4, 200) for _ in range(length)] for length in lengths]})
    pq.write_table(table, tmp_path / "packed.parquet")
    found = profiled(tmp_path / "packed.parquet", store=None)
    kwargs = [line.kwargs for line in found.proposed.lines if line.type == "expect_sequence_lengths_to_be_between"]
    assert kwargs == [{"max_length": 32}, {"min_length": 32, "mostly": 0.996}]
    assert "expect_sequence_lengths_to_be_between" not in failed(found.result)


def test_a_source_that_consists_of_symbols_gets_a_limit_of_its_own(tmp_path: Path):
    draw = random.Random(0)
    rows = good_rows(3, 500)
    rows += [
        changed(sample(draw, "tables"), "| -- + -- | " * draw.randint(2, 9) + draw.choice(WORDS)) for _ in range(200)
    ]
    draw.shuffle(rows)
    found = profiled(write(tmp_path / "data", rows), store=None)
    line = next(line for line in found.proposed.lines if line.type == "expect_symbol_fraction_to_be_below")
    assert list(line.kwargs["by_source"]) == ["tables"]
    assert line.kwargs["max_fraction"] <= 0.5


def test_tables_in_memory_are_looked_at_too():
    table = pa.Table.from_pylist(good_rows(0, 200), SCHEMA)
    assert failed(profiled(table).result) == {}


# The text


def test_the_suite_is_the_same_again_whatever_the_units_and_the_store(tmp_path: Path):
    folder = write(tmp_path / "data", good_rows(0))
    store = tmp_path / "store"
    texts = {profiled(folder, jobs=jobs, store=store).proposed.yaml() for jobs in (1, 2, 3)}
    assert texts == {profiled(folder, store=None).proposed.yaml()}
    reports = []
    for number in (1, 2):
        profiled(folder, tmp_path / f"out-{number}", store=None, jobs=number)
        reports.append([(tmp_path / f"out-{number}" / name).read_bytes() for name in ("suite.yaml", "report.json")])
    assert reports[0] == reports[1]


def test_yaml_and_json_say_the_same_to_the_strict_loader_and_to_the_schema(suite: Path, tmp_path: Path):
    found = profiled(suite.parents[1] / "data", store=None).proposed
    (tmp_path / "a.yaml").write_text(found.yaml())
    (tmp_path / "a.json").write_text(found.json())
    jsonschema.validate(json.loads(found.json()), suite_schema(EXPECTATIONS))
    as_yaml, as_json = load_suite(tmp_path / "a.yaml"), load_suite(tmp_path / "a.json")
    assert [each.expectation for each in as_yaml.expectations] == [each.expectation for each in as_json.expectations]
    assert [each.severity for each in as_yaml.expectations] == [each.severity for each in as_json.expectations]
    assert all(line.reason for line in found.lines)


HOSTILE = [
    "a: b",
    "# x",
    "no",
    "null",
    "1.5",
    "é 😀",
    'quo"te\\',
    "line\nbreak",
    "sep\u2028here",
    "\x85",
    "\x1b[31m",
    "{a}",
    "- b",
]


def test_names_from_the_data_stay_names(tmp_path: Path):
    rows = [{**row, "source": HOSTILE[place % len(HOSTILE)]} for place, row in enumerate(good_rows(0, 650))]
    found = profiled(write(tmp_path / "data", rows), store=None)
    text = found.proposed.yaml()
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    loaded = {each.expectation.type(): each.kwargs for each in load_suite(tmp_path / "suite.yaml").expectations}
    assert loaded["expect_sources_to_be_known"]["allowed"] == sorted(HOSTILE)
    assert set(loaded["expect_source_token_share_to_be_between"]["shares"]) == set(HOSTILE)
    assert "\x1b" not in text
    assert "expect_sources_to_be_known" not in failed(judge(tmp_path / "data", tmp_path / "suite.yaml"))


def test_a_suite_that_may_have_been_edited_is_not_overwritten(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "suite.yaml").write_text("mine")
    with pytest.raises(OutputError, match="already"):
        profiled(pa.Table.from_pylist(good_rows(0, 50), SCHEMA), tmp_path / "out")
    assert (tmp_path / "out" / "suite.yaml").read_text() == "mine"


def test_columns_that_were_told_stand_in_the_suite(tmp_path: Path):
    table = pa.Table.from_pylist(good_rows(0, 200), SCHEMA).rename_columns(["x", "m", "y", "s"])
    pq.write_table(table, tmp_path / "a.parquet")
    told = {"input_ids": "x", "attention_mask": "m", "labels": "y", "source": "s"}
    found = profiled(tmp_path / "a.parquet", tmp_path / "out", columns=told, store=None)
    assert found.proposed.document()["meta"]["dataguard"] == {"columns": told}
    assert failed(judge(tmp_path / "a.parquet", tmp_path / "out" / "suite.yaml")) == {}


@pytest.mark.parametrize("kind", ["no rows", "broken"])
def test_where_there_is_no_row_nothing_is_proposed(tmp_path: Path, kind: str):
    write(tmp_path / "data", [], shards=1)
    if kind == "broken":
        (tmp_path / "data" / "part-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="no row to look at"):
        profiled(tmp_path / "data", store=None)


def test_the_first_rows_of_each_shard_may_do(tmp_path: Path):
    found = profiled(write(tmp_path / "data", good_rows(0)), store=None, head=50)
    assert "from 3 intact shards (the first 50 rows of each), 150 rows" in found.proposed.yaml()


def test_where_no_source_is_large_no_share_is_proposed(tmp_path: Path):
    schema = pa.schema([("input_ids", pa.list_(pa.int32())), ("source", pa.string())])
    rows = [{"input_ids": ids_of(f"row {place}"), "source": f"s{place % 150}"} for place in range(450)]
    found = profiled(write(tmp_path / "data", rows, schema), store=None)
    assert failed(found.result) == {}
    told = dict(found.proposed.left_out)
    assert told["expect_source_token_share_to_be_between"] == "none of 150 sources has 1 % of the tokens"


def _ids(rows: list[list[int]], kind: pa.DataType | None = None) -> tuple[list[Row], pa.Schema]:
    return [{"input_ids": row} for row in rows], pa.schema([("input_ids", pa.list_(kind or pa.int32()))])


def _texts(draw: random.Random, count: int = 60) -> list[list[int]]:
    return [ids_of(" ".join(draw.choices(WORDS, k=30))) for _ in range(count)]


def _every_second_zero(draw: random.Random) -> tuple[list[Row], pa.Schema]:
    return _ids([[number for each in row for number in (each, 0)] for row in _texts(draw)])


def _one_passage_over_and_over(draw: random.Random) -> tuple[list[Row], pa.Schema]:
    return _ids([*_texts(draw), ids_of(" ".join(draw.choices(WORDS, k=16)) * 12)])


def _prompts(draw: random.Random, fault: str) -> tuple[list[Row], pa.Schema]:
    rows = []
    for place in range(60):
        prompt, answer = ids_of("what is it: "), ids_of(" ".join(draw.choices(WORDS, k=9)))
        taught = fault == "taught" and place == 7
        rows.append(
            {
                "input_ids": [*prompt, *answer],
                "labels": [*(prompt if taught else [-100] * len(prompt)), *answer],
                "prompt_ids": ids_of("what") + ids_of("else") if fault == "other" and place % 20 == 7 else prompt,
                "target_spans": [[len(prompt) - (fault == "span" and place == 7), len(prompt) + len(answer)]],
            }
        )
    lists = [(name, pa.list_(pa.int32())) for name in ("input_ids", "labels", "prompt_ids")]
    return rows, pa.schema([*lists, ("target_spans", pa.list_(pa.list_(pa.int32())))])


LATER_FAULTS: Mapping[str, tuple[Callable[[random.Random], tuple[list[Row], pa.Schema]], str, str]] = {
    "stored wider": (_every_second_zero, "expect_token_encoding_to_be_plausible", "interleaved_zeros"),
    "one passage": (_one_passage_over_and_over, "expect_rows_not_to_be_repetitive", "repetitive"),
    "prompt taught": (
        lambda draw: _prompts(draw, "taught"),
        "expect_prompt_to_be_ignored_in_labels",
        "prompt_supervised",
    ),
    "other prompt": (lambda draw: _prompts(draw, "other"), "expect_prompt_to_be_prefix", "not_prefix"),
    "span untaught": (lambda draw: _prompts(draw, "span"), "expect_labels_to_cover_spans", "unsupervised_span"),
}


@pytest.mark.parametrize("name", LATER_FAULTS)
def test_faults_of_encoding_prompts_and_repetition_are_not_learned(name: str, tmp_path: Path):
    rows, kind, reason = LATER_FAULTS[name]
    data = write(tmp_path / "data", *rows(random.Random(name)), shards=1)
    found = profiled(data, store=None)
    assert reason in failed(found.result)[kind]
    (tmp_path / "suite.yaml").write_text(found.proposed.yaml())
    assert failed(judge(data, tmp_path / "suite.yaml")) == failed(found.result)


def test_a_constant_row_is_found_without_a_tokenizer(tmp_path: Path):
    rows, schema = _ids([*_texts(random.Random(4)), [97] * 300])
    found = profiled(write(tmp_path / "data", rows, schema), store=None, tokenizer=None, vocab_size=300)
    assert failed(found.result) == {"expect_rows_not_to_be_periodic": {"periodic": 1}}


def test_a_tokenizer_that_exceeds_the_model_is_told(tmp_path: Path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps({"vocab_size": 200}))
    rows, schema = _ids(_texts(random.Random(5)))
    found = profiled(write(tmp_path / "data", rows, schema), store=None, model=tmp_path / "model")
    assert "tokenizer_exceeds_model" in failed(found.result)["expect_tokenizer_to_fit_model"]
