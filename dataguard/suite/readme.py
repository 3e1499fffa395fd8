"""expectations/README.md, rendered from the table of expectations and the shipped suites: `make catalogue`."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation, RowExpectation
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Configured, Suite
from dataguard.suite.shipped import shipped

HEAD = """\
# Expectations

Written by `make catalogue` from the table in `dataguard/expectations/` and the suites in this folder; change those.

Every expectation takes `column` (default `input_ids`), and beside its arguments `severity`, `meta`, `notes`,
`description` and `id`. Those on rows take `mostly` (the share of judged rows that must hold, default 1) and `by_source`
(arguments that differ for a source).
"""
COMMON = frozenset(Expectation.model_fields) | frozenset(RowExpectation.model_fields)


def readme(table: Mapping[str, type[Expectation]], suites: Iterable[Suite]) -> str:
    """Return the page: every expectation with its arguments and reasons, then what each suite asks for."""
    parts = [HEAD, *(_expectation(kind) for kind in table.values()), "# Shipped suites\n", *map(_suite, suites)]
    return "\n".join(parts)


def shipped_suites() -> list[Suite]:
    """Return every shipped suite as it stands, by name."""
    return [load_suite(name) for name in shipped()]


def _expectation(kind: type[Expectation]) -> str:
    """Return the section of one expectation."""
    own = {name: field for name, field in kind.arguments().items() if name not in COMMON}
    lines = [f"## {kind.type()}", "", (inspect.getdoc(kind) or "").partition("\n")[0], ""]
    lines += [f"- level: {kind.level}; default severity: {kind.default_severity}"]
    lines += [f"- arguments: {', '.join(_argument(name, field) for name, field in own.items()) or 'none of its own'}"]
    lines += [f"- reasons: {', '.join(f'`{reason}`' for reason in kind.reasons)}"] if kind.reasons else []
    lines += [f"- what to do: {kind.fix}"] if kind.fix else []
    return "\n".join([*lines, ""])


def _argument(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    return f"`{name}` (must be given)" if default is PydanticUndefined else f"`{name}: {_flow(default)}`"


def _suite(suite: Suite) -> str:
    """Return the section of one suite."""
    parameters = ", ".join(f"`{name}: {_flow(value)}`" for name, value in suite.parameters.items())
    lines = [f"## {suite.name}", ""]
    lines += [f"Parameters, set with `--set NAME=VALUE`: {parameters}.", ""] if parameters else []
    lines += ["| expectation | arguments | severity | skipped without |", "|---|---|---|---|"]
    lines += [_row(each) for each in suite.expectations]
    return "\n".join([*lines, ""])


def _row(each: Configured) -> str:
    arguments = ", ".join(f"`{name}: {_flow(value)}`" for name, value in each.kwargs.items())
    return f"| `{each.expectation.type()}` | {arguments} | {each.severity} | {', '.join(each.when)} |"


def _flow(value: Any) -> str:
    """Return a value as YAML has it in one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{', '.join(_flow(item) for item in value)}]"
    return json.dumps(value, default=str)


if __name__ == "__main__":
    sys.stdout.write(readme(EXPECTATIONS, shipped_suites()))
