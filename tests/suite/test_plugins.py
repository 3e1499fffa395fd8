"""Expectations from outside join by name, on demand, and never take the place of another."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.errors import PluginError, SuiteError
from dataguard.expectations import EXPECTATIONS
from dataguard.suite.loading import load_suite
from dataguard.suite.plugins import Known
from tests.conftest import ROOT

OUR_BASE = "from dataguard.expectations.base import Expectation, RowExpectation\n"
TYPE = "expect_token_count_to_be_at_most"
SUITE = {"expectations": [{"type": TYPE, "kwargs": {"token": 2}}]}
COMMAND = str(Path(sys.executable).with_name("dataguard"))


def blocks(language: str) -> list[str]:
    """Return the examples of docs/plugins.md in a language."""
    text = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder from which modules are imported, with the example of the documentation in it."""
    (tmp_path / "my_checks.py").write_text(blocks("python")[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


@pytest.fixture
def installed(folder: Path) -> Callable[..., None]:
    """Return what installs a package with entry points into that folder."""

    def install(package: str = "checks", **points: str) -> None:
        about = folder / f"{package}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        lines = "\n".join(f"{name} = {value}" for name, value in points.items())
        (about / "entry_points.txt").write_text(f"[dataguard.expectations]\n{lines}\n")

    return install


class TestModule:
    def test_gives_its_expectations(self, folder: Path) -> None:
        suite = load_suite(SUITE, table=Known(["my_checks"]))
        assert suite.expectations[0].expectation.type() == TYPE
        assert suite.expectations[0].severity == "warning"

    def test_its_arguments_are_checked_like_ours(self, folder: Path) -> None:
        for kwargs, says in (
            ({}, "needs the argument token"),
            ({"token": 2, "max_cuont": 1}, "did you mean max_count?"),
        ):
            with pytest.raises(SuiteError, match=re.escape(says)):
                load_suite({"expectations": [{"type": TYPE, "kwargs": kwargs}]}, table=Known(["my_checks"]))

    def test_without_it_the_type_is_unknown(self, folder: Path) -> None:
        with pytest.raises(SuiteError, match=f"there is no expectation {TYPE}"):
            load_suite(SUITE, table=Known())

    def test_ours_are_there_too_and_named_where_a_name_is_near(self, folder: Path) -> None:
        known = Known(["my_checks"])
        assert set(known) == {*EXPECTATIONS, TYPE}
        assert len(known) == len(EXPECTATIONS) + 1
        with pytest.raises(SuiteError, match="did you mean expect_token_count_to_be_at_most"):
            load_suite({"expectations": [{"type": "expect_token_count_at_most"}]}, table=known)

    @pytest.mark.parametrize(
        ("code", "says"),
        [
            ("", "lists no EXPECTATIONS"),
            ("EXPECTATIONS = []", "lists no EXPECTATIONS"),
            ("EXPECTATIONS = [int]", "int is no expectation"),
            ("EXPECTATIONS = [3]", "3 is no expectation"),
            ("import no_such_module_at_all", r"there is no module|ModuleNotFoundError: .*no_such_module_at_all"),
            ("\n\n1 / 0", r"bad_plugin\.py, line 3\n.*ZeroDivisionError: division by zero"),
            ("x = (", r"bad_plugin\.py, line 1\n.*SyntaxError"),
            ("import sys\nsys.exit(0)", "cannot be loaded"),
            (OUR_BASE + "class ExpectX(Expectation): pass\nEXPECTATIONS = [ExpectX]", "ExpectX has no level"),
            (OUR_BASE + "class X(RowExpectation): pass\nEXPECTATIONS = [X]", "X is no name of an expectation"),
            (
                OUR_BASE + "class ExpectRowsNotToBeNull(RowExpectation): pass\nEXPECTATIONS = [ExpectRowsNotToBeNull]",
                "(?s)expect_rows_not_to_be_null is taken.*dataguard has",
            ),
        ],
    )
    def test_what_is_no_plugin_is_refused(self, folder: Path, code: str, says: str) -> None:
        (folder / "bad_plugin.py").write_text(code)
        with pytest.raises(PluginError, match=says):
            Known(["bad_plugin"])

    @pytest.mark.parametrize("name", ["my_checks.py", "./my_checks", "", "a b", ".my_checks", "-x"])
    def test_what_is_no_name_of_a_module_is_refused(self, folder: Path, name: str) -> None:
        with pytest.raises(PluginError, match="is no name of a module"):
            Known([name])

    def test_one_that_is_not_there_is_refused_with_what_to_do(self) -> None:
        with pytest.raises(PluginError, match=r"(?s)there is no module not_here.*PYTHONPATH"):
            Known(["not_here.either"])

    def test_two_plugins_cannot_give_one_type(self, folder: Path) -> None:
        (folder / "other_checks.py").write_text(blocks("python")[0])
        with pytest.raises(PluginError, match=r"(?s)is taken.*my_checks gives"):
            Known(["my_checks", "other_checks"])
        assert TYPE in Known(["my_checks", "my_checks"])

    def test_its_metrics_are_never_taken_for_ours(self, folder: Path) -> None:
        Known(["my_checks"])
        metric = sys.modules["my_checks"].Occurrences("input_ids", 2)
        assert metric.key == "my_checks:Occurrences(column='input_ids', token=2).v1"


class TestEntryPoint:
    def test_is_loaded_where_a_suite_names_its_type(self, folder: Path, installed: Callable[..., None]) -> None:
        installed(**{TYPE: "my_checks:ExpectTokenCountToBeAtMost", "expect_other": "not_there:ExpectOther"})
        known = Known()
        assert TYPE in known
        assert "my_checks" not in sys.modules
        load_suite(SUITE, table=known)
        assert known.installed == {TYPE: "checks 1.2"}
        assert TYPE in known.loaded()

    def test_packages_are_not_even_listed_where_a_suite_needs_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def never(**_: str) -> None:
            raise AssertionError

        monkeypatch.setattr("dataguard.suite.plugins.entry_points", never)
        load_suite("pretrain", table=Known())

    def test_none_replaces_ours(self, folder: Path, installed: Callable[..., None]) -> None:
        installed(expect_rows_not_to_be_null="my_checks:ExpectTokenCountToBeAtMost")
        assert Known()["expect_rows_not_to_be_null"] is EXPECTATIONS["expect_rows_not_to_be_null"]

    @pytest.mark.parametrize(
        ("name", "value", "says"),
        [
            ("expect_x", "not_there:ExpectX", "there is no module not_there"),
            ("expect_x", "my_checks:ExpectX", "AttributeError"),
            ("expect_x", "my_checks:ExpectTokenCountToBeAtMost", f"the entry point expect_x gives {TYPE}"),
            ("expect_x", "my_checks", "is no expectation"),
        ],
    )
    def test_one_that_gives_something_else_is_refused(
        self, folder: Path, installed: Callable[..., None], name: str, value: str, says: str
    ) -> None:
        installed(**{name: value})
        with pytest.raises(PluginError, match=says) as caught:
            load_suite({"expectations": [{"type": name}]}, table=Known())
        assert "of checks 1.2" in str(caught.value.where)

    def test_two_packages_cannot_offer_one_type(self, folder: Path, installed: Callable[..., None]) -> None:
        installed("checks", **{TYPE: "my_checks:ExpectTokenCountToBeAtMost"})
        installed("others", **{TYPE: "others:ExpectTokenCountToBeAtMost"})
        assert len(importlib.metadata.entry_points(group="dataguard.expectations", name=TYPE)) == 2
        with pytest.raises(
            PluginError, match=r"(?s)two packages offer.*checks 1.2 and others 1.2|others 1.2 and checks"
        ):
            load_suite(SUITE, table=Known())


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder whose modules can be imported."""
    import os

    environment = {**os.environ, "PYTHONPATH": str(at)}
    return subprocess.run([COMMAND, *arguments], cwd=at, env=environment, capture_output=True, text=True, check=False)


class TestCommand:
    @pytest.fixture(autouse=True)
    def _data(self, folder: Path) -> None:
        (folder / "data").mkdir()
        rows = pa.array([[5, 2, 6], [2, 7, 2], None], pa.list_(pa.int32()))
        pq.write_table(pa.table({"input_ids": rows}), folder / "data" / "a.parquet")
        (folder / "mine.yaml").write_text(blocks("yaml")[0])

    def test_the_documented_example_finds_the_row(self, folder: Path) -> None:
        done = dataguard("validate", "data", "--suite", "mine.yaml", "--plugin", "my_checks", at=folder)
        assert done.returncode == 1, done.stderr
        assert "a.parquet row 1, position 0: 2 (too_often)" in done.stdout
        assert "1 of 2 rows" in done.stdout

    def test_an_installed_package_needs_no_option_and_is_named(
        self, folder: Path, installed: Callable[..., None]
    ) -> None:
        installed(**{TYPE: "my_checks:ExpectTokenCountToBeAtMost"})
        done = dataguard("validate", "data", "--suite", "mine.yaml", at=folder)
        assert done.returncode == 1, done.stderr
        assert f"took  {TYPE} of checks 1.2" in done.stdout

    @pytest.mark.parametrize("code", ["1 / 0", "import sys; sys.exit(0)"])
    def test_one_that_cannot_be_loaded_is_2_and_no_traceback(self, folder: Path, code: str) -> None:
        (folder / "bad_plugin.py").write_text(code)
        done = dataguard("validate", "data", "--suite", "mine.yaml", "--plugin", "bad_plugin", at=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("error: the plugin bad_plugin cannot be loaded")
        assert "Traceback" not in done.stderr

    def test_the_catalogue_tells_of_it(self, folder: Path) -> None:
        done = dataguard("catalogue", TYPE, "--plugin", "my_checks", at=folder)
        assert done.returncode == 0, done.stderr
        assert "too_often" in done.stdout
        assert TYPE in dataguard("catalogue", "--plugin", "my_checks", at=folder).stdout

    def test_the_schema_knows_it(self, folder: Path) -> None:
        done = dataguard("schema", "--plugin", "my_checks", at=folder)
        assert f'"#/$defs/{TYPE}"' in done.stdout
        assert f'"#/$defs/{TYPE}"' not in dataguard("schema", at=folder).stdout

    def test_its_kernels_are_compiled_ahead(self, folder: Path) -> None:
        for _ in range(2):
            done = dataguard("warm", "--plugin", "my_checks", "--json", "--quiet", at=folder)
            assert (done.returncode, done.stderr) == (0, "")
        assert '"compiled": 0' in done.stdout
        assert list((folder / "__pycache__").glob("my_checks.occurrences-*.nbc"))
