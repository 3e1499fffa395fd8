"""Prove a sampler on one GPU, or on the CPU where there is none: real ranks, digests on both, and a very large order.

    python benchmarks/gpu_sampler.py [--samples 1000000000] [--world-size 1024] [--ranks 4] [--out sampler.json]

Three parts, each printed as it ends. `devices`: the digests and counts of one order are the same on the CPU and on the GPU.
`ranks`: `dataguard sampler` starts real ranks over rows of its own, with the backend that fits (nccl where each rank has a GPU of
its own, else gloo with the hashing on the GPU that there is), and judges them. `proof`: the orders of DistributedSampler for
very many samples and ranks, piece by piece: the same seed and epoch give every rank the same order twice, another epoch gives
another to each, every sample comes, and none comes to two ranks but the copies that even them out. The permutation is torch's
on the CPU, as DistributedSampler makes it; all else runs on the device. Times and peak memory are what this machine took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dataguard.run.sampler import judge_sampler
from dataguard.sampler.device import counts_of, device_of, digest_of, digests_of, hexadecimal
from dataguard.sampler.ranks import backend_for
from dataguard.sampler.settings import Settings
from dataguard.sampler.simulate import order_of

PIECE = 1 << 24
"""Samples on the device at once."""
TELLERS = 10_000_000
"""Samples by which devices are compared."""


class Clock:
    """Seconds by step."""

    def __init__(self, torch: Any, device: Any) -> None:
        self.seconds: dict[str, float] = {}
        self._torch, self._device = torch, device

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Take the time of a step until the device has done it."""
        begun = time.perf_counter()
        yield
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)
        self.seconds[step] = round(self.seconds.get(step, 0.0) + time.perf_counter() - begun, 3)


def peak(torch: Any, device: Any) -> dict[str, int]:
    """Return the most memory so far, in MiB: of the process, and on the GPU."""
    found = {"process_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}
    if device.type == "cuda":
        found["gpu_mib"] = torch.cuda.max_memory_allocated(device) >> 20
    return found


def devices_agree(torch: Any) -> dict[str, Any]:
    """Return the digest of an order on every device, which must be the same, and so must be how often samples come."""
    order = torch.randperm(TELLERS, generator=torch.Generator().manual_seed(0))
    order[1] = order[0]
    found, counts = {}, []
    for device in [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]:
        there = order.to(device)
        found[device.type] = hexadecimal(digest_of(torch, there))
        counts.append(counts_of(torch, there, TELLERS).cpu())
    if len(set(found.values())) > 1 or not torch.equal(counts[0], counts[-1]):
        raise SystemExit(f"the devices disagree: {found}")
    return {"digests": found, "samples": TELLERS}


def real_ranks(ranks: int) -> dict[str, Any]:
    """Return what real ranks over rows of real files find."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 50_000, length).tolist() for length in rng.integers(1, 512, 4_001)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))}), file)
        settings = Settings(world_size=ranks, batch_size=8, epochs=2, num_workers=2)
        begun = time.perf_counter()
        result = judge_sampler(file, settings, backend=backend_for("auto", ranks), store=None)
        taken = time.perf_counter() - begun
    how = result.meta["sampler"]
    told = {key: how.get(key) for key in ("backend", "device", "devices", "torch") if how.get(key) is not None}
    if not result.success:
        raise SystemExit("real ranks of DistributedSampler were judged unsound: " + json.dumps(result.to_dict()))
    return {"ranks": ranks, "seconds": round(taken, 1), **told, "expectations": len(result.results)}


def _made(samples: int, settings: Settings, epochs: Sequence[int]) -> Iterator[Any]:
    """Yield the orders of epochs; where there are cores (and so, most likely, memory) to spare, they are made side by side."""
    ahead, waiting = max(1, min(len(epochs), (os.cpu_count() or 1) // 4)), deque(epochs)
    with ThreadPoolExecutor(ahead) as pool:
        running = deque(pool.submit(order_of, samples, settings, waiting.popleft()) for _ in range(ahead))
        while running:
            yield running.popleft().result()
            if waiting:
                running.append(pool.submit(order_of, samples, settings, waiting.popleft()))


def proof(torch: Any, device: Any, samples: int, ranks: int) -> dict[str, Any]:
    """Return what holds of the orders of so many samples and ranks, and how long each step took."""
    settings, clock = Settings(world_size=ranks), Clock(torch, device)
    rows = max(PIECE // ranks, 1)
    digests, sound, made = [], True, _made(samples, settings, (0, 0, 1))
    for _ in range(3):
        with clock("permutation (CPU)"):
            order = torch.from_numpy(next(made))
        counts = torch.zeros(samples, dtype=torch.uint8, device=device)

        def pieces(order: Any = order, counts: Any = counts) -> Iterator[Any]:
            for first in range(0, len(order), rows * ranks):
                with clock("copy to the device"):
                    piece = order[first : first + rows * ranks].to(device)
                with clock("coverage"):
                    counts.index_add_(0, piece, torch.ones_like(piece, dtype=torch.uint8))
                yield piece

        before = dict(clock.seconds)
        with clock("sharding and digests"):
            digests.append(digests_of(torch, pieces(), ranks).cpu())
        for step in ("copy to the device", "coverage"):
            clock.seconds["sharding and digests"] -= clock.seconds[step] - before.get(step, 0.0)
        with clock("coverage"):
            most, never = int(counts.max()), int((counts == 0).sum())
            copies = sum(int((counts[at : at + PIECE] > 1).sum()) for at in range(0, samples, PIECE))
        sound &= never == 0 and most <= 2 and copies == -samples % ranks
        del order, counts
    same = bool(torch.equal(digests[0], digests[1]))
    differ = int((digests[0] != digests[2]).any(dim=1).sum())
    return {
        "samples": samples,
        "ranks": ranks,
        "ranks_with_the_same_order_twice": int((digests[0] == digests[1]).all(dim=1).sum()),
        "ranks_with_another_order_in_the_next_epoch": differ,
        "every_sample_comes_and_copies_only_even_out": sound,
        "proven": same and sound and differ == ranks,
        "digest": hexadecimal(digest_of(torch, digests[0].flatten())),
        "seconds": {step: round(seconds, 1) for step, seconds in clock.seconds.items()},
        "seconds_in_all": round(sum(clock.seconds.values()), 1),
        "peak": peak(torch, device),
    }


def main() -> None:
    """Do all three parts."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000_000)
    parser.add_argument("--world-size", type=int, default=1024)
    parser.add_argument("--ranks", type=int, default=4, help="real ranks, in processes of their own")
    parser.add_argument("--out", type=Path, help="file for what is found, as JSON")
    given = parser.parse_args()
    device = device_of(torch, "gloo", 0)
    named = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu: there is no GPU"
    found: dict[str, Any] = {"torch": torch.__version__, "device": named}
    print(json.dumps(found), flush=True)
    parts = {
        "devices": lambda: devices_agree(torch),
        "ranks": lambda: real_ranks(given.ranks),
        "proof": lambda: proof(torch, device, given.samples, given.world_size),
    }
    for name, part in parts.items():
        found[name] = part()
        print(json.dumps({name: found[name]}), flush=True)
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if not found["proof"]["proven"]:
        raise SystemExit("the orders are not sound")


if __name__ == "__main__":
    main()
