"""expect_ids_to_match_text."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import dataguard
from dataguard.result import ExpectationResult
from tests.builders import byte_tokenizer, found, ids_of, judged, list_array, reasons, table_of
from tests.examples import examples
from tests.metrics.test_text_ids import by_hand

MATCH = "expect_ids_to_match_text"
HELLO = "hello world, this is a text of some length, long enough for one letter to be less than two in a hundred"


def on(data: Any, **more: Any) -> ExpectationResult:
    return judged(MATCH, data, tokenizer=byte_tokenizer(), **more)


def test_ids_of_the_text_match():
    result = on({"input_ids": [ids_of(HELLO), ids_of("ñ数据")], "text": [HELLO, "ñ数据"]})
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 0, 0)


def test_ids_of_another_text_do_not():
    result = on({"input_ids": [ids_of(HELLO), ids_of("good")], "text": [HELLO, "evil"]})
    assert found(result) == [(1, "other_ids")]
    (finding,) = result.findings
    assert (finding.position, finding.value) == (0, 1.0)
    assert reasons(result) == {"other_ids": 1}


def test_special_tokens_and_padding_are_no_difference():
    row = [0, 0, 1, *ids_of("ab"), 2, *ids_of("cd"), 2]
    assert on({"input_ids": [row, [1, *ids_of("abcd"), 2, 0, 0]], "text": ["abcd"] * 2}).success


def test_a_mask_says_what_is_padding():
    rows = {"input_ids": [[*ids_of("abcd"), 9, 9]], "attention_mask": [[1, 1, 1, 1, 0, 0]], "text": ["abcd"]}
    assert on(rows).success


@pytest.mark.parametrize("cut", [slice(0, 20), slice(-20, None), slice(30, 60)])
def test_a_cut_row_is_no_difference(cut: slice):
    assert on({"input_ids": [ids_of(HELLO)[cut]], "text": [HELLO]}).success


def test_more_ids_than_the_text_has_are_others():
    assert not on({"input_ids": [ids_of(HELLO + " and so on")], "text": [HELLO]}).success


@pytest.mark.parametrize(("max_fraction", "holds"), [(0.02, True), (0.009, False), (0.0, False), (1.0, True)])
def test_the_share_of_other_ids_is_compared_with_max_fraction(max_fraction: float, holds: bool):
    row = ids_of(HELLO)
    row[50] = 4
    result = on({"input_ids": [row], "text": [HELLO]}, max_fraction=max_fraction)
    assert result.success == holds
    assert [(each.position, each.value) for each in result.findings] == (
        [] if holds else [(50, round(1 / len(row), 6))]
    )


def test_the_limit_itself_holds():
    row = ids_of("abcdefghij" * 5)
    row[20] = 4
    assert on({"input_ids": [row], "text": ["abcdefghij" * 5]}, max_fraction=0.02).success


def test_rows_without_a_text_or_without_content_are_missing():
    rows = {"input_ids": [ids_of("a"), None, [], [1, 2], ids_of("b")], "text": [None, "x", "x", "x", "b"]}
    result = on(rows)
    assert result.success
    assert (result.element_count, result.missing_count) == (5, 4)


def test_an_empty_text_has_no_ids():
    assert found(on({"input_ids": [ids_of("a")], "text": [""]})) == [(0, "other_ids")]


@pytest.mark.parametrize("layout", ["list", "large_list", "fixed", "list_view"])
@pytest.mark.parametrize("kind", [pa.uint16(), pa.int32(), pa.int64(), pa.uint64()], ids=str)
def test_every_type_and_layout(layout: str, kind: pa.DataType):
    ids = list_array([ids_of("abcd"), ids_of("abxd")], kind, layout, skip=2)
    assert found(on(pa.table({"input_ids": ids, "text": ["abcd", "abcd"]}))) == [(1, "other_ids")]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_every_type_of_text(kind: pa.DataType):
    text = pa.array(["abcd", None, "abcd"], pa.string()).cast(kind)
    assert found(
        on(pa.table({"input_ids": list_array([ids_of("abcd"), ids_of("a"), ids_of("ab!")]), "text": text}))
    ) == [(2, "other_ids")]


def test_a_text_column_of_nothing_but_nulls_has_no_text():
    result = on(pa.table({"input_ids": list_array([[5]]), "text": pa.nulls(1)}))
    assert not result.success
    assert result.unjudged is not None


@pytest.mark.parametrize("text", [pa.array([5]), pa.array([b"a"]), pa.array([["a"]])], ids=str)
def test_a_text_that_is_none_cannot_be_judged(text: pa.Array):
    result = on(pa.table({"input_ids": list_array([[5]]), "text": text}))
    assert result.unjudged is not None
    assert "column text is" in result.unjudged.missing


def test_without_a_text_it_cannot_be_judged_or_is_skipped_where_that_is_declared():
    rows = table_of(input_ids=[ids_of("a")])
    result = on(rows)
    assert result.unjudged is not None
    assert "text" in result.unjudged.missing
    entries = [
        {"type": MATCH, "meta": {"dataguard": {"when": ["text", "encoder"]}}},
        {"type": "expect_rows_not_to_be_null"},
    ]
    done = dataguard.validate(rows, suite={"name": "s", "expectations": entries}, tokenizer=byte_tokenizer())
    assert done.success
    assert [each["type"] for each in done.meta["skipped"]] == [MATCH]


def test_a_shard_without_a_text_among_others_cannot_be_judged(tmp_path: Path):
    pq.write_table(table_of(input_ids=[ids_of("a")], text=["a"]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[ids_of("a")]), tmp_path / "b.parquet")
    result = on(tmp_path)
    assert result.unjudged is not None
    assert "b.parquet (no column text)" in result.unjudged.missing


def test_without_a_tokenizer_it_cannot_be_judged():
    result = judged(MATCH, {"input_ids": [[5]], "text": ["a"]}, vocabulary={"size": 300})
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix


def test_a_bare_vocabulary_cannot_encode(tmp_path: Path):
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}', "utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    result = judged(MATCH, {"input_ids": [[2]], "text": ["ab"]}, tokenizer=tmp_path)
    assert result.unjudged is not None
    assert result.unjudged.missing == "vocab.json does not say how text becomes ids"
    assert "tokenizer.json" in result.unjudged.fix


def changed(folder: Path, **sections: Any) -> Path:
    shutil.copytree(byte_tokenizer(), folder)
    document = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps({**document, **sections}), "utf-8")
    return folder


def test_a_tokenizer_that_cannot_be_loaded_cannot_encode(tmp_path: Path):
    path = changed(tmp_path / "t", pre_tokenizer={"type": "NobodyKnows"})
    result = judged(MATCH, {"input_ids": [[5]], "text": ["a"]}, tokenizer=path)
    assert result.unjudged is not None
    assert "tokenizer.json cannot encode text" in result.unjudged.missing


def test_a_text_that_the_tokenizer_refuses_is_never_a_pass(tmp_path: Path):
    words = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "none"}
    path = changed(tmp_path / "t", model=words, added_tokens=[], pre_tokenizer={"type": "Whitespace"}, decoder=None)
    (path / "tokenizer_config.json").unlink()
    result = judged(MATCH, {"input_ids": [[0, 1], [0], [1]], "text": ["a b", "a c", "a"]}, tokenizer=path)
    assert result.unjudged is not None
    assert "1 rows" in result.unjudged.missing
    assert found(result) == [(2, "other_ids")]


@pytest.mark.parametrize("made_by", ["gpt2", "mistral-v1", "bert-wordpiece"])
@pytest.mark.parametrize("judged_by", ["gpt2", "mistral-v1", "bert-wordpiece"])
def test_real_tokenizers_know_their_own_ids_and_no_others(made_by: str, judged_by: str, fixtures: Path):
    texts = [
        HELLO,
        "def f(x):\n    return {'a': [1, 2.5]}\n" * 3,
        "数据科学 und Ähnliches — naïve ﬁle",
        "  two  spaces\t\n" * 3,
    ]
    tokenizer = Tokenizer.from_file(str(fixtures / "tokenizers" / made_by / "tokenizer.json"))
    tokenizer.no_truncation()
    rows = {"input_ids": [tokenizer.encode(each).ids for each in texts], "text": texts}
    result = judged(MATCH, rows, tokenizer=fixtures / "tokenizers" / judged_by)
    assert [row for row, _ in found(result)] == ([] if made_by == judged_by else [0, 1, 2, 3])


def test_a_prefixed_column_goes_with_the_text_of_its_prefix():
    rows = {"chosen_input_ids": [ids_of("good")], "chosen_text": ["good"], "rejected_input_ids": [ids_of("bad")]}
    rows |= {"rejected_text": ["evil"]}
    assert on(rows, column="chosen_input_ids").success
    assert [(each.row, each.column) for each in on(rows, column="rejected_input_ids").findings] == [
        (0, "rejected_input_ids")
    ]


def test_numbers_are_stored_under_the_tokenizer_that_made_them(tmp_path: Path):
    pq.write_table(table_of(input_ids=[ids_of("ABC")], text=["abc"]), tmp_path / "a.parquet")
    suite = {"name": "s", "expectations": [{"type": MATCH}]}
    lower = changed(tmp_path / "lower", normalizer={"type": "Replace", "pattern": {"String": "abc"}, "content": "ABC"})
    for tokenizer, holds in ((byte_tokenizer(), False), (lower, True), (byte_tokenizer(), False)):
        result = dataguard.validate(
            tmp_path / "a.parquet", suite=suite, tokenizer=tokenizer, store=tmp_path / "store"
        ).results[0]
        assert result.success == holds


def test_batches_and_shards(tmp_path: Path):
    texts = [f"text number {number}" for number in range(50)]
    rows = [ids_of(each) for each in texts]
    rows[0], rows[49] = ids_of("something else"), ids_of("nothing")
    for name in "ab":
        pq.write_table(table_of(input_ids=rows, text=texts), tmp_path / f"{name}.parquet", row_group_size=7)
    assert [(each.shard, each.row) for each in on(tmp_path).findings] == [
        ("a.parquet", 0),
        ("a.parquet", 49),
        ("b.parquet", 0),
        ("b.parquet", 49),
    ]


LETTERS = st.text(alphabet="ab ñ", max_size=30)
CHANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(4, 259)), max_size=2)


@examples(40)
@given(
    st.lists(st.tuples(st.one_of(LETTERS, st.none()), st.one_of(LETTERS, st.none()), CHANGES), max_size=5),
    st.sampled_from([0.0, 0.05, 0.5]),
)
def test_agrees_with_a_judge_in_plain_python(
    cases: list[tuple[str | None, str | None, list[tuple[int, int]]]], most: float
):
    rows, texts, expected = [], [], []
    for number, (own, text, changes) in enumerate(cases):
        ids = None if own is None else ids_of(own)
        for place, value in changes:
            if ids:
                ids[place % len(ids)] = value
        rows.append(ids)
        texts.append(text if text is not None or own is None or number % 2 else own)
        spelled = bytes(each - 4 for each in ids or []).decode("utf-8", "ignore")
        if ids and texts[-1] is not None and not spelled.isspace():
            equal, other, _ = by_hand(ids, ids_of(texts[-1]))
            expected += [(number, "other_ids")] * (other / (equal + other) > most)
    table = pa.table({"input_ids": list_array(rows), "text": pa.array(texts, pa.string())})
    assert found(on(table, max_fraction=most)) == expected
