"""The faulty fixtures: built the same every time, and judged as their .expected.json say."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard

FOLDERS = ("faulty", "faulty_sft")
both_folders = pytest.mark.parametrize("folder", FOLDERS)


@pytest.fixture(scope="module")
def rebuilt(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("built")
    script = runpy.run_path(str(fixtures / "build.py"))
    script["build_pretrain"](built / "faulty")
    script["build_sft"](built / "faulty_sft")
    return built


def rows(path: Path) -> list[Any]:
    """Return a stream's rows, as far as they can be read."""
    batches: list[pa.RecordBatch] = []
    with pa.ipc.open_stream(path) as reader:
        try:
            batches.extend(reader)
        except (pa.ArrowInvalid, OSError):  # the shard that was cut
            batches.append(pa.record_batch({"cut": [path.stat().st_size]}))
    return [row for batch in batches for row in batch.to_pylist()]


@both_folders
def test_are_what_the_script_builds(folder: str, fixtures: Path, rebuilt: Path):
    names = sorted(path.name for path in (fixtures / folder).iterdir())
    assert sorted(path.name for path in (rebuilt / folder).iterdir()) == names
    for name in (*names, f"../{folder}.expected.json"):
        ours, anew = fixtures / folder / name, rebuilt / folder / name
        if ours.suffix == ".arrow":
            assert rows(anew) == rows(ours), name
        else:
            assert anew.read_bytes() == ours.read_bytes(), name


@both_folders
def test_are_judged_as_expected(folder: str, fixtures: Path):
    expected = json.loads((fixtures / f"{folder}.expected.json").read_text("utf-8"))
    options = dict(zip(expected["arguments"][::2], expected["arguments"][1::2], strict=True))
    size = options.get("--vocab-size")
    result = dataguard.validate(fixtures / folder, vocab_size=None if size is None else int(size), store=None)
    assert not result.success
    assert found_rows(result.to_dict()) == planted_rows(expected)
    assert found_sources(result.to_dict()) == {
        (kind, *found) for kind, every in expected["sources_by_type"].items() for found in every
    }


def planted_rows(expected: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {(kind, *found) for kind, every in expected["rows_by_type"].items() for found in every}


def entries(report: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (result["expectation_config"]["type"], entry)
        for result in report["results"]
        for entry in result["result"]["partial_unexpected_index_list"]
    ]


def found_rows(report: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {
        (kind, entry["shard"], entry.get("row"), entry["reason"]) for kind, entry in entries(report) if "shard" in entry
    }


def found_sources(report: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {
        (kind, entry["source"], entry["reason"])
        for kind, entry in entries(report)
        if "source" in entry and "shard" not in entry
    }
