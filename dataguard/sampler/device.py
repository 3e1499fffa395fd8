"""Orders and batches as numbers, counted and hashed where they lie: the same code on a GPU and on the CPU.

Every function takes torch, which is loaded only where ranks run. A hash is a sum of values times keys, one key a position, in
64-bit arithmetic that wraps around: a sum does not depend on the order in which a device adds, so that all devices agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LANES = (0x2545F4914F6CDD1D, 0x6C62272E07BB0142)
GOLDEN, FIRST, SECOND = -0x61C8864680B583EB, -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15
"""0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9 and 0x94D049BB133111EB (splitmix64) as signed numbers."""


def device_of(torch: Any, backend: str, rank: int) -> Any:
    """Return the device on which a rank counts and hashes: its own GPU under nccl, else any GPU that there is, else the CPU."""
    if backend == "nccl":
        return torch.device("cuda", rank)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def digest_of(torch: Any, values: Any) -> Any:
    """Return a digest of whole numbers and their order. Shape (2,), int64, on the device of the values.

    Args:
        values: Shape (n,), int64.
    """
    return digests_of(torch, [values], 1)[0]


def digests_of(torch: Any, pieces: Iterable[Any], ranks: int) -> Any:
    """Return the digest of what each rank takes of an order that is dealt to all in turn, piece by piece.

    Memory is that of one piece, however long the order is.

    Args:
        pieces: The order in parts, each of shape (rows * ranks,), whole numbers, on one device.

    Returns:
        Shape (ranks, 2), int64, on that device: what `digest_of` gives for each rank's own samples.
    """
    sums, rows = None, 0
    for piece in pieces:
        taken = piece.view(-1, ranks).to(torch.int64) + 1
        positions = torch.arange(rows, rows + len(taken), dtype=torch.int64, device=piece.device)
        keys = [(_mixed(positions * GOLDEN + lane) | 1).unsqueeze(1) for lane in LANES]
        added = torch.stack([(taken * key).sum(dim=0) for key in keys], dim=1)
        sums = added if sums is None else sums + added
        rows += len(taken)
    if sums is None:
        raise ValueError("an order has at least one piece, if an empty one")
    return _mixed(sums + torch.full_like(sums, rows) * GOLDEN)


def _mixed(numbers: Any) -> Any:
    """Return numbers with every bit stirred into every other (the end of splitmix64)."""
    numbers = (numbers ^ _right(numbers, 30)) * FIRST
    numbers = (numbers ^ _right(numbers, 27)) * SECOND
    return numbers ^ _right(numbers, 31)


def _right(numbers: Any, bits: int) -> Any:
    """Return numbers shifted to the right as if they had no sign."""
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)


def hexadecimal(digest: Any) -> str:
    """Return a digest as text."""
    return "".join(f"{number & 0xFFFFFFFFFFFFFFFF:016x}" for number in digest.tolist())


def counts_of(torch: Any, order: Any, samples: int) -> Any:
    """Return how often each sample occurs in an order. Shape (samples,), int32, on the device of the order."""
    return torch.bincount(order, minlength=samples)[:samples].to(torch.int32)
