"""A suite's file, YAML or JSON, becomes a document.

JSON is parsed as JSON; its lines come from composing the same text as YAML, of which JSON is (nearly) a part.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from dataguard.errors import SuiteError
from dataguard.suite.document import Document, Spot, plain, shown
from dataguard.suite.nodes import read_yaml

MOST_BYTES = 1 << 20
"""A suite is written by people: a larger file is something else."""
_FOREIGN_TO_YAML = re.compile(r"\t|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""What JSON allows and YAML does not: tabs between values, and one character written as a pair of halves."""


def read(path: Path) -> Document:
    """Return what a file holds: JSON where it is called .json, else YAML.

    Raises:
        SuiteError: It cannot be read, is no text, too large, or not well formed.
    """
    name = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise SuiteError("the file cannot be read", file=name, why=reason) from None
    if len(data) > MOST_BYTES:
        raise SuiteError("the file is too large for a suite", file=name, why=f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise SuiteError("the file is no UTF-8 text", file=name, line=line, fix="save it as UTF-8") from None
    return read_json(text, name) if path.suffix.lower() == ".json" else read_yaml(text, name)


def read_json(text: str, file: str) -> Document:
    """Return what a JSON text holds.

    Raises:
        SuiteError: It is not well formed, or holds what a suite cannot (duplicate keys, NaN).
    """
    doubled: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found:
                doubled.append(key)
            found[key] = value
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as fault:
        raise SuiteError(f"the file is no JSON: {fault.msg}", file=file, line=fault.lineno) from None
    except ValueError as fault:
        raise SuiteError("the file holds a number that cannot be read", file=file, why=str(fault)) from None
    except RecursionError:
        raise SuiteError("the file is nested too deeply for a suite", file=file) from None
    try:
        top = read_yaml(_FOREIGN_TO_YAML.sub(" ", text), file).top
    except SuiteError as fault:
        if doubled:
            what = f"the key {shown(doubled[0])} stands twice"
            raise SuiteError(what, file=file, line=fault.line if fault.what == what else None) from None
        top = Spot(file)
    return Document(plain(value, top), top)
