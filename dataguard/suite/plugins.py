"""Expectations from outside: modules that were named, and entry points of installed packages, each loaded only on demand.

A plugin's module lists its expectations in `EXPECTATIONS`. An entry point of the group `dataguard.expectations` has an
expectation's type as its name and its class as its value, so that a package is loaded only where a suite names its type.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_args

from dataguard.errors import PluginError
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation, Level

GROUP = "dataguard.expectations"
LISTED = "EXPECTATIONS"


class Known(Mapping[str, type[Expectation]]):
    """Every expectation that a suite may name: ours, those of named modules, and those of installed packages.

    Args:
        modules: Plugins to load at once, by the names of their modules.

    Raises:
        PluginError: One of them cannot be loaded, or gives what is no expectation or has a name that is taken.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._known = dict(EXPECTATIONS)
        self.installed: dict[str, str] = {}
        """The types that were taken from an installed package, with its name."""
        for module in dict.fromkeys(modules):
            for kind in _listed(module):
                self._take(kind, f"plugin {module}")

    def __getitem__(self, type: str) -> type[Expectation]:
        if type not in self._known:
            point = self._points[type]
            where = f"entry point {point.name} = {point.value}, of {_package(point)}"
            kind = _expectation(_loaded(point.load, point.value.partition(":")[0], where), where)
            if kind.type() != type:
                fix = f"name the entry point {kind.type()}"
                raise PluginError(f"the entry point {type} gives {kind.type()}", where=where, fix=fix)
            self._take(kind, where)
            self.installed[type] = _package(point)
        return self._known[type]

    def __contains__(self, type: object) -> bool:
        return type in self._known or type in self._points

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._known, *self._points)))

    def __len__(self) -> int:
        return len(self._known.keys() | self._points.keys())

    def loaded(self) -> Mapping[str, type[Expectation]]:
        """Return the expectations that have been loaded: ours first, then those of plugins."""
        return self._known

    def _take(self, kind: type[Expectation], where: str) -> None:
        other = self._known.setdefault(kind.type(), kind)
        if other is not kind:
            owner = "dataguard has" if kind.type() in EXPECTATIONS else f"{other.__module__} gives"
            raise PluginError(
                f"{kind.type()} is taken",
                where=where,
                why=f"{owner} an expectation of that type",
                fix="rename the class",
            )

    @cached_property
    def _points(self) -> Mapping[str, EntryPoint]:
        """The entry points, by type. One that has a type of ours stands for nothing: ours are never replaced."""
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=GROUP):
            other = found.setdefault(point.name, point)
            if other.value != point.value:
                why = f"{_package(other)} and {_package(point)} both give it"
                raise PluginError(f"two packages offer {point.name}", where=f"entry points {GROUP}", why=why)
        return found


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value.partition(":")[0]


def _listed(name: str) -> Collection[type[Expectation]]:
    """Return the expectations that a plugin's module lists."""
    where = f"plugin {name}"
    if name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
        fix = "give the name of a module, such as my_checks, and put its folder into PYTHONPATH"
        raise PluginError(f"{name!r} is no name of a module", where=where, fix=fix)
    module = _loaded(lambda: importlib.import_module(name), name, where)
    listed = getattr(module, LISTED, None)
    if isinstance(listed, Mapping):
        listed = tuple(listed.values())
    if not isinstance(listed, (list, tuple)) or not listed:
        fix = f"list its expectations in it: {LISTED} = [ExpectSomething]"
        raise PluginError(f"the plugin {name} lists no {LISTED}", where=getattr(module, "__file__", where), fix=fix)
    return [_expectation(each, where) for each in listed]


def _loaded(load: Callable[[], Any], module: str, where: str) -> Any:
    """Return what is loaded, whatever its code does meanwhile."""
    try:
        return load()
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            fix = "install it, or put the folder that holds it into PYTHONPATH"
            raise PluginError(f"there is no module {error.name}", where=where, fix=fix) from error
        raise _unloadable(module, where, error) from error
    except (Exception, SystemExit) as error:  # whatever its code raises, a plugin's fault is not ours
        raise _unloadable(module, where, error) from error


def _unloadable(module: str, where: str, error: BaseException) -> PluginError:
    if isinstance(error, SyntaxError):
        place = f"{where}, {error.filename}, line {error.lineno}"
    else:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")]
        place = f"{where}, {frames[-1].filename}, line {frames[-1].lineno}"
    why = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return PluginError(f"the plugin {module} cannot be loaded", where=place, why=why)


def _expectation(found: Any, where: str) -> type[Expectation]:
    """Return a class that is an expectation, as far as can be told without judging anything."""
    if not isinstance(found, type) or not issubclass(found, Expectation):
        fix = "derive it from dataguard.expectations.base.Expectation or RowExpectation"
        raise PluginError(f"{getattr(found, '__name__', found)!s:.80} is no expectation", where=where, fix=fix)
    if getattr(found, "level", None) not in get_args(Level):
        fix = f"give it level: ClassVar[Level], one of {', '.join(get_args(Level))}"
        raise PluginError(f"{found.__name__} has no level", where=where, fix=fix)
    if not found.type().startswith("expect_"):
        raise PluginError(f"{found.__name__} is no name of an expectation", where=where, fix="call it Expect…")
    return found
