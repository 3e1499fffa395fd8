"""A manifest: what a file beside shards says of their names, rows and tokens, compared with the files that are there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dataguard.shards.names import is_hidden, printable


@dataclass(frozen=True)
class Claim:
    """So many rows (or tokens) are in these shards together.

    Args:
        shards: Their names.
        said_by: The place in a manifest that says so.
        is_stale: It may tell of the data set from which these files were made: a difference is no fault.
    """

    shards: tuple[str, ...]
    said_by: str
    rows: int | None = None
    tokens: int | None = None
    is_stale: bool = False


@dataclass(frozen=True)
class ManifestFault:
    """What is wrong with a manifest, or between it and its folder.

    Args:
        reason: A reason code of `expect_shards_to_match_manifest`.
        shard: The file that it is about, or the manifest.
        detail: What was found, for people.
    """

    reason: str
    shard: str
    detail: str


@dataclass(frozen=True)
class Manifest:
    """What a manifest says of the selected shards.

    Args:
        name: Its path inside DATA.
        listed: How many shards it lists.
        faults: What is wrong already, before any shard is opened.
        claims: What the shards must hold.
        notes: What else is worth telling.
        hidden: Places that it was looked at for it, in folders that are not walked (`names.is_hidden`).
    """

    name: str
    listed: int = 0
    faults: tuple[ManifestFault, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Selected:
    """What DATA selects of one folder.

    Args:
        folder: The folder.
        prefix: What its path inside DATA is, with `/` behind it; empty for DATA itself.
        is_whole: Whether all of it is selected, or the shards alone, each by its own name.
        shards: {path inside the folder: name of the shard}.
    """

    folder: Path
    prefix: str
    is_whole: bool
    shards: Mapping[str, str] = field(default_factory=dict)

    def name(self, inside: str) -> str:
        """Return what reports call a path of the folder."""
        return self.shards.get(inside) or self.prefix + printable(inside)

    def hidden(self, inside: Iterable[str]) -> tuple[Path, ...]:
        """Return those of some paths of the folder that lie in folders which are not walked."""
        return tuple(self.folder / each for each in inside if any(map(is_hidden, PurePosixPath(each).parts[:-1])))


@dataclass
class Listing:
    """A manifest while it is read.

    Args:
        file: Its name in the selected folder.
        listed: Of each shard the names that it may have: as it is, or compressed.
    """

    selected: Selected
    file: str
    listed: list[tuple[str, ...]] = field(default_factory=list)
    faults: list[ManifestFault] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fault(self, reason: str, detail: str, inside: str | None = None) -> None:
        """Take note of a fault; `inside` is the path that it is about, where it is not the manifest."""
        self.faults.append(ManifestFault(reason, self.selected.name(inside or self.file), detail))

    def add(self, *names: str) -> None:
        """Take in a shard by the names that it may have; one that leads out of the folder is a fault."""
        for name in names:
            path = PurePosixPath(name)
            if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
                self.fault("bad_field", f"it lists {name!r}, which is no place inside its folder")
                return
        self.listed.append(tuple(str(PurePosixPath(name)) for name in names))

    def claim(self, names: Iterable[str], said_by: str, rows: int, *, is_stale: bool = False) -> None:
        """Take in how many rows some files hold together, where all of them are selected."""
        shards = [self.selected.shards.get(str(PurePosixPath(name))) for name in names]
        known = tuple(shard for shard in shards if shard is not None)
        if len(known) == len(shards):
            self.claims.append(Claim(known, said_by, rows, is_stale=is_stale))

    def compared(self) -> Manifest:
        """Return it, with what is missing in the folder, and what stands there unlisted."""
        for names, count in Counter(self.listed).items():
            if count > 1:
                self.fault("index_inconsistent", f"it lists {printable(names[0])} {count} times")
            there = not self.selected.is_whole or any(os.path.lexists(self.selected.folder / name) for name in names)
            if not there:
                self.fault("missing_shard", f"{self.file} lists it, but it is not there", names[0])
        known = {name for names in self.listed for name in names}
        for inside in self.selected.shards:
            if "/" not in inside and inside not in known:
                self.fault("unlisted_shard", f"{self.file} does not list it, so that loaders leave it out", inside)
        name, hidden = self.selected.prefix + self.file, self.selected.hidden(known)
        return Manifest(name, len(self.listed), tuple(self.faults), tuple(self.claims), tuple(self.notes), hidden)
