"""Which dataguard.yaml holds, what wins, and what a file that lies with the data can never do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dataguard.errors import SuiteError
from dataguard.run.project import with_projects


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory: work/ beside data/, and under it repository/data/."""
    for name in ("data/train", "work/repository/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/train/a.arrow").touch()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def write(folder: Path, text: str) -> None:
    (folder / "dataguard.yaml").write_text(text)


def options(*data: Path | str, **told: Any) -> dict[str, Any]:
    return with_projects([Path(each) for each in data], told)


def refused(*data: Path | str, **told: Any) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        options(*data, **told)
    return caught.value


def test_without_any_file_the_options_stand(work: Path) -> None:
    assert options("../data", suite="sft") == {"suite": "sft"}


class TestWorkingDirectory:
    def test_its_file_gives_what_no_option_gives(self, work: Path) -> None:
        write(work, "suite: sft\nfail_on: info\nout: reports\nplugins: [b]\n")
        assert options("../data", suite="pretrain", plugins=["a"]) == {
            "suite": "pretrain",
            "plugins": ["b", "a"],
            "fail_on": "info",
            "out": Path("reports"),
            "taken": ["fail_on, out, plugins from dataguard.yaml"],
        }

    def test_the_nearest_one_above_it_holds(self, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(work.parent, "jobs: 1\nmax_length: 5\n")
        write(work, "jobs: 2\nout: reports\n")
        monkeypatch.chdir(work / "repository")
        assert options("data") == {
            "jobs": 2,
            "out": Path("../reports"),
            "taken": ["jobs, out from ../dataguard.yaml"],
        }

    def test_names_are_joined_and_options_win(self, work: Path) -> None:
        write(work, "columns: {input_ids: a, labels: b}\nparameters: {x: 1, y: 2}\n")
        joined = options("../data", columns={"input_ids": "c"}, parameters={"y": 3})
        assert joined["columns"] == {"input_ids": "c", "labels": "b"}
        assert joined["columns_from"] == {"labels": "dataguard.yaml"}
        assert joined["parameters"] == {"x": 1, "y": 3}
        assert joined["taken"] == ["columns, parameters from dataguard.yaml"]

    def test_what_an_option_replaces_is_not_called_taken(self, work: Path) -> None:
        write(work, "columns: {input_ids: a}\nsuite: sft\nstore: null\n")
        told = {"columns": {"input_ids": "b"}, "suite": "x", "store": "y"}
        assert options("../data", **told) == told

    @pytest.mark.parametrize("text", ["max_length: 5", "parameters: {max_length: 5}"])
    @pytest.mark.parametrize("told", [{"max_length": 7}, {"parameters": {"max_length": 7}}], ids=str)
    def test_max_length_has_two_names_and_the_option_wins(self, work: Path, text: str, told: dict[str, Any]) -> None:
        write(work, text)
        joined = options("../data", **told)
        assert {**joined.get("parameters", {}), **joined}.get("max_length") == 7
        assert "taken" not in joined

    def test_it_may_lie_above_the_data_and_say_everything(self, work: Path) -> None:
        write(work, "plugins: [a]")
        assert options("repository/data")["plugins"] == ["a"]


class TestData:
    def test_its_file_says_columns_vocabulary_and_suite(self, work: Path) -> None:
        write(work.parent / "data", "columns: {input_ids: a}\nvocabulary: {size: 5}\nsuite: sft\n")
        found = options("../data")
        assert found.pop("taken") == ["columns, vocabulary, suite from ../data/dataguard.yaml"]
        assert found.pop("columns_from") == {"input_ids": "../data/dataguard.yaml"}
        assert found == {"columns": {"input_ids": "a"}, "vocabulary": {"size": 5}, "suite": "sft"}

    def test_an_absolute_path_is_told_as_one(self, work: Path) -> None:
        write(work.parent / "data", "suite: sft")
        assert options(work.parent / "data")["taken"] == [f"suite from {work.parent}/data/dataguard.yaml"]

    def test_it_is_found_upward_from_a_file_too(self, work: Path) -> None:
        write(work.parent / "data", "suite: sft")
        assert options("../data/train/a.arrow")["suite"] == "sft"

    @pytest.mark.parametrize(
        ("text", "option"),
        [
            ("plugins: [a]", "--plugin"),
            ("out: x", "--out"),
            ("store: x", "--store"),
            ("max_length: 5", "--max-length"),
            ("tokenizer: x", "--tokenizer"),
            ("fail_on: info", "--fail-on"),
            ("parameters: {a: 1}", "--set"),
            ("jobs: 1", "--jobs"),
        ],
    )
    @pytest.mark.parametrize("data", ["../data", "../data/train", "../data/train/a.arrow"])
    def test_it_says_nothing_else(self, work: Path, text: str, option: str, data: str) -> None:
        write(work.parent / "data", text)
        error = refused(data)
        assert (error.line, error.file) == (1, "../data/dataguard.yaml")
        assert option in str(error.fix)
        assert "--no-project" in str(error.fix)

    def test_its_suite_stays_in_its_folder(self, work: Path) -> None:
        (work.parent / "outside.yaml").write_text("expectations: []")
        write(work.parent / "data", "suite: ../outside.yaml")
        assert "lies elsewhere" in refused("../data").what

    def test_the_working_directory_s_file_wins(self, work: Path) -> None:
        write(work.parent / "data", "columns: {input_ids: a, labels: b}\nvocabulary: {size: 5, pad: 1}\nsuite: sft\n")
        write(work, "columns: {input_ids: c}\nvocabulary: {pad: 0}\nsuite: pretrain\n")
        found = options("../data")
        assert found["columns"] == {"input_ids": "c", "labels": "b"}
        assert found["vocabulary"] == {"size": 5, "pad": 0}
        assert found["suite"] == "pretrain"
        assert found["taken"] == [
            "columns, vocabulary, suite from dataguard.yaml",
            "columns, vocabulary from ../data/dataguard.yaml",
        ]

    def test_special_ids_are_joined_name_by_name(self, work: Path) -> None:
        write(work.parent / "data", "vocabulary: {special: {a: 1, b: 2}}")
        write(work, "vocabulary: {special: {a: 3}}")
        assert options("../data")["vocabulary"] == {"special": {"a": 3, "b": 2}}

    def test_two_folders_of_one_project_have_one_file(self, work: Path) -> None:
        write(work.parent / "data", "suite: sft")
        assert options("../data/train", "../data")["suite"] == "sft"

    def test_several_are_refused(self, work: Path) -> None:
        (work.parent / "other").mkdir()
        for name in ("data", "other"):
            write(work.parent / name, "suite: sft")
        assert "DATA has several dataguard.yaml" in refused("../data", "../other").what

    def test_data_that_is_not_there_is_no_fault_here(self, work: Path) -> None:
        assert options("../none/at/all", "x" * 5000) == {}


class TestInsideDataAndWorkingDirectory:
    @pytest.fixture(autouse=True)
    def _here(self, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(work / "repository")

    def test_it_says_how_data_is_judged(self, work: Path) -> None:
        write(work / "repository", "max_length: 5\nfail_on: info\n")
        assert options(".")["max_length"] == 5

    @pytest.mark.parametrize("text", ["plugins: [a]", "out: x", "store: x"])
    @pytest.mark.parametrize("data", [".", "..", "../../work"])
    def test_it_never_runs_code_and_never_says_where_to_write(self, work: Path, text: str, data: str) -> None:
        write(work / "repository", text)
        error = refused(data)
        assert "inside DATA" in str(error.why)
        assert options("data")

    def test_a_link_to_the_data_does_not_hide_that_it_lies_inside(self, work: Path) -> None:
        write(work / "repository", "plugins: [a]")
        (work.parent / "link").symlink_to(work / "repository")
        assert "inside DATA" in str(refused("../../link").why)

    def test_a_file_that_is_a_link_lies_where_the_link_lies(self, work: Path) -> None:
        write(work.parent / "data", "plugins: [a]")
        (work / "repository" / "dataguard.yaml").symlink_to(work.parent / "data" / "dataguard.yaml")
        assert "inside DATA" in str(refused(".").why)

    def test_its_suite_stays_inside(self, work: Path) -> None:
        (work / "outside.yaml").write_text("expectations: []")
        write(work / "repository", "suite: ../outside.yaml")
        assert "lies elsewhere" in refused(".").what


def test_a_file_where_everybody_leaves_files_is_nobody_s(work: Path) -> None:
    write(work.parent, "suite: sft")
    assert options("../data")["suite"] == "sft"
    work.parent.chmod(0o1777)
    assert options("../data") == {}
    write(work, "suite: pretrain")
    assert options("../data")["suite"] == "pretrain"


def test_a_file_that_is_no_regular_file_is_none(work: Path) -> None:
    os.mkfifo(work / "dataguard.yaml")
    assert options("../data") == {}
