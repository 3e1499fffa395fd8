"""Which project files hold for a run, how far each is trusted, and what they add to the options of the command line.

An option wins over the working directory's file, that over DATA's, and all of them over the suite. Columns, vocabulary and
parameters are joined name by name; plugins are added.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dataguard.errors import SuiteError
from dataguard.suite.project import NAME, Project, ProjectSettings, read_project

FROM_DATA = ("columns", "vocabulary", "suite")
"""What a file may set that the working directory does not vouch for."""
NEVER_INSIDE = ("plugins", "out", "store")
"""What a file inside DATA never sets: what runs code, and where something is written."""
JOINED = ("columns", "vocabulary", "parameters")
OPTIONS = {"columns": "--column", "parameters": "--set", "reports": "--report", "plugins": "--plugin"}
"""Options that are called otherwise than their key."""


def with_projects(
    data: Sequence[Path], told: Mapping[str, Any], only: Collection[str] = tuple(ProjectSettings.model_fields)
) -> dict[str, Any]:
    """Return the options that were told, with what project files add to them.

    Args:
        data: DATA.
        told: Options of the command line, by the names of `dataguard.validate`'s arguments.
        only: Keys that the command takes; it leaves others alone.

    Returns:
        Arguments of `dataguard.validate`; `taken` says what came from which file, `columns_from` who asked for a column.

    Raises:
        SuiteError: A project file cannot be understood, or says what is not for it to say.
    """
    merged, taken = dict(told), []
    asked: dict[str, str] = {}
    for project in projects(data):
        asked |= {role: str(project.file) for role in project.settings.get("columns", ()) if role not in asked}
        settings = {key: value for key, value in _without_length(project, told).items() if key in only}
        used = [key for key, value in settings.items() if _add(merged, key, value)]
        if used:
            taken.append(f"{', '.join(used)} from {project.file}")
    if not taken:
        return merged
    asked = {role: file for role, file in asked.items() if role not in told.get("columns", {})}
    return {**merged, "taken": taken} | ({"columns_from": asked} if asked else {})


def _without_length(project: Project, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings without max_length, by either of its names, where the command line gives it by either."""
    settings = dict(project.settings)
    if "max_length" in told or "max_length" in told.get("parameters", {}):
        settings.pop("max_length", None)
        parameters = settings.get("parameters", {})
        settings["parameters"] = {name: value for name, value in parameters.items() if name != "max_length"}
    return settings


def _add(merged: dict[str, Any], key: str, value: Any) -> bool:
    """Add a setting below those that are there; return whether it changed anything."""
    if key in JOINED:
        before = merged.get(key, {})
        merged[key] = {**value, **before}
        if key == "vocabulary" and "special" in merged[key]:
            merged[key]["special"] = {**(value.get("special") or {}), **(before.get("special") or {})}
        return bool(merged[key] != before)
    if key == "plugins":
        merged[key] = list(dict.fromkeys((*value, *merged.get(key, ()))))
        return bool(value)
    if key in merged:
        return False
    merged[key] = value
    return True


def projects(data: Sequence[Path]) -> Iterator[Project]:
    """Yield the project files that hold, the one that wins first.

    Raises:
        SuiteError: One cannot be read, or says what is not for it to say; or DATA has several.
    """
    try:
        here = _upward(Path.cwd())
    except OSError:  # the working directory has been removed
        return
    if here is not None:
        folders = [path.resolve() for path in data if os.path.isdir(path)]  # noqa: PTH112 (as in _upward)
        inside = any(here.parent.resolve().is_relative_to(folder) for folder in folders)
        refused = {key: _inside(key) for key in NEVER_INSIDE} if inside else {}
        yield read_project(_shown(here), refused, confined=inside)
    with_data = _of_data(data, here)
    if with_data is not None:
        keys = [key for key in ProjectSettings.model_fields if key not in FROM_DATA]
        yield read_project(with_data, {key: _with_data(key, with_data) for key in keys}, confined=True)


def _of_data(data: Sequence[Path], here: Path | None) -> Path | None:
    """Return the project file of DATA, where it is not that of the working directory."""
    found: list[Path] = []
    for path in data:
        start = Path(os.path.abspath(path))  # noqa: PTH100 (links stay as they were named)
        file = _upward(start if os.path.isdir(start) else start.parent)  # noqa: PTH112 (as in _upward)
        if file is not None and not any(file.samefile(each) for each in [*found, *([here] if here else [])]):
            found.append(file if path.is_absolute() else _shown(file))
    if len(found) > 1:
        why = f"{found[0]} is another one, and one set of columns holds for all shards"
        raise SuiteError(
            f"DATA has several {NAME}", file=str(found[1]), why=why, fix="judge them one by one, or give --no-project"
        )
    return found[0] if found else None


def _upward(folder: Path) -> Path | None:
    """Return the project file in a folder, or in the nearest one above that has one.

    A folder where everybody leaves files (/tmp) is no project's: what lies there may be anybody's.
    """
    for each in (folder, *folder.parents):
        if os.path.isfile(each / NAME) and not _is_everybodys(each):  # noqa: PTH113 (Path.is_file may raise)
            return each / NAME
    return None


def _is_everybodys(folder: Path) -> bool:
    everybodys = stat.S_IWOTH | stat.S_ISVTX
    return folder.stat().st_mode & everybodys == everybodys


def _shown(file: Path) -> Path:
    """Return the path from the working directory, so that reports say the same wherever a project lies."""
    return Path(os.path.relpath(file))


def _instead(key: str) -> str:
    """Return what to do where a file may not set a key."""
    if key == "sampler":  # validate has no option for it
        return "give it to dataguard sampler"
    return "give " + OPTIONS.get(key, f"--{key.replace('_', '-')}")


def _inside(key: str) -> tuple[str, str]:
    why = "it lies inside DATA, and data may neither run code nor say where something is written"
    return why, f"{_instead(key)}, put the file above DATA, or leave it out with --no-project"


def _with_data(key: str, file: Path) -> tuple[str, str]:
    why = f"one that lies with DATA, and not in the working directory or above it, sets {', '.join(FROM_DATA)} alone"
    return why, f"{_instead(key)}, run the command in {file.parent}, or leave the file out with --no-project"
