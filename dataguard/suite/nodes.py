"""YAML becomes plain values that remember their lines.

YAML is composed into nodes and turned into values here, not by a loader: no tag is ever executed, duplicate keys and
unknown tags are errors, every key is text, and aliases cannot expand without bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from dataguard.errors import SuiteError
from dataguard.suite.document import DEEPEST, Document, Place, Spot, finite, shown, text_of

MOST_VALUES = 100_000
"""Values that a file may hold, those that an alias repeats counted each time."""

_TAG = "tag:yaml.org,2002:"
_TEXT = frozenset({_TAG + "str", _TAG + "timestamp"})
"""A date is text to us: nothing in a suite is a time."""
_SCALARS = frozenset(_TAG + kind for kind in ("null", "bool", "int", "float"))


def read_yaml(text: str, file: str) -> Document:
    """Return what a YAML text holds.

    Raises:
        SuiteError: It is not well formed, or holds what a suite cannot (tags, duplicate keys, numbers without end).
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    lines: dict[Place, int] = {}
    top = Spot(file, lines)
    try:
        root = yaml.compose(text)
        if root is None:
            raise SuiteError("the file is empty", file=file)
        return Document(_Builder(yaml, lines).value(root, top), top)
    except YAMLError as fault:
        raise SuiteError(f"the file is no YAML: {_problem(fault)}", file=file, line=_line(fault, text)) from None
    except RecursionError:
        raise SuiteError("the file is nested too deeply for a suite", file=file) from None


class _Builder:
    """Turns nodes into plain values, and notes the line of each."""

    def __init__(self, yaml: YAML, lines: dict[Place, int]) -> None:
        self.yaml, self.lines, self.values = yaml, lines, 0

    def value(self, node: Node, spot: Spot) -> Any:
        self.lines.setdefault(spot.place, node.start_mark.line + 1)
        self.values += 1
        if self.values > MOST_VALUES:
            raise spot.error(f"the file holds more than {MOST_VALUES:,} values", why="what an alias repeats counts too")
        if len(spot.place) > DEEPEST:
            raise replace(spot, place=spot.place[:4]).error("the file is nested too deeply for a suite")
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node, spot)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(each, spot / number) for number, each in enumerate(node.value)]
        return self.scalar(node, spot)

    def mapping(self, node: MappingNode, spot: Spot) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            here = replace(spot, lines={spot.place: line})
            if not isinstance(key_node, ScalarNode):
                raise here.error("a key must be text, not a list or mapping")
            if key_node.tag == _TAG + "merge":
                raise here.error("merge keys (<<) are not read", fix="write the keys out")
            key = text_of(key_node.value, here)
            if key in found:
                raise here.error(f"the key {shown(key)} stands twice")
            inside = spot / key
            self.lines[inside.place] = line
            found[key] = self.value(value_node, inside)
        return found

    def scalar(self, node: Node, spot: Spot) -> Any:
        if isinstance(node, ScalarNode) and node.tag in _TEXT:
            return text_of(node.value, spot)
        if isinstance(node, ScalarNode) and node.tag in _SCALARS:
            try:
                value = self.yaml.constructor.construct_object(node)
            except (ValueError, KeyError, YAMLError):
                raise spot.error(f"{shown(node.value)} cannot be read as {node.tag.removeprefix(_TAG)}") from None
            return finite(value, spot) if isinstance(value, float) else value
        tag = str(node.tag).replace(_TAG, "!!")
        raise spot.error(f"the YAML tag {tag} is not read", fix="write plain values, without tags")


def _problem(fault: YAMLError) -> str:
    if isinstance(fault, MarkedYAMLError) and fault.problem:
        # Some problems are the second half of a sentence: expected a single document, but found another document.
        begun = f"{fault.context}, " if fault.context and fault.problem.startswith("but ") else ""
        return f"{begun}{fault.problem}"
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]


def _line(fault: YAMLError, text: str) -> int | None:
    if isinstance(fault, MarkedYAMLError) and fault.problem_mark is not None:
        return int(fault.problem_mark.line) + 1
    if isinstance(fault, ReaderError):
        return text.count("\n", 0, fault.position) + 1
    return None
