"""What every test may ask for, and what none may do: reach a network, or write into the user's cache."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import tests.examples  # noqa: F401  # before any test is defined

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("DATAGUARD_SHARED", ROOT.parent / "shared"))
"""Real data that is too large for the repository; tests that want it skip plainly where it is absent."""


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of real and faulty shards."""
    return ROOT / "fixtures"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data; the test is skipped where there is none."""
    if not (SHARED / "data" / "shards").is_dir():
        pytest.skip(f"no real data in {SHARED} (DATAGUARD_SHARED names another folder)")
    return SHARED


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep stored metrics of one test from another, and out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / f"cache-{os.urandom(4).hex()}"))


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that opens a connection to another machine."""
    if request.node.get_closest_marker("online"):
        return
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            pytest.fail(f"this test opened a connection to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
