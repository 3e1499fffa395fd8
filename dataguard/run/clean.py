"""The clean copy: the rows that remain, in files like those that they come from.

Every intact shard is read once more and written without its rejected rows; nothing is held but some batches of each worker.
Arrow and Parquet stay what they are; rows in memory become a data set that `datasets.load_from_disk` opens.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import xxhash

from dataguard.engines import threads
from dataguard.errors import OutputError, ShardFault
from dataguard.run.clean_places import folder_of, folders_of
from dataguard.run.clean_states import Copied, CopiedFolder, write_states
from dataguard.run.clean_tables import write_tables
from dataguard.run.copies import Copy, copy_to
from dataguard.run.damaged import not_copied
from dataguard.run.dataset import Dataset
from dataguard.run.remaining import Kept, kept_rows, with_fingerprint
from dataguard.run.request import Request
from dataguard.run.writing import writing
from dataguard.shards.form import form_of
from dataguard.shards.model import Shard
from dataguard.shards.names import CLEAN_MARK
from dataguard.shards.nbytes import nbytes_of
from dataguard.version import __version__

MOST_AT_ONCE = 4
"""Shards copied at once: each may hold a row group of Parquet, and disks are not faster for more."""


@dataclass(frozen=True)
class CleanSummary:
    """What a clean copy holds."""

    written: bool
    rows: int = 0
    bytes: int = 0
    shards: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for the report."""
        return asdict(self)


def write_clean(
    place: Path,
    dataset: Dataset,
    intact: Sequence[bool],
    rejected: Path,
    *,
    fingerprint: str | None,
    request: Request,
) -> CleanSummary:
    """Write the rows that remain; nothing where no shard is intact.

    Args:
        place: The folder to make, which must not exist.
        dataset: The shards that were judged.
        intact: Whether each of them can be trusted; the others are left out.
        rejected: rejected.parquet: shard, row, types, reasons.
        fingerprint: Of the tokenizer, recorded with every shard that does not record one already.
        request: Says how many shards are copied at once, and who is told.

    Raises:
        OutputError: The file system refuses, or a shard changed since it was judged.
        FoundLate: A shard is not intact.
    """
    if not any(intact):
        return CleanSummary(written=False)
    with writing(place):
        place.mkdir()
        mark = {"dataguard": __version__, "what": "the rows that remain of a data set"}
        (place / CLEAN_MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8")
    kept = kept_rows(dataset, intact, rejected)
    rows = sum(opened.rows for opened, whole in zip(dataset.opened, intact, strict=True) if opened and whole)
    request.watch.start(rows, "copying")
    try:
        if any(shard.path is None for shard in dataset.shards):
            copied = write_tables(place, kept, fingerprint)
        else:
            copied = _Copying(place, dataset, fingerprint, request).run(kept)
    finally:
        request.watch.stop()
    return CleanSummary(True, sum(each.rows for each in copied), sum(each.bytes for each in copied), len(copied))


class Stopped(Exception):
    """Nobody wants the rest any more."""


@dataclass
class _Copying:
    """Copies shards that are files, several at once."""

    place: Path
    dataset: Dataset
    fingerprint: str | None
    request: Request
    stopped: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None

    def run(self, kept: Iterator[Kept]) -> list[Copied]:
        folders = folders_of(self.dataset.shards)
        files: dict[Path, dict[str, Copied]] = {}
        tasks = ((each, self._target(each.shard, folders)) for each in kept)
        copies = threads.run(self._noted, tasks, min(self.request.jobs, MOST_AT_ONCE), self.stopped)
        try:
            with closing(copies):  # whatever ends this, nobody copies into a staging that is being removed
                for shard, copied in copies:
                    self.request.watch.advance(copied.rows, 0)
                    if shard.path is not None:
                        files.setdefault(folder_of(shard.path), {})[shard.path.name] = copied
        except Stopped:
            raise self.error or Stopped from None
        write_states(self.place, [CopiedFolder(origin, folders[origin], names) for origin, names in files.items()])
        return [copied for names in files.values() for copied in names.values()]

    def _target(self, shard: Shard, folders: dict[Path, PurePath]) -> Path:
        assert shard.path is not None
        return self.place / folders[folder_of(shard.path)] / shard.path.name

    def _noted(self, task: tuple[Kept, Path]) -> tuple[Shard, Copied]:
        """Copy a shard; where that fails, keep the reason: a shard before it may be stopped for it, and be asked first."""
        try:
            return self._copy(task)
        except Exception as error:
            if not isinstance(error, Stopped):
                self.error = self.error or error
            raise

    def _schema(self, kept: Kept) -> pa.Schema:
        assert kept.shard.path is not None
        return with_fingerprint(kept.opened.schema, self.fingerprint, folder_of(kept.shard.path))

    def _copy(self, task: tuple[Kept, Path]) -> tuple[Shard, Copied]:
        kept, path = task
        digest = xxhash.xxh3_64()
        copy: Copy | None = None
        rows = size = 0
        try:
            form = form_of(kept.opened)
            assert form is not None
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                copy = copy_to(path, self._schema(kept), form, digest)
                for batch, ends in kept.batches():
                    if self.stopped.is_set():
                        raise Stopped
                    copy.write(batch, ends_group=ends)
                    rows, size = rows + batch.num_rows, size + nbytes_of(batch)
                copy.end()
        except ShardFault as fault:
            raise not_copied("the clean copy", kept.shard.name, fault) from fault
        except pa.ArrowException as error:
            why = str(error).partition("\n")[0]
            fix = f"leave out --clean, or write the shard anew as Arrow ({kept.opened.layout} cannot hold its columns)"
            raise OutputError("the clean copy cannot be written", where=kept.shard.name, why=why, fix=fix) from error
        finally:
            if copy is not None and not copy.sink.closed:
                copy.abandon()
        return kept.shard, Copied(rows, size, digest.hexdigest())
