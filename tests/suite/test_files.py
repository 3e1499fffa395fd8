"""YAML and JSON files, good and hostile."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dataguard.errors import SuiteError
from dataguard.suite.files import MOST_BYTES, read, read_json
from dataguard.suite.nodes import read_yaml
from tests.examples import examples


def refused(folder: Path, name: str, content: str | bytes) -> SuiteError:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SuiteError) as caught:
        read(file)
    return caught.value


def test_yaml_becomes_plain_values() -> None:
    text = "a: 1\nb: [0.5, 1e3, true, null, ~, yes, '7', 2020-01-01]\nc: &x {d: 0x10}\ne: *x\n2020: web\n"
    document = read_yaml(text, "s.yaml")
    assert document.value == {
        "a": 1,
        "b": [0.5, 1000.0, True, None, None, "yes", "7", "2020-01-01"],
        "c": {"d": 16},
        "e": {"d": 16},
        "2020": "web",
    }
    assert {type(each) for each in document.value["b"]} == {float, bool, type(None), str}


def test_every_place_knows_its_line() -> None:
    document = read_yaml("a: 1\nb:\n  - c: 2\n    d:\n      e\n", "s.yaml")
    assert (document.top / "a").line == 1
    assert (document.top / "b" / 0).line == 3
    assert (document.top / "b" / 0 / "d").line == 4
    assert (document.top / "b" / 0 / "none" / 7).line == 3


def test_json_knows_its_lines_even_with_tabs() -> None:
    document = read_json('{\n\t"a": [\n\t\t1,\n\t\t{"b": "\\ud83d\\ude00"}\n\t]\n}', "s.json")
    assert document.value == {"a": [1, {"b": "\U0001f600"}]}
    assert (document.top / "a" / 1 / "b").line == 4


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    for name, text in (("s.yaml", "a: 1"), ("s.json", '{"a": 1}')):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert read(tmp_path / name).value == {"a": 1}


@pytest.mark.parametrize(
    ("name", "content", "line", "says"),
    [
        ("s.yaml", "a: [1,\n", 2, "no YAML"),
        ("s.yaml", "a:\n\t- b", 2, "no YAML"),
        ("s.yaml", "a: *b", 1, "undefined alias"),
        ("s.yaml", "a: 1\n---\nb: 2", 2, "single document"),
        ("s.yaml", "a: 1\nb: \x01", 2, "no YAML"),
        ("s.yaml", "%YAML 3.0\n---\na: 1", 1, "no YAML"),
        ("s.yaml", "a: 1\nb: 2\na: 3", 3, 'the key "a" stands twice'),
        ("s.yaml", "a: 1\nb: !thing 2", 2, "the YAML tag !thing"),
        ("s.yaml", "a: !!python/object/apply:os.system [ls]", 1, "is not read"),
        ("s.yaml", "a: !!set {b}", 1, "is not read"),
        ("s.yaml", "a: !!int b", 1, "cannot be read as int"),
        ("s.yaml", "a: .nan", 1, "finite"),
        ("s.yaml", "a: " + "9" * 5000, 1, "cannot be read as int"),
        ("s.yaml", "a: &a {b: 1}\nc:\n  <<: *a", 3, "merge keys"),
        ("s.yaml", "? [a]\n: 1", 1, "a key must be text"),
        ("s.yaml", "&a [*a]", 1, "nested too deeply"),
        ("s.yaml", "[" * 50 + "]" * 50, 1, "nested too deeply"),
        ("s.yaml", "[" * 5000, None, "nested too deeply"),
        ("s.yaml", 'a: "\\ud800"', 1, "half a character"),
        ("s.yaml", b"a: 1\nb: \xff", 2, "UTF-8"),
        ("s.yaml", b"a" * (MOST_BYTES + 1), None, "too large"),
        ("s.json", '{"a": 1,\n "b" 2}', 2, "no JSON"),
        ("s.json", "a: 1", 1, "no JSON"),
        ("s.json", "", 1, "no JSON"),
        ("s.json", '{"a": 1,\n "b": {"c": 2,\n "c": 3}}', 3, 'the key "c" stands twice'),
        ("s.json", '{"a": 1,\n "b": NaN}', 2, "finite"),
        ("s.json", '{"a": 1e999}', None, "finite"),
        ("s.json", '{"a": ' + "9" * 5000 + "}", None, "cannot be read"),
        ("s.json", "[" * 100_000, None, "nested too deeply"),
        ("s.json", "[" * 50 + "]" * 50, None, "nested too deeply"),
        ("s.json", '{"a": "\\ud800"}', 1, "half a character"),
    ],
)
def test_refuses_what_is_not_well_formed(
    tmp_path: Path, name: str, content: str | bytes, line: int | None, says: str
) -> None:
    error = refused(tmp_path, name, content)
    assert says in str(error)
    assert error.line == line


def test_aliases_do_not_expand_without_bound(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    begun = time.perf_counter()
    assert "more than 100,000 values" in str(refused(tmp_path, "s.yaml", "\n".join(lines)))
    assert time.perf_counter() - begun < 60


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="cannot be read"):
        read(tmp_path / "none.yaml")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(value=JSON, indent=st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_json(value: Any, indent: int | str | None) -> None:
    assert read_json(json.dumps(value, indent=indent), "s.json").value == value


@given(value=JSON)
def test_yaml_reads_numbers_and_structure_as_json_does(value: Any) -> None:
    def without_text(value: Any) -> Any:
        if isinstance(value, dict):
            return {f"k{number}": without_text(each) for number, each in enumerate(value.values())}
        if isinstance(value, list):
            return [without_text(each) for each in value]
        return "text" if isinstance(value, str) else value

    value = without_text(value)
    read = read_yaml(json.dumps(value), "s.yaml").value
    assert json.dumps(read) == json.dumps(value) or _close(read, value)


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return one == other or (isinstance(one, float) and math.isclose(one, other))


@examples(100, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(st.sampled_from(list("ab:-[]{}&*!%|>#\"'\n\t ,?0.~<\x85\u2028é\ud7ff")), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in (read_yaml, read_json):
        try:
            json.dumps(reader(text, "s").value, allow_nan=False)
        except SuiteError:
            continue
