"""expect_tokenizer_to_match_dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataguard
from dataguard.result import ExpectationResult
from dataguard.shards.hf import TOKENIZER
from dataguard.vocabulary.loading import load_vocabulary
from tests.builders import byte_tokenizer, judged, reasons, table_of
from tests.examples import examples

MATCH = "expect_tokenizer_to_match_dataset"
LAYOUTS = ("arrow", "stream", "parquet")


def rows_of(name: str | None) -> pa.Table:
    return table_of(input_ids=[[1, 5, 2]]).replace_schema_metadata(None if name is None else {TOKENIZER: name})


def write(path: Path, name: str | None, layout: str = "stream") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = rows_of(name)
    if layout == "parquet":
        pq.write_table(table, path)
        return
    new = pa.ipc.new_file if layout == "arrow" else pa.ipc.new_stream
    with new(str(path), table.schema) as writer:
        writer.write_table(table)


def told(result: ExpectationResult) -> list[tuple[str | None, str]]:
    return [(each.shard, each.reason) for each in result.findings]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_recorded_tokenizer_is_the_given_one(layout: str, tmp_path: Path):
    write(tmp_path / "a.data", "t-aaa", layout)
    result = judged(MATCH, tmp_path / "a.data", fingerprint="t-aaa")
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (1, 0, 0)
    assert result.observed_value == {"t-aaa": 1}
    (finding,) = judged(MATCH, tmp_path / "a.data", fingerprint="t-bbb").findings
    assert (finding.shard, finding.row, finding.reason, finding.value) == (
        "a.data",
        None,
        "different_tokenizer",
        "t-aaa",
    )


def test_several_tokenizers_are_mixed(tmp_path: Path):
    for name, tokenizer in (("s0", "t-aaa"), ("s1", "t-bbb"), ("s2", "t-bbb")):
        write(tmp_path / f"{name}.arrow", tokenizer)
    result = judged(MATCH, tmp_path, fingerprint="t-bbb")
    assert told(result) == [("s0.arrow", "different_tokenizer")]
    assert reasons(result) == {"different_tokenizer": 1, "mixed_tokenizers": 2}
    assert result.observed_value == {"t-aaa": 1, "t-bbb": 2}


def test_a_shard_that_names_none_is_a_finding(tmp_path: Path):
    write(tmp_path / "a.arrow", None)
    write(tmp_path / "b.arrow", "t-bbb")
    result = judged(MATCH, tmp_path, fingerprint="t-bbb")
    assert told(result) == [("a.arrow", "unknown_tokenizer")]
    assert reasons(result) == {"unknown_tokenizer": 1}


def test_a_given_tokenizer_is_compared_by_its_fingerprint():
    known = load_vocabulary(tokenizer=byte_tokenizer(), model=None, given={}, vocab_size=None).fingerprint
    assert judged(MATCH, rows_of(known), tokenizer=byte_tokenizer()).success
    assert reasons(judged(MATCH, rows_of("dg1:other"), tokenizer=byte_tokenizer())) == {"different_tokenizer": 1}
    assert judged(MATCH, rows_of("dg1:other"), tokenizer=byte_tokenizer(), fingerprint="dg1:other").success


def test_without_a_tokenizer_it_cannot_be_judged_but_what_is_seen_is_told(tmp_path: Path):
    assert judged(MATCH, rows_of("t-aaa")).unjudged is not None
    write(tmp_path / "a.arrow", "t-aaa")
    write(tmp_path / "b.arrow", "t-bbb")
    write(tmp_path / "c.arrow", None)
    result = judged(MATCH, tmp_path)
    assert result.unjudged is not None
    assert not result.success
    assert reasons(result) == {"mixed_tokenizers": 2, "unknown_tokenizer": 1}


def test_dataset_info_speaks_for_the_shards_of_its_folder_that_do_not_say_it_themselves(tmp_path: Path):
    write(tmp_path / "one/a.arrow", None)
    write(tmp_path / "one/b.arrow", "t-bbb")
    write(tmp_path / "two/c.arrow", None)
    (tmp_path / "one/dataset_info.json").write_text(json.dumps({"description": "", TOKENIZER: "t-aaa"}))
    result = judged(MATCH, tmp_path, fingerprint="t-aaa")
    assert told(result) == [("one/b.arrow", "different_tokenizer"), ("two/c.arrow", "unknown_tokenizer")]
    assert judged(MATCH, tmp_path / "one/a.arrow", fingerprint="t-aaa").success


@pytest.mark.parametrize("content", ["{", "[]", '{"dataguard.tokenizer_fingerprint": 5}', ""])
def test_a_dataset_info_that_says_nothing(content: str, tmp_path: Path):
    write(tmp_path / "a.arrow", None)
    (tmp_path / "dataset_info.json").write_text(content)
    assert reasons(judged(MATCH, tmp_path, fingerprint="t-aaa")) == {"unknown_tokenizer": 1}


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_blank_name_is_none(blank: str, layout: str, tmp_path: Path):
    write(tmp_path / "a.data", blank, layout)
    assert reasons(judged(MATCH, tmp_path, fingerprint="t-aaa")) == {"unknown_tokenizer": 1}
    (tmp_path / "dataset_info.json").write_text(json.dumps({TOKENIZER: blank}))
    assert reasons(judged(MATCH, tmp_path, fingerprint="t-aaa")) == {"unknown_tokenizer": 1}
    (tmp_path / "dataset_info.json").write_text(json.dumps({TOKENIZER: "t-aaa"}))
    assert judged(MATCH, tmp_path, fingerprint="t-aaa").success


def test_metadata_that_is_no_text_is_another_tokenizer():
    table = table_of(input_ids=[[1]]).replace_schema_metadata({TOKENIZER.encode(): b"\xff\xfe"})
    assert reasons(judged(MATCH, table, fingerprint="t-aaa")) == {"different_tokenizer": 1}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_clean_copy_records_is_the_tokenizer_of_the_run(layout: str, tmp_path: Path):
    write(tmp_path / "data/a.parquet", None, layout)
    dataguard.validate(
        tmp_path / "data", suite="pretrain", tokenizer=byte_tokenizer(), out=tmp_path / "out", clean=True
    )
    assert judged(MATCH, tmp_path / "out/clean", tokenizer=byte_tokenizer()).success


def test_a_clean_copy_keeps_what_dataset_info_says_of_its_shards(tmp_path: Path):
    write(tmp_path / "data/a.arrow", None)
    (tmp_path / "data/dataset_info.json").write_text(json.dumps({TOKENIZER: "t-aaa"}))
    dataguard.validate(
        tmp_path / "data", suite="pretrain", tokenizer=byte_tokenizer(), out=tmp_path / "out", clean=True
    )
    assert judged(MATCH, tmp_path / "out/clean", fingerprint="t-aaa").success


def test_a_shard_that_is_not_intact_is_left_out(tmp_path: Path):
    write(tmp_path / "a.arrow", "t-aaa")
    (tmp_path / "b.arrow").write_bytes((tmp_path / "a.arrow").read_bytes()[:-8])
    assert judged(MATCH, tmp_path, fingerprint="t-aaa").element_count == 1


NAMES = st.sampled_from([None, "t-aaa", "t-bbb", "t-ccc"])


@examples(25)
@given(st.lists(NAMES, min_size=1, max_size=5), NAMES)
def test_agrees_with_a_judge_in_plain_python(
    tmp_path_factory: pytest.TempPathFactory, names: list[str | None], given_one: str | None
):
    folder = tmp_path_factory.mktemp("data")
    for number, name in enumerate(names):
        write(folder / f"{number}.arrow", name)
    expected = [
        (f"{number}.arrow", "unknown_tokenizer" if name is None else "different_tokenizer")
        for number, name in enumerate(names)
        if name is None or (given_one is not None and name != given_one)
    ]
    result = judged(MATCH, folder, fingerprint=given_one)
    assert told(result) == expected
    assert ("mixed_tokenizers" in reasons(result)) == (len(set(names) - {None}) > 1)
    assert result.success == (given_one is not None and not expected)
