"""dataguard.yaml is read as strictly as a suite, and its paths are its own."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import dataguard
from dataguard.errors import SuiteError
from dataguard.suite.project import ProjectSettings, read_project


def settings(folder: Path, text: str, **options: Any) -> dict[str, Any]:
    """Return what a project file of this text says."""
    (folder / "dataguard.yaml").write_text(text, encoding="utf-8")
    return dict(read_project(folder / "dataguard.yaml", **options).settings)


def refused(folder: Path, text: str, **options: Any) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        settings(folder, text, **options)
    assert caught.value.file == str(folder / "dataguard.yaml")
    return caught.value


def test_every_key_is_an_argument_of_the_library() -> None:
    assert set(ProjectSettings.model_fields) <= set(inspect.signature(dataguard.validate).parameters)


def test_every_key_says_what_it_is() -> None:
    assert [name for name, field in ProjectSettings.model_fields.items() if not field.description] == []


def test_says_what_it_says(tmp_path: Path) -> None:
    text = """
suite: sft
columns: {input_ids: tokens}
vocabulary: {size: 100, pad: 0, special: {"<x>": 4}}
max_length: 2048
parameters: {side: right}
fail_on: warning
quarantine: false
quarantine_limit: 1.5GiB
reports: [console, json]
jobs: 2
plugins: [my_checks]
"""
    assert settings(tmp_path, text) == {
        "suite": "sft",
        "columns": {"input_ids": "tokens"},
        "vocabulary": {"size": 100, "pad": 0, "special": {"<x>": 4}},
        "max_length": 2048,
        "parameters": {"side": "right"},
        "fail_on": "warning",
        "quarantine": False,
        "quarantine_limit": 3 * 2**29,
        "reports": ["console", "json"],
        "jobs": 2,
        "plugins": ["my_checks"],
    }


def test_null_is_not_given_but_for_the_store(tmp_path: Path) -> None:
    assert settings(tmp_path, "suite: null\njobs:\nquarantine_limit: 5\nstore: null\n") == {
        "quarantine_limit": 5,
        "store": None,
    }


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("suites/mine.yaml", "tok/tokenizer.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    text = "suite: suites/mine.yaml\ntokenizer: tok\nmodel: ./tok\nout: reports\nstore: numbers\n"
    places = ("suites/mine.yaml", "tok", "tok", "reports", "numbers")
    assert list(settings(tmp_path, text).values()) == [tmp_path / each for each in places]
    monkeypatch.chdir(tmp_path / "tok")
    found = read_project(Path("../dataguard.yaml")).settings
    assert found["suite"] == Path("../suites/mine.yaml")
    assert settings(tmp_path, "store: auto") == {"store": "auto"}


def test_a_tokenizer_may_be_a_name_of_the_hub_s_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "hub/models--org--name/snapshots/abc"
    snapshot.mkdir(parents=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert settings(tmp_path, "tokenizer: org/name") == {"tokenizer": snapshot}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("# ours\nsiute: sft\n", 2, "did you mean suite"),
        ("max_length: 5\nloader: x:y\n", 2, "has no key loader"),
        ("jobs: 1\nmax_length: long\n", 2, "it must be a whole number"),
        ("max_length: 0\n", 1, "it must be at least 1"),
        ("fail_on: never\n", 1, "it must be 'critical', 'warning' or 'info'"),
        ("quarantine: 1\n", 1, "true or false"),
        ("quarantine_limit: big\n", 1, "quarantine_limit"),
        ("quarantine_limit: -1\n", 1, "quarantine_limit"),
        ("plugins: my_checks\n", 1, "it must be a list"),
        ("columns:\n  imput_ids: a\n", 2, "did you mean input_ids"),
        ("vocabulary:\n  size: 5\n  pad: x\n", 3, "vocabulary.pad: 'x' cannot be used"),
        ("vocabulary: {sise: 3}\n", 1, "did you mean size?"),
        ("suite: pretrian\n", 1, "did you mean pretrain?"),
        ("suite: no/such.yaml\n", 1, "neither a shipped suite nor a file"),
        ("suite: .\n", 1, "neither a shipped suite nor a file"),
        ("tokenizer: no/such\n", 1, "there is no tokenizer"),
        ("model: no/such/model\n", 1, "there is no model"),
        ("jobs: 1\njobs: 2\n", 2, "stands twice"),
        ("- suite\n", 1, "must be a mapping"),
        ("", None, "the file is empty"),
        ("suite: !!python/object:os.system x\n", 1, "tag"),
    ],
)
def test_refuses_what_cannot_be(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    error = refused(tmp_path, text)
    assert says in str(error)
    assert error.line == line


def test_refuses_keys_that_are_not_for_it_with_reason_and_remedy(tmp_path: Path) -> None:
    error = refused(tmp_path, "suite: sft\nplugins: null\n", refused={"plugins": ("a reason", "a remedy")})
    assert (error.line, error.why, error.fix) == (2, "a reason", "a remedy")


class TestConfined:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "data").mkdir()
        for name in ("outside.yaml", "data/mine.yaml"):
            (tmp_path / name).write_text("expectations: []")
        (tmp_path / "data" / "link.yaml").symlink_to("../outside.yaml")
        return tmp_path / "data"

    @pytest.mark.parametrize("name", ["sft", "mine.yaml", "./mine.yaml", "../data/mine.yaml"])
    def test_a_suite_in_its_folder_is_taken(self, folder: Path, name: str) -> None:
        assert settings(folder, f"suite: {name}", confined=True)

    @pytest.mark.parametrize("name", ["../outside.yaml", "link.yaml", "{folder}/outside.yaml"])
    def test_a_suite_elsewhere_is_refused_whatever_leads_there(self, folder: Path, name: str) -> None:
        text = f"suite: {name.format(folder=folder.parent)}"
        assert "lies elsewhere" in refused(folder, text, confined=True).what
        assert settings(folder, text)

    @pytest.mark.parametrize(
        ("baseline", "more"),
        [
            ("../old.json", ""),
            ("{folder}/old.json", ""),
            ("/dev/zero", ""),
            ("link.json", ""),
            ("{{$PARAMETER: p}}", "suite_parameters: {{p: ../old.json}}"),
        ],
    )
    def test_a_baseline_elsewhere_is_refused_whatever_leads_there(self, folder: Path, baseline: str, more: str) -> None:
        (folder.parent / "old.json").write_text("{}")
        (folder / "link.json").symlink_to("../old.json")
        (folder / "own.json").write_text("{}")
        entry = "expectations: [{{type: expect_distributions_to_match_baseline, kwargs: {{baseline: {}}}}}]"
        (folder / "mine.yaml").write_text(
            f"{more.format()}\n{entry.format(baseline.format(folder=folder.parent))}", encoding="utf-8"
        )
        with pytest.raises(SuiteError, match="lies elsewhere") as caught:
            settings(folder, "suite: mine.yaml", confined=True)
        assert (Path(str(caught.value.file)).name, caught.value.line) == ("mine.yaml", 2)
        assert settings(folder, "suite: mine.yaml")
        (folder / "mine.yaml").write_text(entry.format("own.json"), encoding="utf-8")
        assert settings(folder, "suite: mine.yaml", confined=True)

    def test_a_parameter_beside_the_suite_leads_nowhere_else_either(self, folder: Path) -> None:
        entry = "expectations: [{type: expect_distributions_to_match_baseline, kwargs: {baseline: {$PARAMETER: p}}}]"
        (folder / "mine.yaml").write_text(entry, encoding="utf-8")
        with pytest.raises(SuiteError, match="lies elsewhere"):
            settings(folder, "suite: mine.yaml\nparameters: {p: ../old.json}", confined=True)
