"""The output folder of a run: everything appears in it whole, or not at all.

What a run makes is written into a hidden staging folder inside OUT, so that placing it is a rename on one file system.
report.json comes last: what it speaks of is there when it is. A run that is killed leaves the former outputs as they
were, and a staging folder that the next run removes.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from dataguard.errors import OutputError
from dataguard.reports.files import FILES, PAGE
from dataguard.run.exchange import exchange
from dataguard.run.locks import hold, is_held, locked
from dataguard.run.unchanged import Watched, state_of
from dataguard.run.writing import writing
from dataguard.shards.hf import DATASET_DICT, INFO, STATE
from dataguard.shards.names import CLEAN_MARK, STAGING

QUARANTINE, CLEAN = "quarantine", "clean"
REJECTED, RECORD, RUN, REPORT = "rejected.parquet", "shards.parquet", "run.json", "report.json"
FOLDERS = (QUARANTINE, CLEAN)
FORMS = (*(each.file for each in FILES.values()), PAGE)
"""The forms of a report that are written where they are asked for; each names dataguard near its beginning."""
MARK = "Rows that dataguard set aside"
"""The description in a quarantine's dataset_info.json: what tells it from a folder of somebody else's."""
FORMER = ".former-"
NEAR = 400
"""Bytes at the beginning of a form of a report that name dataguard."""
A_DAY = 24 * 3600


class Outputs:
    """Where a run writes, and how what it wrote gets into its place. A context manager: leaving it removes the staging.

    Args:
        place: OUT, which exists.
        made: The folders that were made for it, outermost first; removed at the end where nothing came into them.
        named: What the user calls OUT.
    """

    def __init__(self, place: Path, made: Sequence[Path] = (), named: Path | None = None) -> None:
        self.place, self._named = place, named or place
        self.sealed = ""
        """The state of OUT when everything had been placed (`state_of_outputs`)."""
        self._state = "is as it was before"
        self.staging = place / f"{STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        self._made = made
        self.staging.mkdir()
        self._lock = hold(self.staging)

    def path(self, name: str) -> Path:
        """Return where to write an output that shall be called `name` in OUT."""
        return self.staging / name

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, to be placed as `name`.

        Raises:
            OutputError: It cannot be written.
        """
        with writing(self.place / name):
            self.path(name).write_text(text, encoding="utf-8")

    def clear(self) -> None:
        """Remove what was staged so far."""
        for entry in self.staging.iterdir():
            _remove(entry)

    def commit(self, *, whole: bool = True) -> list[str]:
        """Exchange everything that was staged into its place, report.json last.

        A quarantine, a clean copy or a form of the report that an earlier run left goes when this run has none, so that it is
        never taken for this run's.

        Args:
            whole: Whether this is all that OUT shall hold of a run; False leaves what else is there alone.

        Returns:
            The names of what went so.

        Raises:
            OutputError: Something cannot be placed.
        """
        names = [entry.name for entry in self.staging.iterdir()]
        self._state = "holds outputs of two runs, run again"
        with locked(self.place):
            former = [*FOLDERS, *(name for name in FORMS if _is_our_form(self.place / name))]
            gone = [name for name in former if whole and name not in names and self._retire(self.place / name)]
            for name in sorted(names, key=lambda name: (name == REPORT, name not in FOLDERS, name)):
                with writing(self.place / name):
                    self._place(name)
            self.sealed = state_of_outputs(self.place)
        self._state = "holds what this run wrote"
        return gone

    def _place(self, name: str) -> None:
        new, place = self.path(name), self.place / name
        if not new.is_dir():
            new.replace(place)
        elif not os.path.lexists(place):
            new.rename(place)
        elif not exchange(new, place):
            former = self.place / f"{FORMER}{name}"
            place.rename(former)
            new.rename(place)
            self._retire(former)

    def _retire(self, place: Path) -> bool:
        """Take something away; return whether it was there."""
        if not os.path.lexists(place):
            return False
        with writing(place):
            place.rename(self.staging / f".gone-{secrets.token_hex(4)}")
        return True

    def close(self) -> None:
        """Remove the staging folder and whatever was not placed."""
        try:
            shutil.rmtree(self.staging, ignore_errors=True)
        finally:  # Ctrl-C may have ended the removal
            _remove(self.staging)
        os.close(self._lock)
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the staging; whoever interrupted the run is told what has become of OUT."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            error.add_note(f"{self._named} {self._state}")
        self.close()


def state_of_outputs(place: Path) -> str:
    """Return what tells whether anything in OUT was touched since a run wrote it, but for run.json and what runs stage."""
    run, passing = str(place / RUN), (str(place / STAGING), str(place / FORMER))
    return state_of([Watched("whole", str(place))], lambda path: path == run or path.startswith(passing)).digest


def write_again(out: Path, name: str, text: str, sealed: str) -> bool:
    """Replace one text file of a finished run, where OUT is as that run left it.

    Args:
        sealed: The state in which it left it.

    Returns:
        Whether OUT was so; if not, nothing is written.

    Raises:
        OutputError: It cannot be written.
    """
    place = out.absolute().resolve()
    if not place.is_dir():
        return False
    with writing(out / name), locked(place):
        if state_of_outputs(place) != sealed:
            return False
        staged = place / f"{STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            staged.write_text(text, encoding="utf-8")
            staged.replace(place / name)
        finally:
            staged.unlink(missing_ok=True)
    return True


def prepare(out: Path, data: Sequence[Path], forms: Sequence[str] = ()) -> Outputs:
    """Make OUT ready, and prove that it can be written, before any long work.

    Args:
        out: The output folder; made where it is missing.
        data: The files and folders that are judged; none of them may come to harm.
        forms: Names of further files that will be written; each names dataguard near its beginning.

    Raises:
        OutputError: OUT cannot be written, or holds (or is held by) what must not be overwritten.
    """
    place = out.absolute().resolve()
    _refuse_data(place, out, data)
    with writing(out, "the output folder cannot be used"):
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file of this name is in the way")
        made = [folder for folder in (*reversed(place.parents), place) if not folder.exists()]
        place.mkdir(parents=True, exist_ok=True)
        with locked(place):
            _repair(place)
            _refuse_foreign(place, out, forms)
            _sweep(place)
            outputs = Outputs(place, made, out)
    try:
        with writing(out, "the output folder cannot be used"):
            probe = outputs.path("probe")
            probe.write_bytes(bytes(4096))
            probe.unlink()
    except BaseException:  # Ctrl-C too: nobody else knows of the staging yet
        outputs.close()
        raise
    return outputs


def _refuse_data(place: Path, out: Path, data: Sequence[Path]) -> None:
    """Raise where writing into OUT would change DATA."""
    fix = "give a folder of its own with --out"
    for each in data:
        shards = each.absolute().resolve()
        if place == shards or place in shards.parents:
            how = "is DATA itself" if place == shards else f"holds DATA ({each})"
            raise OutputError(f"the output folder {how}", where=str(out), why="DATA is never written to", fix=fix)
        if shards in place.parents and place.is_dir() and not _is_ours(place) and any(place.iterdir()):
            why = f"it lies in {each} and holds other files, which may be shards"
            raise OutputError("the output folder is a part of DATA", where=str(out), why=why, fix=fix)
    if any((place / name).exists() for name in (STATE, DATASET_DICT)):
        why = f"it holds a data set of its own ({STATE} or {DATASET_DICT})"
        raise OutputError("the output folder is a data set", where=str(out), why=why, fix=fix)


def _refuse_foreign(place: Path, out: Path, forms: Sequence[str]) -> None:
    """Raise where an output would take the place of something that dataguard did not write."""
    report = place / REPORT
    foreign = [name for name in (REJECTED, RECORD, RUN) if (place / name).is_dir()]
    foreign += [name for name in FOLDERS if os.path.lexists(place / name) and not _is_our_folder(place / name)]
    if os.path.lexists(report) and not _is_our_report(report):
        foreign.append(REPORT)
    foreign += [name for name in forms if os.path.lexists(place / name) and not _is_our_form(place / name)]
    if foreign:
        why = "it was not written by dataguard, and would be overwritten"
        fix = "move it away, or give another folder with --out"
        raise OutputError("something else is in the way", where=str(out / foreign[0]), why=why, fix=fix)


def _is_ours(place: Path) -> bool:
    """Whether a folder is the OUT of an earlier run, finished or killed."""
    if _is_our_report(place / REPORT) or any(_is_our_folder(place / name) for name in FOLDERS):
        return True
    return all(entry.name.startswith(STAGING) for entry in place.iterdir())


def _is_our_report(path: Path) -> bool:
    return "dataguard" in _mapping(_json(path).get("meta"))


def _is_our_form(path: Path) -> bool:
    """Whether a file is a form of a report that dataguard wrote."""
    try:
        with path.open("rb") as file:
            return b"dataguard" in file.read(NEAR)
    except OSError:
        return False


def _is_our_folder(folder: Path) -> bool:
    """Whether dataguard wrote a quarantine (one data set, or several as `schema-0…`) or a clean copy.

    An empty folder may be overwritten.
    """
    if folder.name == CLEAN:
        ours = "dataguard" in _json(folder / CLEAN_MARK)
    else:
        infos = (folder / INFO, folder / "schema-0" / INFO)
        ours = any(_json(info).get("description") == MARK for info in infos)
    return ours or (folder.is_dir() and not any(folder.iterdir()))


def _json(path: Path) -> dict[str, object]:
    try:
        return _mapping(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _repair(place: Path) -> None:
    """Finish what a run left undone that was killed between the two renames of a folder."""
    for name in FOLDERS:
        former = place / f"{FORMER}{name}"
        if former.exists() and not os.path.lexists(place / name):
            former.rename(place / name)
        _remove(former)


def _sweep(place: Path) -> None:
    """Remove the staging folders of runs that are no more."""
    for entry in place.glob(f"{STAGING}*"):
        if _is_dead(entry):
            _remove(entry)


def _is_dead(staging: Path) -> bool:
    """Whether the run that made a staging folder is over: nobody holds its lock; without locks, by process id and age.

    A process id alone would not do: another machine or container may write into the same folder.
    """
    try:
        held = is_held(staging)
        if held is None:
            return not _is_running(staging) and time.time() - staging.stat().st_mtime > A_DAY
    except OSError:
        return False
    return not held


def _is_running(staging: Path) -> bool:
    number = staging.name.removeprefix(STAGING).partition("-")[0]
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
