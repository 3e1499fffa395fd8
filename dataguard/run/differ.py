"""`dataguard diff OLD NEW`: two reports of earlier runs, compared without any data."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dataguard.errors import DataError
from dataguard.expectations.baseline import Baseline, baseline_of
from dataguard.expectations.psi import by_chance, psi
from dataguard.reports.cases import named
from dataguard.reports.difference import KINDS, Amount, Change, Difference, Drift, Kind, Status, Told, difference_json
from dataguard.result import SEVERITIES, Severity
from dataguard.run.baselines import MOST_BYTES
from dataguard.run.drift import drift_of
from dataguard.run.outputs import REPORT, prepare
from dataguard.version import __version__

DIFF = "diff.json"
Kept = TypeVar("Kept")
FIX = "name a report.json of dataguard validate, or the folder that holds it"
AGAIN = "judge the data again with this version; dataguard judge OUT needs no scan"


@dataclass(frozen=True)
class Expected:
    """An expectation of a report."""

    type: str
    told: Told

    @property
    def column(self) -> str:
        """The column that is judged."""
        return str(self.told.kwargs.get("column") or "input_ids")


@dataclass(frozen=True)
class Report:
    """A report.json that has been understood."""

    path: Path
    suite: str
    meta: Mapping[str, Any]
    expected: Sequence[Expected]
    baseline: Baseline | None


def diff(
    old: str | Path, new: str | Path, *, fail_on: Severity = "critical", out: str | Path | None = None
) -> Difference:
    """Compare two reports.

    Args:
        old, new: Each a report.json, or the output folder that holds it.
        fail_on: The least severity of an expectation that broke for `success` to be false.
        out: Folder for diff.json; None writes nothing.

    Raises:
        DataError: One of them is no report, is cut, or was written by another major version.
        OutputError: The folder cannot be written.
    """
    before, now = read_report(Path(old)), read_report(Path(new))
    changes, alike = _changes(before.expected, now.expected)
    found = Difference(
        old=str(before.path),
        new=str(now.path),
        fail_on=fail_on,
        changes=changes,
        alike=alike,
        amounts=[*_amounts(before.meta, now.meta)],
        drifts=[*_drifts(before.baseline, now.baseline)],
        notes=[*_notes(before, now)],
    )
    if out is not None:
        with prepare(Path(out), [before.path, now.path], [DIFF]) as outputs:
            outputs.write_text(DIFF, difference_json(found))
            outputs.commit(whole=False)
    return found


def read_report(place: Path) -> Report:
    """Return what a report.json says.

    Raises:
        DataError: It cannot be read, is none of ours, or was written by another major version.
    """
    path = place / REPORT if place.is_dir() else place
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_BYTES:
            why = "it is no file" if not stat.S_ISREG(state.st_mode) else f"it has {state.st_size:,} bytes"
            raise DataError("this is no report", where=str(path), why=why, fix=FIX)
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DataError("the report cannot be read", where=str(path), why=why, fix=FIX) from error
    except json.JSONDecodeError as error:
        why = f"line {error.lineno} is no JSON: the file is cut, or of another kind"
        raise DataError("this is no whole report", where=str(path), why=why, fix=FIX) from error
    except (ValueError, RecursionError) as error:
        raise DataError("this is no report", where=str(path), why="it is no text in JSON", fix=FIX) from error
    try:
        return _understood(path, document)
    except ValueError as error:
        why = f"{error}: dataguard writes no such report"
        raise DataError("this is no report of dataguard", where=str(path), why=why, fix=FIX) from error


def _understood(path: Path, document: Any) -> Report:
    """Return a report from its plain values.

    Raises:
        ValueError: It is none.
        DataError: Another major version wrote it.
    """
    meta = _get(_get(_is(document, dict, "it"), "meta", dict), "dataguard", dict)
    version = _get(meta, "version", str)
    if version.partition(".")[0] != __version__.partition(".")[0]:
        why = f"version {version:.40} wrote it, and this is {__version__}"
        raise DataError("the report is of another major version", where=str(path), why=why, fix=AGAIN)
    results = [_is(each, dict, "a result") for each in _get(document, "results", list)]
    expected = [_expected(each) for each in results] + [*_skipped(meta)]
    try:
        baseline = baseline_of(document)
    except ValueError:  # of a sampler, or of a version that wrote none
        baseline = None
    return Report(path, _get(document, "suite_name", str), meta, expected, baseline)


def _is(value: Any, kind: type[Kept], what: str) -> Kept:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        msg = f"{what} is no {kind.__name__}"
        raise ValueError(msg)  # what a file holds is a value, whatever its type
    return value


def _get(value: Mapping[str, Any], key: str, kind: type[Kept]) -> Kept:
    return _is(value.get(key), kind, key)


def _count(value: Mapping[str, Any], key: str) -> int | None:
    """Return a count; None where the report does not know it."""
    if value.get(key) is None:
        return None
    count = _get(value, key, int)
    if count < 0:
        msg = f"{key} is below 0"
        raise ValueError(msg)
    return count


def _expected(given: Mapping[str, Any]) -> Expected:
    """Return an expectation of a report's results."""
    config, result = _get(given, "expectation_config", dict), _get(given, "result", dict)
    exception, details = _get(given, "exception_info", dict), _get(result, "details", dict)
    severity = _get(config, "severity", str)
    if severity not in SEVERITIES:
        msg = f"severity is {severity!r:.40}"
        raise ValueError(msg)
    unjudged = _get(exception, "raised_exception", bool)
    status: Status = "not judged" if unjudged else "holds" if _get(given, "success", bool) else "failed"
    judged, missing = _count(result, "element_count"), _count(result, "missing_count")
    entries = [_is(each, dict, "an entry") for each in _get(result, "partial_unexpected_index_list", list)]
    reasons = _get(details, "reasons", dict)
    told = Told(
        status=status,
        severity=SEVERITIES[SEVERITIES.index(severity)],
        judged=None if judged is None else max(0, judged - (missing or 0)),
        unexpected=_count(result, "unexpected_count"),
        reasons={code: _get(reasons, code, int) for code in reasons},
        kwargs=_get(config, "kwargs", dict),
        why=str(exception.get("exception_message")) if unjudged else None,
        place=entries[0] if entries else None,
    )
    return Expected(_get(config, "type", str), told)


def _skipped(meta: Mapping[str, Any]) -> Iterator[Expected]:
    """Yield the expectations that a report says were skipped."""
    for each in meta.get("skipped") or ():
        given = _is(each, dict, "what was skipped")
        why = str(given.get("missing"))
        kwargs = {"column": given.get("column") or "input_ids"}
        yield Expected(_get(given, "type", str), Told("skipped", None, None, None, {}, kwargs, why))


def _changes(old: Sequence[Expected], new: Sequence[Expected]) -> tuple[list[Change], int]:
    """Return what is not as it was, and how many expectations are."""
    names_old, names_new = _names(old), _names(new)
    found: list[Change] = []
    alike = 0
    for before, now in _pairs(old, new):
        one, other = (None if before is None else old[before], None if now is None else new[now])
        kind = _kind(one, other)
        if kind is None:
            alike += 1
            continue
        named_in, place, each = (names_old, before, one) if other is None else (names_new, now, other)
        assert place is not None  # a pair has at least one side
        assert each is not None  # as above
        told = (None if side is None else side.told for side in (one, other))
        found.append(Change(kind, named_in[place], each.type, *told))
    return sorted(found, key=lambda change: KINDS.index(change.kind)), alike


def _names(expected: Sequence[Expected]) -> list[str]:
    arguments = [{"column": "input_ids", **each.told.kwargs} for each in expected]
    return named([each.type for each in expected], arguments)


def _pairs(old: Sequence[Expected], new: Sequence[Expected]) -> list[tuple[int | None, int | None]]:
    """Return which expectation of one report is which of the other, by their places: in the order of the new report.

    The same arguments first, then the same column, in order: a threshold may have changed.
    """
    matched: dict[int, int] = {}
    left = dict.fromkeys(range(len(old)))
    for key in (_exact, _loosely):
        waiting: dict[object, list[int]] = {}
        for place in left:
            waiting.setdefault(key(old[place]), []).append(place)
        for place, each in enumerate(new):
            if place not in matched and (same := waiting.get(key(each))):
                matched[place] = same.pop(0)
                del left[matched[place]]
    return [*((matched.get(place), place) for place in range(len(new))), *((place, None) for place in left)]


def _exact(each: Expected) -> object:
    return each.type, json.dumps({**each.told.kwargs, "column": each.column}, sort_keys=True)


def _loosely(each: Expected) -> object:
    return each.type, each.column


def _kind(old: Expected | None, new: Expected | None) -> Kind | None:
    """Return what has become of an expectation; None where it is as it was.

    One that was skipped before is as good as new; one that held, and is skipped now, is not known to hold any more.
    """
    one = None if old is None else old.told
    other = None if new is None else new.told
    if other is None or (other.status == "skipped" and one is not None and one.status not in {"holds", "skipped"}):
        return "removed"
    if one is None or (one.status == "skipped" and other.status != "skipped"):
        return "added"
    if one.status == "holds" != other.status:
        return "broken"
    if other.status == "holds" != one.status:
        return "mended"
    if one.status == other.status == "failed" and _is_worse(one, other):
        return "worse"
    same = (one.status, one.severity, one.unexpected, dict(one.reasons), dict(one.kwargs))
    return (
        None
        if same == (other.status, other.severity, other.unexpected, dict(other.reasons), dict(other.kwargs))
        else "changed"
    )


def _is_worse(old: Told, new: Told) -> bool:
    """Whether a larger share is unexpected than before: of other rows, a larger one than chance gives."""
    if old.share is None or new.share is None or new.share <= old.share:
        return False
    of_rows = any(place is not None and place.get("row") is not None for place in (old.place, new.place))
    if not of_rows or old.judged == new.judged:
        return True
    parts = [np.array([told.unexpected or 0, (told.judged or 0) - (told.unexpected or 0)]) for told in (old, new)]
    return psi(parts[1], parts[0]) > by_chance(2, (float(old.judged or 0), float(new.judged or 0)))


def _amounts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Amount]:
    """Yield the numbers of the whole, those that either report knows."""

    def amount(name: str, value: Callable[[Mapping[str, Any]], Any]) -> Iterator[Amount]:
        before, now = (found if type(found) is int else None for found in (value(old), value(new)))
        if before is not None or now is not None:
            yield Amount(name, before, now)

    def inside(group: str, key: str) -> Callable[[Mapping[str, Any]], Any]:
        return lambda meta: held.get(key) if isinstance(held := meta.get(group), dict) else None

    yield from amount("shards", inside("shards", "count"))
    yield from amount("shards intact", inside("shards", "intact"))
    for key in ("rows", "tokens", "samples", "ranks"):
        yield from amount(key, lambda meta, key=key: meta.get(key))  # type: ignore[misc]
    yield from amount("rows rejected", inside("accounting", "rejected"))
    sources = [_sources(meta) for meta in (old, new)]
    for name in dict.fromkeys([*sources[0], *sources[1]]):
        for key in ("rows", "tokens"):
            before, now = (found.get(name, {}).get(key, 0) for found in sources)
            if type(before) is type(now) is int:
                yield Amount(f"{key} of {'no source' if name is None else name}", before, now)


def _sources(meta: Mapping[str, Any]) -> dict[str | None, Mapping[str, Any]]:
    told = meta.get("sources")
    entries = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    return {
        each.get("source"): each
        for each in entries
        if isinstance(each.get("source"), str | None) and "others" not in each
    }


def _drifts(old: Baseline | None, new: Baseline | None) -> Iterator[Drift]:
    """Yield how far each distribution that both reports hold has moved."""
    if old is None or new is None:
        return
    for column, held in old.columns.items():
        for name, before in held.items():
            now = new.columns.get(column, {}).get(name)
            if now is not None and bool(now.names) is bool(before.names):
                yield drift_of(column, name, before, now)


def _notes(old: Report, new: Report) -> Iterator[str]:
    """Yield what keeps the two from being compared well."""
    if old.suite != new.suite:
        yield f"two suites: {old.suite}, {new.suite}"
    for told, report in (("old", old), ("new", new)):
        if report.meta.get("partial") is True:
            yield f"the {told} report is of the first rows of each shard alone"
    prints = [each.meta.get("vocabulary", {}) for each in (old, new)]
    known = [each.get("fingerprint") if isinstance(each, dict) else None for each in prints]
    if None not in known and known[0] != known[1]:
        yield "two tokenizers: ids of one mean nothing to the other"
    if old.meta.get("version") != new.meta.get("version"):
        yield f"two versions of dataguard: {old.meta.get('version')!s:.40}, {new.meta.get('version')!s:.40}"
