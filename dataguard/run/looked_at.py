"""The files that a run may look at: what a verdict depends on beside the arguments and the code.

More is watched than a run reads: then a verdict is at worst found anew. What is forgotten here would be a verdict that is
believed though it no longer holds; `tests/run/test_memory.py` compares this with the files that runs open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataguard.run.dataset import paths_of
from dataguard.run.unchanged import Watched
from dataguard.shards.files import is_folder
from dataguard.shards.hf import DATASET_DICT, INFO, STATE
from dataguard.shards.manifests import INDEX
from dataguard.vocabulary.hub_cache import cache_folder, looks_like_hub_name
from dataguard.vocabulary.model_folder import CONFIG
from dataguard.vocabulary.tokenizer_files import KNOWN as TOKENIZER

if TYPE_CHECKING:
    from dataguard.run.run import Judged

PROJECT = "dataguard.yaml"


def watched_by(arguments: Mapping[str, Any], *, projects: bool) -> list[Watched]:
    """Return the places whose state a verdict depends on.

    Args:
        arguments: Of `dataguard.validate`, with what project files add.
        projects: Whether project files are looked for.
    """
    data = [_absolute(each) for each in paths_of(arguments["data"])]
    found = [watched for path in data for watched in _data(path)]
    if isinstance(suite := arguments.get("suite"), (str, Path)):
        found.append(Watched("file", _absolute(suite)))
    holders = list(_holders(data)) if projects else []
    for folder in holders:
        found += [Watched("file", folder), Watched("file", str(Path(folder, PROJECT)))]
    if (named := arguments.get("tokenizer")) is not None:
        found += _vocabulary(str(named), holders)
        found += [Watched("file", str(Path(_absolute(named)).parent / name)) for name in TOKENIZER]
    if (named := arguments.get("model")) is not None:
        found += _vocabulary(str(named), holders)
        if Path(named).name == CONFIG:
            found.append(Watched("whole", str(Path(_absolute(named)).parent)))
    return list(dict.fromkeys(found))


def found_by(judged: Judged) -> list[Watched]:
    """Return the places that only a run could name: files that its suite names, and hidden ones that manifests do.

    The folders that lead to a file of the suite are watched, too: out of each it may be taken.
    """
    expectations = [each.expectation for each in judged.rows.suite.expectations]
    named = [getattr(each, name) for each in expectations for name in each.paths]
    files = [Path(_absolute(path)) for path in named if path is not None]
    hidden = [Path(_absolute(path)) for each in judged.dataset.manifests for path in each.hidden]
    places = [place for path in files for place in (path, *path.parents)] + hidden
    return list(dict.fromkeys(Watched("file", str(place)) for place in places))


def _absolute(path: Any) -> str:
    """Return a path from the root, without taking `..` out: what stands before it may be a link."""
    return str(Path.cwd() / path)


def _data(path: str) -> Iterator[Watched]:
    """Yield what is looked at for one path of DATA: itself, what lies beside a file, and whether it is a split of more."""
    yield Watched("tree", path)
    folder = Path(path)
    if not is_folder(folder):
        folder = folder.parent
        names = (STATE, INFO, INDEX, DATASET_DICT, *TOKENIZER, *(f"tokenizer/{name}" for name in TOKENIZER))
        yield from (Watched("file", str(folder / name)) for name in names)
    yield Watched("file", str(folder.parent / DATASET_DICT))


def _vocabulary(named: str, holders: Sequence[str]) -> Iterator[Watched]:
    """Yield what is looked at for a tokenizer or a model: a path, or what the hub's cache holds under its name.

    Args:
        holders: Folders that may hold a project file, beside which a path would come before a name of the hub.
    """
    path = Path(_absolute(named))
    yield Watched("whole", str(path))
    if looks_like_hub_name(named):
        yield Watched("whole", str(cache_folder() / f"models--{named.replace('/', '--')}"))
    if path.parent.name == "snapshots":  # the hub's cache: a project file has named it
        hub = path.parent.parent
        yield Watched("whole", str(hub))
        name = hub.name.removeprefix("models--").replace("--", "/")
        yield from (Watched("file", str(Path(folder, name))) for folder in holders)


def _holders(data: Sequence[str]) -> Iterator[str]:
    """Yield every folder that may hold the project file of the working directory or of DATA."""
    for path in (".", *data):
        folder = Path(os.path.abspath(path))  # noqa: PTH100 -- as `run.project` does it
        yield from map(str, (folder, *folder.parents))
