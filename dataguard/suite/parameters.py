"""Parameters: `{$PARAMETER: name}` in a suite's arguments, filled in by `suite_parameters` or `--set NAME=VALUE`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dataguard.errors import nearest
from dataguard.suite.document import Spot, shown

KEY = "$PARAMETER"


def names(value: Any, spot: Spot) -> Iterator[tuple[str, Spot]]:
    """Yield the name and place of every parameter in a value.

    Raises:
        SuiteError: Something that holds `$PARAMETER` is not `{$PARAMETER: name}`.
    """
    if isinstance(value, dict):
        if KEY in value:
            if len(value) > 1 or not isinstance(value[KEY], str) or not value[KEY]:
                fix = f"write {{{KEY}: NAME}}, with nothing beside it"
                raise spot.error(f"{shown(value)} is no parameter", fix=fix)
            yield value[KEY], spot
            return
        for key, each in value.items():
            yield from names(each, spot / key)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from names(each, spot / number)


def resolve(value: Any, parameters: Mapping[str, Any], spot: Spot) -> Any:
    """Return a value with its parameters filled in; null is a value.

    Raises:
        SuiteError: A parameter has no value.
    """
    for name, where in names(value, spot):
        if name not in parameters:
            why = nearest(name, parameters) if parameters else None
            fix = f"give --set {name}=VALUE, or a default in suite_parameters: {{{name}: VALUE}}"
            raise where.error(f"the parameter {name} has no value", why=why, fix=fix)
    return _filled(value, parameters)


def refuse_unused(given: Collection[str], known: Collection[str], spot: Spot) -> None:
    """Refuse parameters that the suite neither declares nor uses: they would change nothing, in silence.

    Raises:
        SuiteError: There is one.
    """
    for name in given:
        if name not in known:
            why = f"it is neither declared in suite_parameters nor used as {{{KEY}: {name}}}"
            none = "use it so where the suite should take it, or leave it out: this suite has no parameters"
            fix = nearest(name, known) if known else none
            raise spot.error(f"the suite has no parameter {name}", why=why, fix=fix)


def _filled(value: Any, parameters: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        if KEY in value:
            return parameters[value[KEY]]
        return {key: _filled(each, parameters) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, parameters) for each in value]
    return value
