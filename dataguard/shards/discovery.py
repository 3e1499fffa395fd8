"""Which files of DATA are shards.

A file that DATA names is one, whatever it holds. In a folder the name's suffix decides, or the content where that holds tokens.
Names that begin with a dot or an underscore, what `datasets` leaves beside its files, outputs of dataguard, and sidecars that
are no tables are none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dataguard.errors import DataError, ShardFault
from dataguard.shards.files import ShardFile, is_file, is_folder
from dataguard.shards.hf import DATASET_DICT, SavedState, is_own_output, saved_state, split_of
from dataguard.shards.manifest import Manifest, Selected
from dataguard.shards.manifests import manifests_of
from dataguard.shards.model import Shard
from dataguard.shards.names import CLEAN_MARK, is_hidden, is_left_by_datasets, is_shard, is_sidecar, printable
from dataguard.shards.sniffing import HEAD, SHARDS, TABLES, Kind, recognise

_MOST_TOLD = 10
_SHORTEST = 8
"""Bytes below which a file without a shard's suffix is not looked at: half a magic is no shard."""

_REMOTE = re.compile("([A-Za-z][A-Za-z0-9+.-]+):/([^/].*)")
"""An address (s3://bucket/folder) as a path has it, which makes one slash of two."""


@dataclass(frozen=True)
class Discovery:
    """The shards of DATA.

    Args:
        shards: In the order of DATA, each folder's sorted by name; their names are unique.
        ignored: What lies in DATA's folders and is no shard, with the reason. A folder's name ends with `/`.
        notes: What else is worth telling, such as a data set that was saved without rows.
        manifests: What the files beside the shards say of them.
    """

    shards: tuple[Shard, ...]
    ignored: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    manifests: tuple[Manifest, ...] = ()


def discover(data: Sequence[Path]) -> Discovery:
    """Return the shards of files and folders; paths are taken literally.

    Raises:
        DataError: A path does not exist, a folder cannot be listed, or there is no shard at all.
    """
    arguments = [_Argument.walked(path) for path in data]
    found = list(_each_once(arguments))
    more = _parts_to_tell_apart(found)
    before = {root: _before(root, more) for root, _ in found}
    shards = [replace(shard, name=before[root] + shard.name) for root, shard in found]
    ignored = [each for argument in arguments for each in argument.ignored]
    notes = [each for argument in arguments for each in argument.notes]
    if not shards:
        raise _nothing_found(data, ignored, notes)
    return Discovery(tuple(shards), tuple(ignored), tuple(notes), tuple(_manifests(arguments, shards, more)))


@dataclass(frozen=True)
class _Folder:
    """One folder on the way down.

    Args:
        prefix: What its path inside DATA is, with `/` behind it; empty for DATA itself.
    """

    path: Path
    prefix: str
    top: str | None
    split: str | None

    def inner(self, name: str) -> _Folder:
        split = name if is_file(self.path / DATASET_DICT) else self.split
        return _Folder(self.path / name, f"{self.prefix}{name}/", self.top or name, split)


@dataclass
class _Argument:
    """What one of DATA's paths leads to."""

    root: Path
    shards: list[Shard] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    folders: list[tuple[Path, str]] = field(default_factory=list)
    """Every folder that was walked, with what its path inside DATA is."""

    @classmethod
    def walked(cls, path: Path) -> _Argument:
        if not os.path.lexists(path):
            raise _missing(path)
        if not is_folder(path):
            argument = cls(path.parent)
            split = split_of(path.absolute().parent)
            argument.shards.append(Shard(printable(path.name), path, split=split, is_named=True))
            return argument
        argument = cls(path)
        try:
            argument._walk(_Folder(path, "", None, split_of(path.absolute())))
        except OSError as error:
            raise DataError("DATA cannot be listed", where=str(path), why=error.strerror or str(error)) from error
        return argument

    def _walk(self, root: _Folder) -> None:
        """Take in a folder and all below it, depth first, without recursion: a path may be deeper than Python's stack."""
        ways = [self._entries(root)]
        while ways:
            folder = next(ways[-1], None)
            if folder is None:
                ways.pop()
                continue
            try:
                ways.append(self._entries(folder))
            except OSError:
                # Shards may lie in it that cannot be seen: opening it gives the finding.
                self._add(folder, folder.path, folder.prefix)

    def _entries(self, folder: _Folder) -> Iterator[_Folder]:
        """Take in a folder's files; return an iterator that does so as it goes, and yields the folders to enter.

        Raises:
            OSError: At once, where the folder cannot be listed.
        """
        status = folder.path.stat()
        self.seen.add((status.st_dev, status.st_ino))
        return self._sorted_entries(folder, sorted(entry.name for entry in folder.path.iterdir()))

    def _sorted_entries(self, folder: _Folder, names: list[str]) -> Iterator[_Folder]:
        self.folders.append((folder.path, printable(folder.prefix)))
        state = saved_state(folder.path)
        if state is not None:
            folder = replace(folder, split=folder.split or state.split)
            if state.is_empty:
                where = printable(folder.prefix.rstrip("/")) or printable(str(folder.path))
                self.notes.append(f"{where} is a data set that was saved without rows: its state.json lists no file")
        for name in names:
            if name == CLEAN_MARK:
                continue
            path, known_as = folder.path / name, folder.prefix + name
            if is_folder(path):
                why = _hidden(name) or self._not_entered(path)
                if why is None:
                    yield folder.inner(name)
                else:
                    self.ignored.append((printable(known_as) + "/", why))
            elif (why := _hidden(name) or _no_shard(path, name, state)) is None:
                self._add(folder, path, known_as)
            else:
                self.ignored.append((printable(known_as), why))

    def _not_entered(self, path: Path) -> str | None:
        """Return why a folder is left out."""
        if path.name == "lost+found":
            return "the file system's own, which only root may list"
        try:
            status = path.stat()
        except OSError:
            return None  # listing it will fail too, and become a finding
        if (status.st_dev, status.st_ino) in self.seen:
            return "a link to a folder that has been read already"
        return "an output of dataguard" if is_own_output(path) else None

    def _add(self, folder: _Folder, path: Path, known_as: str) -> None:
        top = None if folder.top is None else printable(folder.top)
        split = None if folder.split is None else printable(folder.split)
        self.shards.append(Shard(printable(known_as), path, folder=top, split=split))


def _hidden(name: str) -> str | None:
    return f"its name begins with {name[0]}" if is_hidden(name) else None


def _no_shard(path: Path, name: str, state: SavedState | None) -> str | None:
    """Return why a file of a folder is no shard; None where it is one."""
    if state is not None and (why := _not_of_the_data_set(name, state)) is not None:
        return why
    if is_shard(name):
        return None
    try:
        kind = _kind(path)
    except ShardFault as fault:
        return f"its name has no shard's suffix, and it cannot be read: {fault.detail}"
    if is_sidecar(name):
        return None if kind in TABLES else "a sidecar"
    if kind in SHARDS:
        return None
    what = "nothing recognises it" if kind is None else f"it is {kind.value}"
    return f"{what}, and its name has no shard's suffix"


def _not_of_the_data_set(name: str, state: SavedState) -> str | None:
    if name in state.indices:
        return "it holds the numbers of rows, says state.json"
    if is_left_by_datasets(name) and name not in (state.listed or ()):
        return "left by datasets beside a state.json that does not list it"
    return None


def _kind(path: Path) -> Kind | None:
    with ShardFile(path) as file:
        return recognise(file.read(0, min(HEAD, file.size))) if file.size >= _SHORTEST else None


def _parts_to_tell_apart(found: Sequence[tuple[Path, Shard]]) -> int:
    """Return how many parts of DATA's own paths must stand before the shards' names for no two to be the same."""
    roots = {root: len(root.absolute().parts) for root, _ in found}
    for more in range(max(roots.values(), default=0) + 1):
        before = {root: _before(root, more) for root in roots}
        if len({before[root] + shard.name for root, shard in found}) == len(found):
            return more
    raise AssertionError([shard.name for _, shard in found])  # whole paths differ


def _before(root: Path, more: int) -> str:
    """Return the last parts of a path of DATA as they stand before names, with `/` behind them."""
    return "".join(f"{printable(part)}/" for part in _last(root.absolute().parts, more))


def _last(parts: Sequence[str], count: int) -> Sequence[str]:
    return parts[max(0, len(parts) - count) :]


def _each_once(arguments: Sequence[_Argument]) -> Iterator[tuple[Path, Shard]]:
    """Yield (root, shard); a file that several of DATA's paths lead to once.

    Links inside one folder are that data set's own affair, and are shards of their own.
    """
    seen: set[str] = set()
    for argument in arguments:
        real = [os.path.realpath(shard.path or "") for shard in argument.shards] if len(arguments) > 1 else []
        for place, shard in enumerate(argument.shards):
            if not real or real[place] not in seen:
                yield argument.root, shard
        seen.update(real)


def _manifests(arguments: Sequence[_Argument], shards: Sequence[Shard], more: int) -> Iterator[Manifest]:
    """Yield the manifests of every folder that was walked, and of those whose files are named."""
    parents: dict[Path, dict[str, str]] = {}
    for shard in shards:
        if shard.path is not None:
            parents.setdefault(shard.path.parent, {})[shard.path.name] = shard.name
    inside: dict[str, dict[str, str]] = {}
    for parent, names in parents.items():
        inside.setdefault(os.path.realpath(parent), {}).update(names)
    walked = {
        os.path.realpath(path): Selected(path, _before(argument.root, more) + prefix, is_whole=True)
        for argument in arguments
        for path, prefix in argument.folders
    }
    for folder in dict.fromkeys([*walked, *inside]):
        selected = walked.get(folder) or Selected(Path(folder), "", is_whole=False)
        yield from manifests_of(replace(selected, shards=inside.get(folder, {})))


def _missing(path: Path) -> DataError:
    if remote := _REMOTE.fullmatch(str(path)):
        what, fix = "DATA must be on this machine", "copy or mount it, and name the local folder"
        return DataError(what, where=f"{remote[1]}://{remote[2]}", why=f"{remote[1]} is not read yet", fix=fix)
    whole = path.absolute()
    there = next((parent for parent in whole.parents if is_folder(parent)), whole.parent)
    first = whole.relative_to(there).parts[0]
    return DataError(
        "DATA does not exist", where=str(path), why=f"there is no {first} in {there}", fix="check the path"
    )


def _nothing_found(data: Sequence[Path], ignored: Sequence[tuple[str, str]], notes: Sequence[str]) -> DataError:
    where = ", ".join(printable(str(path)) for path in data)
    told = [f"{name} ({why})" for name, why in ignored[:_MOST_TOLD]]
    if len(ignored) > _MOST_TOLD:
        told.append(f"and {len(ignored) - _MOST_TOLD:,} more")
    looked = f"what lies there is no shard: {'; '.join(told)}" if told else "nothing lies there"
    if notes:
        return DataError(
            "the data set is empty", where=where, why="; ".join(notes), fix="write it again, with its rows"
        )
    fix = "name a folder with Arrow or Parquet files, or the files themselves"
    return DataError("DATA holds no shards", where=where, why=looked, fix=fix)
