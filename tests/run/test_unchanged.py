"""What tells that files and folders are what they were: every change shows, and nothing else does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dataguard.run.looked_at import PROJECT
from dataguard.run.unchanged import SETTLED_NS, State, Watched, state_of
from dataguard.suite.project import NAME


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    (place / "inner" / "deep").mkdir(parents=True)
    (place / ".hidden").mkdir()
    (place / "a").write_text("one")
    (place / "inner" / "b").write_text("two")
    (place / "inner" / "deep" / "c").write_text("three")
    (place / "link").symlink_to("a")
    return place


def digest(place: Path, kind: str) -> str:
    return state_of([Watched(kind, str(place))]).digest  # type: ignore[arg-type]


def touch(path: str) -> Callable[[Path], object]:
    return lambda place: os.utime(place / path, (1, 1))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _place: None, ""),
    "a file": (touch("a"), "folder tree whole"),
    "what is longer": (lambda place: (place / "a").write_text("longer"), "folder tree whole"),
    "rights": (lambda place: (place / "a").chmod(0o600), "folder tree whole"),
    "a new name": (lambda place: (place / "new").touch(), "folder tree whole"),
    "a name that is gone": (lambda place: (place / "a").unlink(), "folder tree whole"),
    "another name": (lambda place: (place / "a").rename(place / "z"), "folder tree whole"),
    "a new folder": (lambda place: (place / "new").mkdir(), "folder tree whole"),
    "a file further in": (touch("inner/b"), "tree whole"),
    "a file far in": (touch("inner/deep/c"), "tree whole"),
    "a new name further in": (lambda place: (place / "inner/new").touch(), "tree whole"),
    "what is hidden": (lambda place: (place / ".hidden/new").touch(), "whole"),
    "a file in the place of a folder": (
        lambda place: (place / ".hidden").rmdir() or (place / ".hidden").touch(),  # type: ignore[func-returns-value]
        "folder tree whole",
    ),
    "where a link leads": (
        lambda place: (place / "link").unlink() or (place / "link").symlink_to("inner/b"),  # type: ignore[func-returns-value]
        "folder tree whole",
    ),
    "the folder itself": (
        lambda place: place.rename(place.with_name("old")) and place.mkdir(),
        "file folder tree whole",
    ),
    "its rights": (lambda place: place.chmod(0o700), "file folder tree whole"),
}


@pytest.mark.parametrize("kind", ["file", "folder", "tree", "whole"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_as_far_as_it_is_looked_for(change: str, kind: str, place: Path) -> None:
    make, shows = CHANGES[change]
    before = digest(place, kind)
    assert digest(place, kind) == before
    make(place)
    assert (digest(place, kind) != before) is (kind in shows.split())


def test_what_a_link_leads_to_is_looked_at(place: Path) -> None:
    link = place.with_name("link")
    link.symlink_to(place)
    before = digest(link, "tree")
    os.utime(place / "inner" / "b", (1, 1))
    assert digest(link, "tree") != before
    (place / "inner" / "round").symlink_to("..")  # a circle ends
    assert digest(link, "tree")


def test_that_nothing_is_there_is_a_state_too(place: Path) -> None:
    before = digest(place / "later", "tree")
    (place / "later").mkdir()
    assert digest(place / "later", "tree") != before
    assert digest(place / ("x" * 5000), "file")
    assert digest(place / "nul\0", "file")


def test_what_is_left_out_does_not_show(place: Path) -> None:
    def state() -> State:
        return state_of([Watched("tree", str(place))], lambda path: path == f"{place}/inner")

    before = state()
    os.utime(place / "inner" / "b", (1, 1))
    (place / "inner").rename(place.with_name("elsewhere"))
    assert state() == before


def test_what_was_just_written_is_not_settled(place: Path) -> None:
    state = state_of([Watched("tree", str(place))])
    newest = max(path.lstat().st_ctime_ns for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
    assert state.newest_ns == newest
    assert not state.is_settled(newest + SETTLED_NS)
    assert state.is_settled(newest + SETTLED_NS + 1)


def test_the_project_file_has_one_name() -> None:
    assert PROJECT == NAME
