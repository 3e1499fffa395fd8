"""dataguard.yaml: the settings of a project, so that in its folder a command needs no option.

Keys have the names of `dataguard.validate`'s arguments. Like a suite it is understood as a whole or refused, with file and
line; relative paths in it are relative to the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dataguard.errors import nearest
from dataguard.result import Severity
from dataguard.suite.arguments import check
from dataguard.suite.document import Spot, shown
from dataguard.suite.files import read
from dataguard.suite.loading import files_named
from dataguard.suite.settings import check_columns, check_vocabulary, mapping
from dataguard.suite.shipped import shipped
from dataguard.suite.sizes import SIZE, bytes_of
from dataguard.vocabulary.hub_cache import cached_snapshot

NAME = "dataguard.yaml"

Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


class SamplerSettings(BaseModel):
    """How the run samples the rows: `sampler` of a dataguard.yaml."""

    model_config = ConfigDict(extra="forbid")

    world_size: Count = Field(1, description="Number of ranks.")
    batch_size: Count = Field(1, description="Rows in a batch of one rank.")
    epochs: Count = Field(2, description="Epochs to look at.")
    seed: Annotated[int, Field(ge=0)] = Field(0, description="Of the sampler.")
    shuffle: bool = Field(default=True, description="Whether the sampler shuffles.")
    drop_last: bool | Literal["none", "both", "sampler", "loader"] = Field(
        "none", description="What is left out: none, both (or true), sampler, loader."
    )
    num_workers: Annotated[int, Field(ge=0)] = Field(0, description="Workers of each rank's loader.")
    grad_accum: Count = Field(1, description="Batches of a rank in a step of the optimizer.")


class ProjectSettings(BaseModel):
    """What a dataguard.yaml may hold; a key that is null is not given, but for `store`."""

    model_config = ConfigDict(extra="forbid")

    suite: Text | None = Field(None, description="A shipped suite, or a file.")
    columns: dict[str, Text] | None = Field(None, description="Which column plays a role: {input_ids: tokens}.")
    vocabulary: dict[str, Any] | None = Field(
        None, description="What no tokenizer tells: size, pad, special ids. Field by field it wins over the suite's."
    )
    tokenizer: Text | None = Field(
        None, description="tokenizer.json, a tokenizer's folder, or a hub name in the local cache."
    )
    model: Text | None = Field(None, description="A model's folder; no weights are loaded.")
    vocab_size: Count | None = Field(None, description="Ids from 0 up to this, less one, are allowed.")
    max_length: Count | None = Field(None, description="Longest row that the trainer takes.")
    parameters: dict[str, Any] | None = Field(None, description="Values of the suite's parameters.")
    source_from: Literal["column", "path", "none"] | None = Field(None, description="What says a row's source.")
    fail_on: Severity | None = Field(None, description="Least severity whose failures make the exit status 1.")
    head: Count | None = Field(None, description="Judge the first so many rows of each shard; the report is partial.")
    out: Text | None = Field(None, description="Folder for report.json, rejected.parquet and the quarantine.")
    quarantine: bool | None = Field(None, description="Copy the rejected rows into a data set of their own.")
    quarantine_limit: Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=SIZE)] | None = Field(
        None, description="Most bytes of rows to copy: 10GiB."
    )
    clean: bool | None = Field(None, description="Write the rows that remain as well.")
    reports: list[Text] | None = Field(
        None, description="Reports: console, json, html, junit, sarif, markdown, github."
    )
    jobs: Count | None = Field(None, description="Units that are scanned at once.")
    store: Text | None = Field(None, description="Folder that keeps numbers between runs; auto; null keeps none.")
    sampler: dict[str, Any] | None = Field(
        None,
        description="How the run samples the rows; what it deals is then judged, too: {world_size: 8, batch_size: 4}.",
    )
    plugins: list[Text] | None = Field(None, description="Modules that give further expectations; they are imported.")


@dataclass(frozen=True)
class Project:
    """A project file that has been understood.

    Args:
        file: As people are told of it.
        settings: What it gives, by the names of `dataguard.validate`'s arguments; paths are relative to the working
            directory (or absolute), sizes are bytes.
    """

    file: Path
    settings: Mapping[str, Any]


def read_project(
    file: Path, refused: Mapping[str, tuple[str, str]] | None = None, *, confined: bool = False
) -> Project:
    """Return what a project file says.

    Args:
        file: Its path; relative to the working directory, or absolute.
        refused: Keys that this file may not set, each with the reason and what to do.
        confined: The suite that it names must lie in its folder.

    Raises:
        SuiteError: Anything in it cannot be understood, or is not for it to say.
    """
    document = read(file)
    given = mapping(document.value, NAME, document.top, ProjectSettings.model_fields)
    for key in given:
        if refused and key in refused:
            why, fix = refused[key]
            raise (document.top / key).error(f"{key} cannot be set in this {NAME}", why=why, fix=fix)
    check(ProjectSettings, NAME, given, document.top)
    settings = {key: value for key, value in given.items() if value is not None or key == "store"}
    check_columns(settings.get("columns", ()), document.top / "columns")
    check_vocabulary(settings.get("vocabulary", {}), document.top / "vocabulary")
    if "sampler" in settings:
        check(SamplerSettings, "sampler", settings["sampler"], document.top / "sampler")
    for key, place in PLACES.items():
        if settings.get(key) is not None:
            settings[key] = place(settings[key], file.parent, document.top / key)
    if confined and isinstance(settings.get("suite"), Path):
        _demand_inside("suite", settings["suite"], file.parent, document.top / "suite")
        for path, spot in files_named(read(settings["suite"]), settings.get("parameters", {})):
            _demand_inside("file", settings["suite"].parent / path, file.parent, spot)
    if isinstance(limit := settings.get("quarantine_limit"), str):
        settings["quarantine_limit"] = bytes_of(limit)
    return Project(file, settings)


def _suite(named: str, folder: Path, spot: Spot) -> str | Path:
    """Return a shipped suite's name as it is, else the file."""
    known, path = shipped(), folder / named
    if named in known:
        return named
    if not os.path.isfile(path):  # noqa: PTH113 (Path.is_file raises on names that are too long)
        why = f"it is neither a shipped suite nor a file beside this one: {path}"
        raise spot.error(f"there is no suite {shown(named)}", why=why, fix=nearest(named, known))
    return path


def _tokenizer(named: str, folder: Path, spot: Spot) -> Path:
    """Return the file or folder, or what the local hub cache holds under the name."""
    path = folder / named
    if os.path.exists(path):  # noqa: PTH110 (as above)
        return path
    cached = cached_snapshot(named)
    if cached is None:
        why = f"there is no {path}, and the local hub cache does not hold that name (nothing is downloaded)"
        raise spot.error(f"there is no {spot} {shown(named)}", why=why, fix=f"paths are relative to this {NAME}")
    return cached


def _folder(named: str, folder: Path, _spot: Spot) -> Path:
    return folder / named


def _store(named: str, folder: Path, _spot: Spot) -> str | Path:
    return named if named == "auto" else folder / named


PLACES = {"suite": _suite, "tokenizer": _tokenizer, "model": _tokenizer, "out": _folder, "store": _store}
"""What a path in the file means, by key."""


def _demand_inside(what: str, path: Path, folder: Path, spot: Spot) -> None:
    """Refuse a path that leads out of a folder, by its name or by a link."""
    if not path.resolve().is_relative_to(folder.resolve()):
        why = f"a {NAME} that lies with the data may only name a suite that lies there too, as must the files that it names"
        raise spot.error(f"the {what} {shown(str(path))} lies elsewhere", why=why, fix="name the suite with --suite")
