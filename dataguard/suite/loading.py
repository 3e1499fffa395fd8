"""A suite is understood as a whole, or refused, before any shard is opened.

The format is Great Expectations' own, one file for both readers. Where GX drops what it does not know, we refuse it
with file, line and the nearest known name: an expectation that is silently left out passes for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from dataguard.errors import SuiteError, nearest
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.result import SEVERITIES, Severity
from dataguard.suite.arguments import build
from dataguard.suite.document import Document, Spot, plain, shown
from dataguard.suite.files import read
from dataguard.suite.model import Configured, Suite
from dataguard.suite.parameters import KEY, names, refuse_unused, resolve
from dataguard.suite.settings import mapping, suite_settings, when_of
from dataguard.suite.shipped import shipped

Table = Mapping[str, type[Expectation]]

WRITTEN_BY_GX = frozenset(
    {"id", "meta", "notes", "description", "success_on_last_run", "expectation_context", "rendered_content"}
)
"""Keys that Great Expectations writes at both levels; we read id and meta."""
SUITE_KEYS = WRITTEN_BY_GX | {"name", "expectations", "suite_parameters"}
EXPECTATION_KEYS = WRITTEN_BY_GX | {"type", "kwargs", "severity"}


def load_suite(
    source: str | Path | Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    table: Table = EXPECTATIONS,
) -> Suite:
    """Return a suite, its parameters filled in and all its arguments checked.

    Args:
        source: Name of a shipped suite, a YAML or JSON file, or what such a file holds as a dict.
        parameters: Values for the suite's parameters, over its own `suite_parameters`; None is a value.
        table: The expectations that there are.

    Raises:
        SuiteError: Anything in it cannot be understood; it says where, and what is near.
    """
    document, origin, name = _document(source)
    top = document.top
    suite = mapping(document.value, "a suite", top, SUITE_KEYS)
    declared = mapping(suite.get("suite_parameters"), "suite_parameters", top / "suite_parameters")
    given = plain(parameters or {}, Spot("the parameters that were given"))
    values = {**declared, **given}
    entries = _entries(suite, top)
    places = [
        (each.get("kwargs"), top / "expectations" / place)
        for place, each in enumerate(entries)
        if isinstance(each, dict)
    ]
    used = {name for kwargs, place in places for name, _ in names(kwargs, place / "kwargs")}
    refuse_unused(given, {*declared, *used}, top)
    settings = suite_settings(mapping(suite.get("meta"), "meta", top / "meta"), top / "meta")
    return Suite(
        name=_text(suite, "name", top) or name,
        expectations=_configured(entries, _Given(values, given, table, _folder(source)), top / "expectations"),
        parameters=values,
        columns=settings.columns,
        vocabulary=settings.vocabulary,
        quarantine=tuple(dict.fromkeys(settings.quarantine)),
        origin=origin,
    )


def _document(source: str | Path | Mapping[str, Any]) -> tuple[Document, str, str]:
    """Return what a source holds, what to call where it came from, and its name where it has none of its own."""
    if isinstance(source, Mapping):
        top = Spot("the suite that was passed")
        return Document(plain(source, top), top), "a dict", "suite"
    known = shipped()
    if isinstance(source, str) and source in known:
        return read(known[source]), f"shipped suite {source}", source
    path = Path(source)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError:  # a name longer than the file system takes
        is_folder = is_there = False
    if is_folder:
        fix = "name a YAML or JSON file in it"
        raise SuiteError("a suite is a file, and this is a folder", file=str(source), fix=fix)
    if not is_there:
        by_likeness = sorted(known, key=lambda each: -SequenceMatcher(None, str(source), each).ratio())
        fix = f"name a YAML or JSON file, or a shipped suite: {', '.join(by_likeness)}"
        raise SuiteError(
            f"there is no suite {shown(str(source))}", why="it is neither a file nor a shipped suite", fix=fix
        )
    return read(path), str(source), path.stem


def files_named(document: Document, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Spot]]:
    """Yield the paths in a suite's file, and where they stand; what else is wrong with it is told when it is loaded.

    Args:
        parameters: Values for the suite's parameters, over its own.
    """
    suite = document.value if isinstance(document.value, dict) else {}
    declared, entries = suite.get("suite_parameters"), suite.get("expectations")
    values = {**(declared if isinstance(declared, dict) else {}), **parameters}
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        given = entry if isinstance(entry, dict) else {}
        kwargs, kind = given.get("kwargs"), EXPECTATIONS.get(str(given.get("type")))
        if kind is None or not isinstance(kwargs, dict):
            continue
        for name in kind.paths:
            value = kwargs.get(name)
            path = values.get(str(value.get(KEY))) if isinstance(value, dict) else value
            if isinstance(path, str):
                yield path, document.top / "expectations" / number / "kwargs" / name


def _folder(source: str | Path | Mapping[str, Any]) -> Path | None:
    """Return the folder of a suite that is a file of the user's."""
    if isinstance(source, Mapping) or (isinstance(source, str) and source in shipped()):
        return None
    return Path(source).parent


def _entries(suite: Mapping[str, Any], spot: Spot) -> list[Any]:
    if "expectations" not in suite:
        raise spot.error("the suite has no expectations", fix="list them under expectations:")
    entries, spot = suite["expectations"], spot / "expectations"
    if not isinstance(entries, list):
        raise spot.error(f"expectations must be a list, not {shown(entries)}")
    if not entries:
        raise spot.error("the suite is empty", why="a suite that expects nothing is never a pass")
    return entries


@dataclass(frozen=True)
class _Given:
    """What the entries of a suite are understood by.

    Args:
        parameters: Values of all parameters.
        told: Those that came from outside of the suite.
        table: The expectations that there are.
        folder: The suite's, to which its paths are relative; None where it is no file of the user's.
    """

    parameters: Mapping[str, Any]
    told: Collection[str]
    table: Table
    folder: Path | None

    def located(self, kind: type[Expectation], kwargs: Mapping[str, Any], origins: Mapping[str, str]) -> dict[str, Any]:
        """Return arguments with paths as the working directory sees them; one that came from outside is such a path."""
        own = [name for name in kind.paths if origins.get(name) not in self.told]
        paths = {name: kwargs[name] for name in own if isinstance(kwargs.get(name), str) and kwargs[name]}
        folder = self.folder
        return {**kwargs, **({} if folder is None else {name: str(folder / path) for name, path in paths.items()})}


def _configured(entries: list[Any], how: _Given, spot: Spot) -> tuple[Configured, ...]:
    found: dict[str, Configured] = {}
    for number, entry in enumerate(entries):
        each = _one(entry, how, spot / number)
        arguments = repr(each.expectation)
        if arguments in found:
            other = found[arguments].line
            first = "above" if other is None else f"in line {other}"
            why = f"it stands {first} with the same arguments, so that their verdicts could not be told apart"
            raise (spot / number).error(f"{each.expectation.type()} stands twice", why=why)
        found[arguments] = each
    return tuple(found.values())


def _one(entry: Any, how: _Given, spot: Spot) -> Configured:
    """Return one expectation of a suite."""
    if not isinstance(entry, dict):
        raise spot.error(f"an expectation must be a mapping with type and kwargs, not {shown(entry)}")
    kind, parameters = _kind(entry, how.table, spot), how.parameters
    for key in entry:
        if key not in EXPECTATION_KEYS:
            fix = f"write {key} under kwargs" if key in kind.arguments() else nearest(key, EXPECTATION_KEYS)
            raise (spot / key).error(f"an expectation has no key {key}", fix=fix)
    given = mapping(entry.get("kwargs"), "kwargs", spot / "kwargs")
    kwargs = mapping(resolve(given, parameters, spot / "kwargs"), "kwargs", spot / "kwargs")
    meta = mapping(entry.get("meta"), "meta", spot / "meta")
    when = when_of(meta, kind, parameters, spot / "meta")
    origins = {name: value[KEY] for name, value in given.items() if isinstance(value, dict) and KEY in value}
    skipped = {name for name, value in kwargs.items() if value is None and {name, origins.get(name)} & set(when)}
    return Configured(
        expectation=build(
            kind, how.located(kind, kwargs, origins), spot / "kwargs", skipped=skipped, parameters=origins
        ),
        severity=_severity(entry, kind, spot / "severity"),
        when=when,
        kwargs=kwargs,
        meta=meta,
        id=_text(entry, "id", spot),
        line=spot.line,
    )


def _kind(entry: Mapping[str, Any], table: Table, spot: Spot) -> type[Expectation]:
    if "type" not in entry:
        raise spot.error("an expectation has no type", fix="give type: expect_…")
    name = entry["type"]
    if not isinstance(name, str):
        raise (spot / "type").error(f"type must be text, not {shown(name)}")
    if name not in table:
        raise (spot / "type").error(f"there is no expectation {name}", fix=nearest(name, table))
    return table[name]


def _severity(entry: Mapping[str, Any], kind: type[Expectation], spot: Spot) -> Severity:
    given = entry.get("severity")
    if given is None:
        return kind.default_severity
    for severity in SEVERITIES:
        if given == severity:
            return severity
    raise spot.error(f"there is no severity {shown(given)}", fix=nearest(str(given).lower(), SEVERITIES))


def _text(holder: Mapping[str, Any], key: str, spot: Spot) -> str | None:
    value = holder.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise (spot / key).error(f"{key} must be text, not {shown(value)}")
    return value
