"""Verdicts of earlier runs: one that is asked for again, of data that is unchanged, is not found anew.

A verdict is a function of what was asked (the arguments, the working directory, the user), of the code, and of the files that a
run looks at. The first two are its key. The last are recorded with it as what the file system says of them (`unchanged`), by
the same rule by which the store takes a file for unchanged; so nothing is opened, and nothing heavy is loaded, to find that
a verdict still holds. Where there is an output folder, that must also be as the run left it.

Not remembered are verdicts in which foreign code takes part (plugins), on data in memory, and on shards that could not be read:
they may be readable the next time.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any

import xxhash

from dataguard.reports.json_report import plain
from dataguard.result import Result
from dataguard.run.cache import store_folder
from dataguard.run.host import moment, run_json
from dataguard.run.outputs import RUN, write_again
from dataguard.run.spelled import result_of, spelled
from dataguard.run.timings import Timings
from dataguard.run.unchanged import State, Watched, state_of

VERDICTS = "verdicts"
"""The folder in a store that holds them, a file each."""
MOST_KEPT = 256
PACKAGE = Path(__file__).parents[1]
INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")
"""What package managers write where packages lie: the names hold the versions."""
AN_HOUR = 3600
ENVIRONMENT = ("HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
"""Variables by which a tokenizer's name is looked up."""
NO_MATTER = frozenset({"store", "verify", "jobs", "engine", "watch", "timings", "asked"})
"""Arguments that change no verdict; `store` says where verdicts are kept."""
_FORMAT = 1


@dataclass(frozen=True)
class Answer:
    """A verdict that still holds.

    Args:
        facts: What run.json says of the run that found it.
        out: Where its outputs lie; None where nothing was written.
        sealed: The state of that folder as the run left it.
        reports: Names of the reports that were asked for.
        found: When that run began.
    """

    result: Result
    facts: Mapping[str, Any]
    out: Path | None
    sealed: str
    reports: Sequence[str]
    found: str


@dataclass
class Asked:
    """A verdict that is asked for: it may have been found earlier, and it may be remembered.

    Args:
        place: Where it is, or will be, kept.
        started_ns: When it was asked for.
        believes: Whether what the file system says of files is believed.
        projects: Whether project files have a say that the arguments do not hold.
    """

    place: Path
    started_ns: int
    believes: bool
    projects: bool
    _watched: Sequence[Watched] = ()
    _out: Path | None = None
    _reports: Sequence[str] = ()
    _before: State | None = None

    def answer(self, timings: Timings) -> Answer | None:
        """Return the verdict of an earlier run where nothing has changed that it depends on, its outputs included.

        They stay as they are, but for run.json, which tells of this run.

        Args:
            timings: Takes in what it took.

        Raises:
            OutputError: run.json cannot be written.
        """
        begun = time.perf_counter()
        answer = self._kept() if self.believes else None
        if answer is None:
            return None
        timings.steps.add({"remember": time.perf_counter() - begun})
        if answer.out is not None:
            text = run_json(self.started_ns / 1e9, timings, answer.facts, remembered=answer.found)
            if not write_again(answer.out, RUN, text, answer.sealed):
                return None
        with suppress(OSError):
            os.utime(self.place)  # verdicts that nobody asks for go first
        return answer

    def _kept(self) -> Answer | None:
        try:
            check, _, body = self.place.read_bytes().partition(b"\n")
            if xxhash.xxh3_128_hexdigest(body).encode() != check:
                return None
            kept = json.loads(body)
            out = None if kept["out"] is None else Path(kept["out"])
            watched = [Watched(*each) for each in kept["watched"]]
            if state_of(watched, _is(out)).digest != kept["state"]:
                return None
            result = result_of(kept["result"])
            return Answer(result, kept["facts"], out, kept["sealed"], kept["reports"], kept["found"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # nothing there, or not what was written
            return None

    def begin(self, watched: Sequence[Watched], out: Path | None, reports: Sequence[str]) -> None:
        """Take note of the state of everything that the verdict will depend on, before a run looks at it.

        Args:
            watched: Where all of it lies.
            out: The output folder, which may lie among it.
            reports: Names of the reports that are asked for.
        """
        self._watched, self._out, self._reports = watched, out, reports
        self._before = self._state()

    def remember(self, result: Result, facts: Mapping[str, Any], sealed: str, also: Sequence[Watched] = ()) -> None:
        """Keep a verdict, where all that it depends on is as it was before, and was so for some time.

        A store that cannot be written hinders nobody.

        Args:
            also: Places that only the run could name; they must not have been written for some time before it began.
            facts: What run.json says, as far as it can be the same for a run that finds nothing anew.
            sealed: The state of the output folder; nothing where there is none.
        """
        if self._state() != self._before:
            return
        self._watched = [*self._watched, *also]
        state = self._state()
        if not state.is_settled(self.started_ns):
            return
        kept = {
            "watched": self._watched,
            "state": state.digest,
            "out": None if self._out is None else str(self._out),
            "sealed": sealed,
            "reports": list(self._reports),
            "found": moment(self.started_ns / 1e9),
            "facts": plain(facts),
            "result": spelled(result),
        }
        body = json.dumps(kept).encode()
        with suppress(OSError):
            _write(self.place, xxhash.xxh3_128_hexdigest(body).encode() + b"\n" + body)

    def _state(self) -> State:
        return state_of(self._watched, _is(self._out))


def _is(out: Path | None) -> Callable[[str], bool]:
    """Return what says whether a path is the output folder: if DATA holds it, a run makes it before it looks."""
    if out is None:
        return lambda _path: False
    real = os.path.realpath(out)
    ends = tuple(f"/{os.path.basename(each)}" for each in (os.path.abspath(out), real))  # noqa: PTH100, PTH119
    return lambda path: path.endswith(ends) and os.path.realpath(path) == real


def asked_for(arguments: Mapping[str, Any], *, projects: bool = False) -> Asked | None:
    """Return what stands for a verdict that is asked for; None where it is not to be remembered.

    Args:
        arguments: Of `dataguard.validate`; `store` among them.
        projects: Whether project files are looked for, too.
    """
    started_ns = time.time_ns()
    if arguments.get("store") is None or arguments.get("plugins") or not _is_of_paths(arguments["data"]):
        return None
    told = {name: value for name, value in sorted(arguments.items()) if name not in NO_MATTER}
    if not _is_plain(told):
        return None
    try:
        folder = store_folder(arguments["store"]) / VERDICTS
        where = os.getcwd()  # noqa: PTH109 -- a Path would do more
    except OSError:
        return None
    code = code_and_packages()
    if not code.is_settled(started_ns):
        return None
    user = os.getuid(), os.getgid(), os.getgroups()
    variables = [os.environ.get(name) for name in ENVIRONMENT]
    key = repr((_FORMAT, sys.version, code.digest, user, variables, where, projects, told))
    name = xxhash.xxh3_128_hexdigest(key.encode("utf-8", "surrogatepass"))
    return Asked(folder / name, started_ns, not arguments.get("verify"), projects)


def code_and_packages() -> State:
    """Return the state of our own code, the shipped suites, and the packages that can be imported."""
    own = [Watched("tree", str(PACKAGE)), Watched("tree", str(PACKAGE.parent / "expectations"))]
    code = state_of(own, lambda path: path.endswith("/__pycache__"))
    places = [Watched("folder", os.path.abspath(each)) for each in sys.path]  # noqa: PTH100 -- an empty one is here
    packages = state_of(places, lambda path: not path.endswith(INSTALLED))
    return State(code.digest + packages.digest, max(code.newest_ns, packages.newest_ns))


def _is_of_paths(data: Any) -> bool:
    found = data if isinstance(data, (list, tuple)) else [data]
    return bool(found) and all(isinstance(each, (str, Path)) for each in found)


def _is_plain(value: Any) -> bool:
    """Whether a value's text says all of it."""
    if isinstance(value, dict):
        return type(value) is dict and all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return type(value) in {list, tuple} and all(map(_is_plain, value))
    return value is None or type(value) in {str, int, float, bool, PosixPath}


def _write(place: Path, data: bytes) -> None:
    """Write a file whole or not at all; the oldest go where there are many, with what killed runs left."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{secrets.token_hex(8)}")
    try:
        beside.write_bytes(data)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    for _, old, _ in kept_verdicts(place.parents[1])[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
    for left in place.parent.glob(".*"):
        if time.time() - left.stat().st_mtime > AN_HOUR:
            left.unlink(missing_ok=True)


def kept_verdicts(store: Path) -> list[tuple[int, Path, int]]:
    """Return the verdicts that a store holds: when each was last asked for, in nanoseconds, its file, and the bytes of that.

    Those that nobody has asked for longest come first.
    """
    found = []
    for path in (store / VERDICTS).glob("[!.]*"):
        with suppress(FileNotFoundError):  # another run has removed it
            status = path.stat()
            found.append((status.st_mtime_ns, path, status.st_size))
    return sorted(found)
