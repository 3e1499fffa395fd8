"""Small shards of every layout, and what may happen to their bytes. The dice fall the same for the same seed."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

LIES = (-1, 0, 1, 7, 127, 2**15, 2**31 - 1, -(2**31), 2**32, 2**40, 2**60, 2**63 - 1, -(2**63))
ROWS, HIGHEST = 40, 259
_HEAD, _TAIL = 3000, 3500
"""Bytes at both ends where headers and footers stand; they are hit most."""


class Layout(NamedTuple):
    """How a table becomes a file.

    Args:
        kind: stream, file or parquet.
        compression: Of bodies or pages.
        options: What else `pyarrow.parquet.write_table` is told.
    """

    kind: str
    compression: str | None
    options: tuple[tuple[str, object], ...] = ()


LAYOUTS = {
    "stream": Layout("stream", None),
    "stream-lz4": Layout("stream", "lz4"),
    "file": Layout("file", None),
    "file-lz4": Layout("file", "lz4"),
    "file-zstd": Layout("file", "zstd"),
    "parquet": Layout("parquet", "snappy"),
    "parquet-plain": Layout("parquet", "none", (("use_dictionary", False), ("data_page_version", "2.0"))),
    "parquet-zstd-crc": Layout("parquet", "zstd", (("write_page_checksum", True), ("write_page_index", True))),
}


def table(kind: str, seed: int = 1) -> pa.Table:
    """Return 40 rows of every type of column that holds tokens, and of many that hold something else."""
    dice = random.Random(seed)
    ids = [
        None if row % 7 == 3 else [dice.randrange(4, HIGHEST + 1) for _ in range(dice.randrange(20))]
        for row in range(ROWS)
    ]
    columns = {
        "input_ids": pa.array(ids, pa.list_(pa.int32())),
        "attention_mask": pa.array([None if row is None else [1] * len(row) for row in ids], pa.list_(pa.int8())),
        "labels": pa.array(ids, pa.large_list(pa.int64())),
        "position_ids": pa.array([[0, 1, 2]] * ROWS, pa.list_(pa.uint16(), 3)),
        "source": pa.array([("web", "code", None)[row % 3] for row in range(ROWS)]).dictionary_encode(),
        "text": pa.array([str(row) * row for row in range(ROWS)]),
        "spans": pa.array([[[0, 1], [2, 3]]] * ROWS, pa.list_(pa.list_(pa.int32()))),
        "meta": pa.array([{"a": row, "b": "x"} for row in range(ROWS)]),
    }
    if kind != "parquet":
        columns |= {
            "document_ids": pa.array(ids, pa.list_view(pa.int32())),
            "loss_mask": pa.array([None if row is None else [True] * len(row) for row in ids], pa.list_(pa.bool_())),
            "view": pa.array([str(row) * row for row in range(ROWS)], pa.string_view()),
            "none": pa.nulls(ROWS),
            "runs": pa.RunEndEncodedArray.from_arrays(pa.array([9, ROWS], pa.int32()), pa.array(["x", "y"])),
        }
    return pa.table(columns)


@cache
def whole(name: str, seed: int = 1) -> bytes:
    """Return a file of a layout, undamaged."""
    layout, sink = LAYOUTS[name], io.BytesIO()
    rows = table(layout.kind, seed)
    if layout.kind == "parquet":
        pq.write_table(rows, sink, row_group_size=15, compression=layout.compression, **dict(layout.options))
        return sink.getvalue()
    new = ipc.new_stream if layout.kind == "stream" else ipc.new_file
    with new(sink, rows.schema, options=ipc.IpcWriteOptions(compression=layout.compression)) as writer:
        writer.write_table(rows, max_chunksize=15)
    return sink.getvalue()


def mutated(seed: int) -> tuple[str, str, bytes]:
    """Return the layout, the names of the mutations, and the bytes of a seed."""
    dice = random.Random(seed)
    layout = dice.choice(list(LAYOUTS))
    data, done = bytearray(whole(layout)), []
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        mutation = dice.choice(MUTATIONS)
        mutation(data, dice, layout)
        done.append(mutation.__name__.strip("_"))
        if len(data) < 16:
            break
    return layout, "+".join(done), bytes(data)


def _stretch(data: bytearray, dice: random.Random) -> tuple[int, int]:
    """Return where to hit: anywhere, or near one of the ends."""
    size = len(data)
    return dice.choice([(0, size), (0, min(_HEAD, size)), (max(0, size - _TAIL), size)])


def _word(data: bytearray, dice: random.Random, size: int = 8) -> int:
    """Return where a number of so many bytes may stand."""
    start, stop = _stretch(data, dice)
    return min(dice.randrange(start, stop) & ~(min(size, 4) - 1), len(data) - size)


def _bit_flips(data: bytearray, dice: random.Random, layout: str) -> None:
    stretch = _stretch(data, dice)
    for _ in range(dice.randrange(1, 9)):
        data[dice.randrange(*stretch)] ^= 1 << dice.randrange(8)


def _bytes_set(data: bytearray, dice: random.Random, layout: str) -> None:
    stretch = _stretch(data, dice)
    for _ in range(dice.randrange(1, 5)):
        data[dice.randrange(*stretch)] = dice.choice((0, 1, 127, 128, 255))


def _cut(data: bytearray, dice: random.Random, layout: str) -> None:
    del data[dice.randrange(1, len(data)) & dice.choice((-1, -8)) :]


def _hole(data: bytearray, dice: random.Random, layout: str) -> None:
    start = _word(data, dice)
    del data[start : start + dice.choice((1, 4, 8, 64, 512))]


def _lie(data: bytearray, dice: random.Random, layout: str) -> None:
    at = _word(data, dice)
    data[at : at + 8] = struct.pack("<q", dice.choice((*LIES, dice.randrange(1 << 16), dice.randrange(1 << 32))))


def _short_lie(data: bytearray, dice: random.Random, layout: str) -> None:
    at = _word(data, dice, 4)
    lies = [lie for lie in LIES if -(2**31) <= lie < 2**31]
    data[at : at + 4] = struct.pack("<i", dice.choice((*lies, dice.randrange(1 << 16))))


def _near_lie(data: bytearray, dice: random.Random, layout: str) -> None:
    """Change a number by a little: lengths and offsets that are almost right."""
    at = _word(data, dice, 4)
    number = struct.unpack_from("<i", data, at)[0] + dice.choice((-64, -8, -4, -1, 1, 4, 8, 64))
    data[at : at + 4] = struct.pack("<i", max(-(2**31), min(2**31 - 1, number)))


def _swap(data: bytearray, dice: random.Random, layout: str) -> None:
    """Swap two entries: buffers, field nodes, offsets."""
    size = dice.choice((4, 8, 16, 24, 64))
    one, other = sorted((_word(data, dice, size), _word(data, dice, size)))
    if one >= 0 and one + size <= other:
        data[one : one + size], data[other : other + size] = data[other : other + size], data[one : one + size]


def _copy_over(data: bytearray, dice: random.Random, layout: str) -> None:
    size = dice.choice((8, 64, 256, 1024))
    source, target = _word(data, dice), _word(data, dice)
    stretch = data[source : source + size]
    data[target : target + len(stretch)] = stretch


def _overwrite(data: bytearray, dice: random.Random, layout: str) -> None:
    start, size = _word(data, dice), dice.choice((8, 64, 512, 4096))
    size = min(size, len(data) - start)
    data[start : start + size] = dice.choice((bytes(size), b"\xff" * size, dice.randbytes(size)))


def _repeat(data: bytearray, dice: random.Random, layout: str) -> None:
    start = _word(data, dice)
    data[start:start] = data[start : start + dice.choice((8, 64, 512))]


def _wrong_footer(data: bytearray, dice: random.Random, layout: str) -> None:
    """Put the end of another file here: of the same layout with other rows, or of another layout."""
    other = whole(dice.choice((layout, *LAYOUTS)), dice.choice((1, 2)))
    taken, left = dice.randrange(16, _TAIL), dice.randrange(16, _TAIL)
    data[max(8, len(data) - left) :] = other[-taken:]


def _wrong_body(data: bytearray, dice: random.Random, layout: str) -> None:
    """Keep this file's end, with another file's rows before it."""
    other = whole(layout, 2)
    at = dice.randrange(8, min(len(data), len(other)))
    data[:at] = other[:at]


MUTATIONS: tuple[Callable[[bytearray, random.Random, str], None], ...] = (
    _bit_flips,
    _bit_flips,
    _bytes_set,
    _cut,
    _hole,
    _lie,
    _short_lie,
    _near_lie,
    _near_lie,
    _swap,
    _swap,
    _copy_over,
    _overwrite,
    _repeat,
    _wrong_footer,
    _wrong_body,
)
