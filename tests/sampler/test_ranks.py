"""Real ranks: what they take is what is judged, what is broken is found by name, and nothing is left running."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.cli import run
from dataguard.errors import UsageError
from dataguard.result import Result
from dataguard.run.request import Request
from dataguard.run.sampler import Judging
from dataguard.run.samples import read_samples
from dataguard.sampler.device import digest_of, digests_of, hexadecimal
from dataguard.sampler.loaders import factory_of, understood
from dataguard.sampler.ranks import Collected, collect
from dataguard.sampler.settings import Settings
from dataguard.sampler.simulate import orders_of
from dataguard.suite.loading import load_suite
from tests.builders import table_of
from tests.examples import examples

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

TWO = Settings(world_size=2, batch_size=4, epochs=2)
SAMPLES = 24


@pytest.fixture(scope="module", autouse=True)
def loaders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Let ranks find the loaders by a name of their own."""
    folder = tmp_path_factory.mktemp("code")
    shutil.copy(Path(__file__).with_name("loaders.py"), folder / "loaders_of_tests.py")
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


def started_by(pid: int) -> list[str]:
    """Return the processes below one, but for what Python itself keeps (the tracker of resources)."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()[1:]]
    below, found = {str(pid)}, []
    for _ in range(4):
        for row in rows:
            if row[1] in below and row[0] not in below:
                below.add(row[0])
                found.append(row[2])
    return [each for each in found if "resource_tracker" not in each and not each.startswith("ps -ww")]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Any:
    yield
    assert started_by(os.getpid()) == []


def ran(name: str, settings: Settings = TWO, timeout: float = 60) -> Collected:
    return collect(SAMPLES, settings, loader=f"loaders_of_tests:{name}", timeout=timeout)


def judged(collected: Collected, **parameters: Any) -> Result:
    return Judging(load_suite("sampler", parameters), collected.seen, "info").result(chosen=False)


def failed(result: Result) -> dict[str, set[str]]:
    return {each.type: set(each.details["reasons"]) for each in result.results if not each.success}


def test_ours_take_what_was_computed():
    table = table_of(input_ids=[[row, row + 1] for row in range(21)])
    content = read_samples(Request(table, suite="sampler", jobs=1)).content
    settings = Settings(world_size=3, batch_size=2, epochs=2, seed=4, num_workers=2)
    collected = collect(21, settings, content=content)
    for epoch in collected.seen.epochs:
        for ours, theirs in zip(epoch.ranks, orders_of(21, settings, epoch.epoch), strict=True):
            assert ours.tolist() == theirs.tolist()
    assert failed(judged(collected)) == {}
    assert len({digest for epoch in collected.seen.epochs for digest in epoch.first_batch or ()}) == 6
    assert [(told.rank, told.world_size, told.seed) for told in collected.seen.arguments] == [
        (0, 3, 4),
        (1, 3, 4),
        (2, 3, 4),
    ]
    assert len(collected.seen.workers) == 12
    never = [{"epoch": epoch, "never_seen": 0, "seen_again": 0} for epoch in (0, 1)]
    assert collected.facts == {
        "backend": "gloo",
        "device": "cpu",
        "compared": {"ranks_that_agree": 3, "coverage": never},
    }


@pytest.mark.parametrize("name", ["right", "even_shards"])
def test_loaders_that_are_right_hold(name: str):
    assert failed(judged(ran(name), shuffle=name == "right")) == {}


@pytest.mark.parametrize(
    ("name", "expected", "shuffle"),
    [
        ("epoch_forgotten", {"expect_epoch_orders_to_differ": {"same_order"}}, True),
        (
            "a_seed_for_each_rank",
            {"expect_ranks_to_be_disjoint": {"overlap"}, "expect_samples_to_be_covered": {"never_seen"}},
            True,
        ),
        ("uneven_shards", {"expect_ranks_to_be_equally_long": {"unequal_batches"}}, False),
        (
            "one_rank_drops",
            {"expect_ranks_to_be_equally_long": {"unequal_batches"}, "expect_samples_to_be_covered": {"never_seen"}},
            False,
        ),
        ("every_worker_reads_all", {"expect_workers_to_be_disjoint": {"worker_duplicate"}}, False),
        ("the_same_streams", {"expect_worker_seeds_to_differ": {"same_seed_each_epoch", "same_worker_seed"}}, True),
    ],
)
def test_what_is_broken_is_found_by_name(name: str, expected: dict[str, set[str]], shuffle: bool):
    assert failed(judged(ran(name), shuffle=shuffle)) == expected


@pytest.mark.parametrize(
    ("package", "name", "expected", "more"),
    [
        ("torchdata", "stateful", {}, {}),
        ("torchdata", "stateful_in_another_epoch", {"expect_resume_to_continue": {"wrong_epoch"}}, {}),
        ("accelerate", "accelerated", {}, {"samples": SAMPLES - 4}),
        (
            "accelerate",
            "accelerated_uneven",
            {"expect_ranks_to_be_equally_long": {"unequal_batches"}},
            {"samples": SAMPLES - 4},
        ),
        ("datasets", "of_hugging_face", {}, {"shuffle": False}),
        (
            "datasets",
            "of_hugging_face_uneven",
            {"expect_ranks_to_be_equally_long": {"unequal_batches"}},
            {"shuffle": False},
        ),
    ],
)
def test_loaders_of_others_are_judged_as_they_are(
    package: str, name: str, expected: dict[str, set[str]], more: dict[str, Any]
):
    pytest.importorskip(package)
    collected = collect(more.get("samples", SAMPLES), TWO, loader=f"loaders_of_tests:{name}")
    assert failed(judged(collected, shuffle=more.get("shuffle", True))) == expected
    assert len(collected.seen.resumes) == (package == "torchdata")


def test_a_resume_that_begins_again_is_found():
    result = judged(ran("begins_again"), shuffle=False)
    assert failed(result) == {"expect_resume_to_continue": {"repeated"}}


def test_an_order_that_nothing_decides_is_found():
    collected = ran("seeded_by_the_clock")
    found = failed(judged(collected))
    assert found["expect_order_to_be_reproducible"] == {"different_order", "different_first_batch"}
    assert collected.facts["compared"]["ranks_that_agree"] == 0


def test_a_rank_that_hangs_is_a_finding_that_names_it_and_the_step():
    started = time.monotonic()
    result = judged(ran("hangs", timeout=1.5), shuffle=False)
    (verdict,) = (each for each in result.results if each.type == "expect_ranks_to_be_equally_long")
    assert [(each.reason, each.epoch, each.rank, each.value) for each in verdict.findings] == [
        ("unequal_batches", 0, 1, 5)
    ]
    assert time.monotonic() - started < 120


def test_ranks_that_hang_before_their_first_batch_are_findings():
    found = failed(judged(ran("hangs_before_the_first_batch", timeout=1.5)))
    assert found["expect_ranks_to_be_equally_long"] == {"unequal_batches"}
    assert found["expect_samples_to_be_covered"] == {"never_seen"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "raises",
            "rank 1 failed in epoch 0, step 2\n  where --loader loaders_of_tests:raises\n  why   KeyError: 'no such row'",
        ),
        (
            "dies",
            "rank 1 died in epoch 0, step 1\n  where --loader loaders_of_tests:dies\n  why   it was ended by signal 9",
        ),
        (
            "ends_as_if_done",
            "  why   it ended with status 0, before it was done",
        ),
        ("never_ends", "the loader never ends"),
        ("never_ends_and_gives_nothing", "the loader never ends"),
        ("fractions", "0.25 is no whole number"),
        ("says_nothing", "a batch does not say which samples it holds"),
        ("outside", "the loader gives samples that there are not"),
        ("no_loader", "the factory returned a int, which is no loader"),
    ],
)
def test_a_loader_that_fails_is_one_message(name: str, told: str):
    with pytest.raises(UsageError) as error:
        ran(name)
    assert told in str(error.value)


def test_a_module_that_ends_itself_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "module_that_ends_itself.py").write_text("import sys; sys.exit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    assert run(["sampler", "--loader", "module_that_ends_itself:f", "--samples", "4"]) == 2


def test_what_a_module_prints_stands_beside_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "module_that_prints.py").write_text("print('hello')\ndef f():\n    return [[0, 1]]\n")
    monkeypatch.syspath_prepend(tmp_path)
    command = ["sampler", "--loader", "module_that_prints:f", "--samples", "2", "--batch-size", "2", "--epochs", "1"]
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"] is True


def test_a_loader_is_judged_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    more = ["--samples", "24", "--world-size", "2", "--batch-size", "4", "--out", str(tmp_path / "out")]
    assert run(["sampler", "--loader", "loaders_of_tests:epoch_forgotten", *more]) == 1
    assert "same_order" in capsys.readouterr().out


def test_an_interrupted_run_leaves_no_process(tmp_path: Path):
    code = Path(__file__).with_name("loaders.py")
    shutil.copy(code, tmp_path / "mine.py")
    arguments = ["sampler", "--loader", "mine:hangs", "--samples", "24", "--world-size", "2", "--no-shuffle"]
    command = [sys.executable, "-m", "dataguard", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(started_by(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(1)
        process.send_signal(2)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in told
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in listed
    assert started_by(process.pid) == []


def test_nccl_without_a_gpu_for_each_rank_is_refused():
    if torch.cuda.device_count() >= 2:
        pytest.skip("there are GPUs enough")
    with pytest.raises(UsageError, match="nccl cannot be used"):
        collect(4, TWO, backend="nccl")


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("loader", "names no loader"),
        ("no_such_module:f", "cannot be imported"),
        ("loaders_of_tests:rigth", "did you mean right?"),
        ("loaders_of_tests:SAMPLES", "has no factory SAMPLES"),
    ],
)
def test_a_factory_that_is_not_there_is_one_message(named: str, told: str):
    with pytest.raises(UsageError) as error:
        factory_of(named)
    assert told in str(error.value)


@pytest.mark.parametrize(
    "batch",
    [
        [3, 1],
        (3, 1),
        torch.tensor([3, 1]),
        torch.tensor([[3], [1]]),
        {"idx": np.array([3, 1])},
        {"sample_ids": [[3], [1]]},
    ],
)
def test_batches_say_their_samples_in_many_ways(batch: Any):
    assert understood(batch).samples == [3, 1]


@pytest.mark.parametrize(
    "batch", [None, [0.0], [True], ["3"], torch.tensor([0.5]), {"id": [None]}, {"id": [1], "worker": [0]}]
)
def test_a_batch_of_anything_but_whole_numbers_is_refused(batch: Any):
    with pytest.raises(UsageError, match=r"a batch does not say|worker is not"):
        understood(batch)


def test_a_digest_knows_order_length_and_value():
    def of(*values: int) -> str:
        return hexadecimal(digest_of(torch, torch.tensor(values, dtype=torch.int64)))

    assert of(1, 2, 3) == of(1, 2, 3)
    assert len({of(1, 2, 3), of(1, 3, 2), of(1, 2), of(1, 2, 0), of(0, 0), of(0), of(), of(-1, 2, 3)}) == 8
    many = torch.randperm(100_000, generator=torch.Generator().manual_seed(0))
    assert hexadecimal(digest_of(torch, many)) == "55168a7b341056904c585c243f25a045"


@examples(100)
@given(st.data())
def test_an_order_in_pieces_has_the_digests_of_each_ranks_own_samples(data: st.DataObject):
    ranks, rows = data.draw(st.integers(1, 5)), data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    numbers = st.lists(st.integers(0, 1 << 40), min_size=sum(rows) * ranks, max_size=sum(rows) * ranks)
    order = torch.tensor(data.draw(numbers), dtype=torch.int64)
    found = digests_of(torch, torch.split(order, [each * ranks for each in rows]), ranks)
    assert [hexadecimal(each) for each in found] == [
        hexadecimal(digest_of(torch, order[rank::ranks])) for rank in range(ranks)
    ]


@pytest.mark.parametrize("timeout", [float("nan"), 0.0, -1.0])
def test_a_time_that_never_passes_is_refused(timeout: float):
    with pytest.raises(UsageError, match="--timeout cannot be"):
        ran("right", timeout=timeout)


@pytest.mark.parametrize("tokens", [[5, 6], torch.tensor([5, 6]), np.array([5, 6]), [[5, 6]], torch.tensor([[5, 6]])])
def test_a_batch_of_one_row_may_hold_its_tokens_without_a_list_around_them(tokens: Any):
    assert understood({"id": 3, "input_ids": tokens}).content.tolist() == [2, 5, 6]


@pytest.mark.parametrize("tokens", ["abc", 5, [5, [6]], [["a"]], [None]])
def test_tokens_that_are_no_numbers_are_refused(tokens: Any):
    with pytest.raises(UsageError, match="input_ids of a batch are no rows of whole numbers"):
        understood({"id": 3, "input_ids": tokens})
