from __future__ import annotations

import copy
import json
import random

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary.fingerprint import fingerprint

SPECIAL = {"pad": 0, "bos": None}


@pytest.fixture
def small():
    vocab = {"<p>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6}
    merges = [["a", "b"], ["b", "c"], ["ab", "c"], ["a", "bc"]]
    added = [{"id": 0, "content": "<p>", "special": True}]
    return {"added_tokens": added, "model": {"type": "BPE", "vocab": vocab, "merges": merges}, "padding": None}


def same(one, other, special=SPECIAL):
    return fingerprint(one, SPECIAL) == fingerprint(other, special)


def test_is_stable(small):
    assert fingerprint(small, SPECIAL) == "dg1:0788c810d93c43662bec967af60e6cf8"


def test_merges_as_texts_and_as_pairs_are_one(small):
    other = copy.deepcopy(small)
    other["model"]["merges"] = ["a b", "b c", "ab c", "a bc"]
    assert same(small, other)


def test_the_order_of_merges_that_make_one_piece_is_free(small):
    other = copy.deepcopy(small)
    other["model"]["merges"][2:] = reversed(other["model"]["merges"][2:])
    assert same(small, other)


def test_the_order_of_other_merges_is_not(small):
    other = copy.deepcopy(small)
    other["model"]["merges"][:2] = reversed(other["model"]["merges"][:2])
    assert not same(small, other)


def test_which_piece_has_which_rank_matters():
    merges = [["a", "b"], ["c", "d"], ["ab", "cd"], ["e", "f"], ["abc", "d"]]
    vocab = {each: n for n, each in enumerate(["a", "b", "c", "d", "e", "f", "ab", "cd", "abc", "abcd", "ef"])}
    one, freed, other = (
        [merges[place] for place in order] for order in ([0, 1, 2, 3, 4], [0, 1, 4, 3, 2], [0, 1, 2, 4, 3])
    )
    assert same({"model": {"vocab": vocab, "merges": one}}, {"model": {"vocab": vocab, "merges": freed}})
    assert not same({"model": {"vocab": vocab, "merges": one}}, {"model": {"vocab": vocab, "merges": other}})


def test_order_of_keys_and_all_other_settings_do_not_matter(small):
    other = copy.deepcopy(small)
    other["model"]["vocab"] = dict(reversed(other["model"]["vocab"].items()))
    other["model"]["dropout"] = 0.1
    other |= {"padding": {"pad_id": 7}, "truncation": {"max_length": 3}, "normalizer": {"type": "NFC"}}
    other["added_tokens"][0]["lstrip"] = True
    assert same(small, other, {"bos": None, "eos": None, "pad": 0})


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["model"]["vocab"].update(a=2, b=1),
        lambda t: t["model"]["vocab"].update(d=7),
        lambda t: t["model"]["merges"].pop(),
        lambda t: t["added_tokens"][0].update(special=False),
        lambda t: t["added_tokens"][0].update(id=1),
        lambda t: t["added_tokens"][0].update(content="<q>"),
        lambda t: t["added_tokens"].append({"id": 7, "content": "<q>"}),
        lambda t: t["model"].update(merges=[["a", "b"], ["b", "c"], ["a", "bc"], ["a", "bc"]]),
    ],
)
def test_vocabulary_merges_and_added_tokens_matter(small, change):
    other = copy.deepcopy(small)
    change(other)
    assert not same(small, other)


@pytest.mark.parametrize("special", [{"pad": 1}, {"eos": 0}, {"pad": 0, "eos": 0}, {}])
def test_special_ids_matter(small, special):
    assert not same(small, small, special)


def test_the_scores_of_unigram_matter():
    first = {"model": {"vocab": [["a", -1.5], ["b", 0]]}}
    assert fingerprint(first, {}) == fingerprint({"model": {"vocab": [["a", -1.5], ["b", 0.0]]}}, {})
    assert fingerprint(first, {}) != fingerprint({"model": {"vocab": [["a", -1.25], ["b", 0]]}}, {})


def test_lengths_keep_texts_apart():
    assert fingerprint({"model": {"vocab": {"ab": 0, "c": 1}}}, {}) != fingerprint(
        {"model": {"vocab": {"a": 0, "bc": 1}}}, {}
    )


@pytest.mark.parametrize("merges", [["ab"], [["a", "b", "c"]], [["a", 1]], [3], {}, ["a b c"]])
def test_refuses_merges_that_are_no_pairs(small, merges):
    small["model"]["merges"] = merges
    with pytest.raises(VocabularyError, match="merge"):
        fingerprint(small, {})


def test_holds_over_releases_of_a_real_tokenizer(shared):
    """Conversions of one sentencepiece model order merges of equal pieces differently, and write them in two ways."""
    one = json.loads((shared / "data" / "tokenizers" / "mistral-v1" / "tokenizer.json").read_bytes())
    other = copy.deepcopy(one)
    groups: dict[str, list[str]] = {}
    for left, right in one["model"]["merges"]:
        groups.setdefault(left + right, []).append(f"{left} {right}")
    dice = random.Random(0)
    for group in groups.values():
        dice.shuffle(group)
    other["model"]["merges"] = [groups["".join(merge)].pop() for merge in one["model"]["merges"]]
    assert other["model"]["merges"] != [" ".join(each) for each in one["model"]["merges"]]
    assert fingerprint(one, {}) == fingerprint(other, {})
