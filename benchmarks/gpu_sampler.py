"""How long the numbers of a sampler take on each device: permutation, sharding, digests and coverage counts.

    python benchmarks/gpu_sampler.py [--samples 100000000] [--world-size 64] [--runs 5]

Nothing is compared with a goal: it prints medians of what this machine has. The permutation is torch's on the CPU, whatever the
device, as DistributedSampler makes it; what follows runs where the device says.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from dataguard.sampler.device import counts_of, digest_of, hexadecimal


def timed(torch: Any, device: Any, work: Any) -> tuple[float, Any]:
    """Return how long a call takes until the device has done it, and what it gives."""
    begun = time.perf_counter()
    found = work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begun, found


def measure(torch: Any, device: Any, samples: int, ranks: int, runs: int) -> tuple[dict[str, float], str]:
    """Return the median seconds of each step, and a digest that must be the same on every device."""
    taken: dict[str, list[float]] = {}

    def step(name: str, work: Any) -> Any:
        seconds, found = timed(torch, device, work)
        taken.setdefault(name, []).append(seconds)
        return found

    digest = ""
    for _ in range(runs + 1):
        order = step("permutation (CPU)", lambda: torch.randperm(samples, generator=torch.Generator().manual_seed(0)))
        there = step("copy to the device", lambda order=order: order.to(device))
        cut = there[: samples - samples % ranks].view(-1, ranks)
        parts = step("sharding", lambda cut=cut: [cut[:, rank].contiguous() for rank in range(ranks)])
        digests = step("digests of all ranks", lambda parts=parts: [digest_of(torch, part) for part in parts])
        step("coverage", lambda there=there: counts_of(torch, there, samples))
        digest = hexadecimal(digest_of(torch, torch.cat(digests)))
    return {name: statistics.median(each[1:]) for name, each in taken.items()}, digest


def main() -> None:
    """Measure every device that there is."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--world-size", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    print(f"torch {torch.__version__}, {given.samples:,} samples, {given.world_size} ranks, median of {given.runs}")
    digests = set()
    for device in devices:
        taken, digest = measure(torch, device, given.samples, given.world_size, given.runs)
        digests.add(digest)
        print(f"{device.type}: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in taken.items()))
    if len(digests) > 1:
        raise SystemExit("the devices disagree")
    print(
        f"digest {digests.pop()}" + (" on every device" if len(devices) > 1 else ", on the CPU alone: there is no GPU")
    )


if __name__ == "__main__":
    main()
