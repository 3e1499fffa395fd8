"""What is known before a row is read: which tokenizer is taken without being told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dataguard.run.ready import get_ready
from dataguard.run.request import Request


@pytest.mark.parametrize("told", ["model", "model/config.json", "owner/name"])
def test_the_models_own_tokenizer_is_taken_before_one_beside_the_data(
    told: str, fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "hub" / "models--owner--name" / "snapshots" / ("0" * 40)
    for model in (tmp_path / "model", snapshot):
        shutil.copytree(fixtures / "tokenizers" / "mistral-v1", model)
        (model / "config.json").write_text(json.dumps({"vocab_size": 50304}))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    ready = get_ready(Request(fixtures / "faulty", model=told))  # fixtures/faulty has a tokenizer.json
    assert ready.context.vocabulary.size == 32000
    assert not any("beside the data" in each for each in ready.taken)
