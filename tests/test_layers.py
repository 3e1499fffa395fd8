"""The rooms of the package and the arrows between them, read from the imports.

A room may import from its own line and from the lines above it. Nothing imports in a circle, nothing of our own is
imported inside a function, and no heavy package at module level.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "dataguard"
ORDER = (
    {"errors", "result", "version"},
    {"shards", "vocabulary", "reports"},
    {"metrics"},
    {"expectations"},
    {"suite"},
    {"sampler"},
    {"engines", "run"},
    {"cli", "__main__"},
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
ONLY = {
    "reports": {"reports", "errors", "result", "version"},
    "engines": {"engines", "errors", "version"},
}
"""Rooms that know less than their line allows: a report is a function of a result, an engine knows no token."""
HEAVY = {
    "accelerate",
    "airflow",
    "altair",
    "datasets",
    "great_expectations",
    "pandas",
    "ray",
    "torch",
    "transformers",
    "vl_convert",
}
LAZY = ("dataguard/__init__.py", "dataguard/cli/")
"""May import our own modules inside functions: what `import dataguard` and `--help` cost is measured elsewhere."""


@dataclass(frozen=True)
class Import:
    """One import of a module: where it stands, and whether a function or TYPE_CHECKING holds it."""

    importer: str
    imported: str
    where: str
    in_function: bool
    for_types: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(name: str, where: str, source: str, known: set[str]) -> Iterator[Import]:
    """Yield a module's imports; `from package import module` is an import of the module where `known` holds it."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{where}:{node.lineno}: imports are absolute here"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [each if each in known else str(node.module) for each in inner]
        else:
            continue
        above = list(_above(node, parents))
        in_function = any(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in above)
        for_types = any(isinstance(each, ast.If) and "TYPE_CHECKING" in ast.dump(each.test) for each in above)
        for target in targets:
            yield Import(name, target, f"{where}:{node.lineno} imports {target}", in_function, for_types)


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def room(module: str) -> str:
    """Return the room of a module: dataguard.shards.batch is in shards; the package itself is in none."""
    return (*module.split("."), "")[1]


def points_up(each: Import) -> bool:
    """Whether a room imports what it should not know."""
    here, there = room(each.importer), room(each.imported)
    if there in ("", here) or each.importer == "dataguard":
        return False
    return there not in ONLY.get(here, {there}) or LEVEL[there] > LEVEL[here] or _beside(here, there)


def _beside(here: str, there: str) -> bool:
    """Whether two rooms share a line without being one; `run` sends its work to `engines`."""
    return LEVEL[there] == LEVEL[here] != 0 and (here, there) not in {("run", "engines"), ("__main__", "cli")}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, none where there is no such circle."""
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        found = next((loop for each in sorted(graph.get(module, ())) if (loop := visit(each, (*path, module)))), [])
        done.add(module)
        return found

    return next((loop for module in sorted(graph) if (loop := visit(module, ()))), [])


@pytest.fixture(scope="module")
def imports() -> list[Import]:
    paths = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    return [
        each
        for name, path in paths.items()
        for each in imports_of(name, str(path.relative_to(PACKAGE.parent)), path.read_text("utf-8"), set(paths))
    ]


@pytest.fixture(scope="module")
def ours(imports: list[Import]) -> list[Import]:
    return [each for each in imports if each.imported.split(".")[0] == "dataguard"]


def test_every_room_has_its_place_in_the_order():
    rooms = {room(module_name(path)) for path in PACKAGE.rglob("*.py")} - {""}
    assert rooms <= set(LEVEL), f"not in ORDER: {rooms - set(LEVEL)}"


def test_no_arrow_points_up(ours: list[Import]):
    assert [each.where for each in ours if points_up(each)] == []


def test_nothing_imports_in_a_circle(ours: list[Import]):
    graph: dict[str, set[str]] = {}
    for each in ours:
        if not each.in_function and not each.for_types and each.imported != each.importer:
            graph.setdefault(each.importer, set()).add(each.imported)
    assert circle(graph) == []


def test_our_own_modules_are_imported_at_the_top(ours: list[Import]):
    assert [each.where for each in ours if each.in_function and not each.where.startswith(LAZY)] == []


def test_heavy_packages_are_imported_only_when_asked_for(imports: list[Import]):
    heavy = [each for each in imports if each.imported.split(".")[0] in HEAVY]
    assert [each.where for each in heavy if not each.in_function and not each.for_types] == []


@pytest.mark.parametrize(
    ("importer", "imported", "bad"),
    [
        ("dataguard.metrics.ids", "dataguard.shards.batch", False),
        ("dataguard.shards.batch", "dataguard.metrics.ids", True),
        ("dataguard.shards.batch", "dataguard.vocabulary.model", True),
        ("dataguard.reports.html", "dataguard.result", False),
        ("dataguard.reports.html", "dataguard.shards.model", True),
        ("dataguard.engines.threads", "dataguard.shards.model", True),
        ("dataguard.run.scan", "dataguard.engines.threads", False),
        ("dataguard.run.scan", "dataguard.cli", True),
        ("dataguard.__main__", "dataguard.cli", False),
    ],
)
def test_the_order_tells_up_from_down(importer: str, imported: str, bad: bool):
    assert points_up(Import(importer, imported, "", in_function=False, for_types=False)) is bad


def test_finds_a_hidden_import_and_a_circle():
    source = "def f():\n    from dataguard.shards import batch\n"
    (found,) = imports_of("dataguard.run.scan", "scan.py", source, {"dataguard.shards.batch"})
    assert (found.imported, found.in_function) == ("dataguard.shards.batch", True)
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b"}, "b": {"c"}, "d": {"b"}}) == []
