"""Made-up data sets: a few shards of a few rows, sound and unsound, in every type and layout that a shard may have."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyarrow import ipc

from tests.builders import SPECIAL, byte_tokenizer, ids_of, list_array
from tests.expectations.reference.terms import Row, Vocabulary

IGNORED = -100
INTEGERS = (pa.int32(), pa.int64(), pa.int8(), pa.int16(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
LAYOUTS = ("list", "list", "large_list", "list_view", "fixed")
FORMATS = ("stream", "file", "parquet")
BESIDE = (
    *("attention_mask", "labels", "document_ids", "cu_seqlens", "seq_lengths"),
    *("position_ids", "loss_mask", "prompt_ids"),
)
WHOLE = ("prompt_length", "target_spans", "images", "source")
"""Columns that are no lists of numbers; `images` says how often a token should occur in a row."""
ROLES = ("input_ids", *BESIDE, *WHOLE)
LIKELY = {"labels": 3, **dict.fromkeys(("attention_mask", "document_ids", "position_ids", "cu_seqlens"), 2)}
LIKELY |= dict.fromkeys(("prompt_length", "target_spans", "source"), 2)
"""In how many of four data sets a column is there, where that is more than one."""
STRANGE = (-1, -100, 99, 100, 103, 104, 255, 260, 65436, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1)
TEXT = (*ids_of("ab01-! \n"), *ids_of("é½"), 3, 4 + 0xE2, 4 + 0x82)
"""Ids of `byte_tokenizer`: letters, digits, symbols, white space, characters of two bytes, unk, and halves of characters."""


@dataclass(frozen=True)
class Known:
    """What is known of the vocabulary, and how the library is told."""

    terms: Vocabulary
    told: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Path | None = None
    pool: tuple[int, ...] = (5, 6, 7, 8, 9, 3)


@dataclass(frozen=True)
class Shard:
    """One shard: how it is written, and its rows, a cell for each column, named as its role is."""

    name: str
    rows: list[dict[str, Any]]
    kinds: dict[str, pa.DataType]
    layouts: dict[str, str]
    written: str
    chunk: int
    skip: int

    def array(self, role: str) -> pa.Array:
        """Return a column, cut out of a longer one where the shard says so."""
        cells, kind = [row[role] for row in self.rows], self.kinds[role]
        if role in self.layouts:
            return list_array(cells, kind, self.layouts[role], self.skip)
        filler = "x" if pa.types.is_string(kind) else 1 if pa.types.is_integer(kind) else []
        return pa.array([filler] * self.skip + cells, kind).slice(self.skip)

    def write(self, path: Path, names: Mapping[str, str]) -> None:
        """Write the shard, its columns under these names."""
        path.parent.mkdir(exist_ok=True)
        table = pa.table({names[role]: self.array(role) for role in self.kinds})
        if self.written == "parquet":
            pq.write_table(table, path, row_group_size=self.chunk)
            return
        opened = ipc.new_stream if self.written == "stream" else ipc.new_file
        with path.open("wb") as sink, opened(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=self.chunk)


@dataclass(frozen=True)
class Data:
    """A data set. Its columns have a prefix, but for those of the row as a whole: the prompt may be one of these."""

    shards: list[Shard]
    known: Known
    prefix: str
    shares_prompt: bool

    @property
    def column(self) -> str:
        return self.prefix + "input_ids"

    @property
    def names(self) -> dict[str, str]:
        """The name of each role's column."""
        whole = ("source", "images", *(("prompt_ids", "prompt_length") if self.shares_prompt else ()))
        return {role: role if role in whole else self.prefix + role for role in ROLES}

    def rows(self) -> list[Row]:
        """Return every row, with what is known of it."""
        names = self.names
        return [
            Row(
                shard=place,
                number=number,
                source=source_of(shard, cells),
                cells={names[role]: cell for role, cell in cells.items()},
                column=self.column,
                vocabulary=self.known.terms,
            )
            for place, shard in enumerate(self.shards)
            for number, cells in enumerate(shard.rows)
        ]

    def write(self, folder: Path) -> None:
        """Write each shard as it says."""
        for shard in self.shards:
            shard.write(folder / shard.name, self.names)


def source_of(shard: Shard, cells: Mapping[str, Any]) -> str | None:
    if "source" in shard.kinds:
        source: str | None = cells["source"]
        return source
    return shard.name.rpartition("/")[0] or None


def fits(value: int, kind: pa.DataType) -> bool:
    if pa.types.is_boolean(kind):
        return value in (0, 1)
    low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
    return low <= value <= low + 2**kind.bit_width - 1


def fitted(cell: Any, kind: pa.DataType) -> Any:
    """Return a cell of numbers that the type can hold: others wrap around."""
    if isinstance(cell, list):
        return [fitted(each, kind) for each in cell]
    if cell is None or fits(cell, kind):
        return cell
    return int(bool(cell)) if pa.types.is_boolean(kind) else cell & (2 ** (kind.bit_width - 1) - 1)


def often(usual: st.SearchStrategy[Any], *others: st.SearchStrategy[Any], times: int = 8) -> st.SearchStrategy[Any]:
    """Return the usual choice so many times as often as each other one; `st.one_of` counts equal choices once."""
    return st.sampled_from([*[usual] * times, *others]).flatmap(lambda chosen: chosen)


def with_tokenizer(special: tuple[str, ...], names: tuple[str, ...]) -> Known:
    spelled = [*(each.encode() for each in special), *(bytes([byte]) for byte in range(256))]
    ids = {name: place for place, name in enumerate(names)}
    every = {token: place for place, token in enumerate(special)}
    terms = Vocabulary(size=len(spelled), special=every, spelled=spelled, **ids)
    shift = len(special) - len(SPECIAL)
    pool = tuple(token + shift for token in TEXT if token >= len(SPECIAL))
    return Known(terms, {}, byte_tokenizer(special, names), (*pool, ids.get("unk", pool[0])))


def without_tokenizer(**told: Any) -> Known:
    ids = {name: told[name] for name in ("pad", "bos", "eos", "unk") if name in told}
    terms = Vocabulary(
        size=told.get("size"),
        embedding_rows=told.get("embedding_rows"),
        special={**told.get("special", {}), **ids},
        reserved=frozenset(told.get("reserved", ())),
        **ids,
    )
    pool = (5, 6, 7, 8, 9, 3)
    return Known(terms, told, pool=(*pool, 98, 99, 100, 103) if "embedding_rows" in told else pool)


USUAL = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}
VOCABULARIES = (
    *[with_tokenizer(SPECIAL, ("pad", "bos", "eos", "unk"))] * 3,
    with_tokenizer(("</s>", "<s>", "<unk>"), ("eos", "bos", "unk")),
    without_tokenizer(**USUAL),
    without_tokenizer(**USUAL, embedding_rows=104, reserved=[8, 99, 103], special={"tool": 9}),
    *[without_tokenizer(**USUAL | {"pad": 2})] * 3,
    without_tokenizer(**USUAL | {"bos": 2}),
    without_tokenizer(**USUAL | {"bos": 2, "pad": 2, "unk": 2}),
    without_tokenizer(size=100, eos=2),
    without_tokenizer(pad=0),
    without_tokenizer(),
)


@dataclass(frozen=True)
class Parts:
    """What a row is made of, before it becomes columns."""

    documents: list[list[int]]
    left: int
    right: int
    pad: int

    @property
    def ids(self) -> list[int]:
        return [self.pad] * self.left + [token for each in self.documents for token in each] + [self.pad] * self.right

    @property
    def numbers(self) -> list[int | None]:
        """The number of each token's document, None where it is padding."""
        told = [number for number, each in enumerate(self.documents) for _ in each]
        return [*[None] * self.left, *told, *[None] * self.right]


@st.composite
def parts(draw: st.DrawFn, known: Known) -> Parts:
    """Return documents with their separators, and padding on the right, the left, or both."""
    terms = known.terms
    bos, eos = 1 if terms.bos is None else terms.bos, 2 if terms.eos is None else terms.eos
    token = often(st.sampled_from(known.pool), st.sampled_from([bos, eos, 0]), st.sampled_from(STRANGE), times=20)
    content = st.lists(token, max_size=5)
    pattern = st.lists(st.sampled_from(known.pool), min_size=1, max_size=3)
    repeated = st.builds(
        lambda unit, times: unit * times, pattern, st.sampled_from([2, 3, 15, 16, 17, 31, 32, 33, 100])
    )
    begins, ends = (
        draw(st.sampled_from([[], [bos], [bos], [bos, bos]])),
        draw(st.sampled_from([[], [eos], [eos], [eos, eos]])),
    )
    documents = [
        [*begins, *draw(often(content, repeated, times=6)), *ends]
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3])))
    ]
    pad = draw(st.sampled_from([0, 0, eos] if terms.pad is None else [terms.pad, terms.pad, terms.pad, 0]))
    left, right = draw(st.sampled_from([(0, 0), (0, 0), (0, 2), (0, 1), (0, 3), (2, 0), (1, 0), (1, 1)]))
    return Parts(documents, left, right, pad)


def attention(draw: st.DrawFn, row: Parts) -> list[Any]:
    real = [number is not None for number in row.numbers]
    segments = [0 if number is None else number + 1 for number in row.numbers]
    size = len(real)
    odd = st.lists(st.sampled_from([0, 1, 1, 2, -1, -10000, 255]), min_size=size, max_size=size)
    bits = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    plain = st.just([int(each) for each in real])
    others = ([1] * size, [int(not each) for each in real], [0 if each else -10000 for each in real])
    cells: list[Any] = draw(often(plain, st.just(segments), bits, odd, *map(st.just, others)))
    return cells


def labels(draw: st.DrawFn, row: Parts, shift: int) -> list[Any]:
    ids, size = row.ids, len(row.ids)
    behind = draw(st.sampled_from([IGNORED, 2]))
    prompt = draw(st.integers(0, size))
    moved = [*ids[shift:], behind] if shift and size else ids
    real = [number is not None for number in row.numbers]
    masked = [moved[p] if p + shift >= prompt and real[p] else IGNORED for p in range(size)]
    twice = [*masked[1:], IGNORED] if size else []
    at_random = st.lists(st.sampled_from([IGNORED, IGNORED, 0, 2, 5, 6, -1, 104, 300]), min_size=size, max_size=size)
    every = [st.just(moved), st.just(twice), st.just([IGNORED] * size), at_random]
    cells: list[Any] = draw(often(st.just(masked), *every))
    return cells


def document_ids(draw: st.DrawFn, row: Parts) -> list[Any]:
    size, padding = len(row.ids), draw(st.sampled_from([-1, 0, 9]))
    own = [padding if number is None else number for number in row.numbers]
    at_random = st.lists(st.integers(0, 2), min_size=size, max_size=size)
    cells: list[Any] = draw(often(st.just(own), st.just([0] * size), at_random))
    return cells


def seq_lengths(draw: st.DrawFn, row: Parts) -> list[Any]:
    sizes = [len(each) for each in row.documents if each]
    whole = [*([row.left] if row.left else []), *sizes, *([row.right] if row.right else [])]
    merged = [row.left + sizes[0], *sizes[1:], row.right] if sizes and row.right else whole
    at_random = st.lists(st.integers(-1, 6), max_size=3)
    cells: list[Any] = draw(often(st.just(sizes), st.just(whole), st.just(whole), st.just(merged), at_random, times=3))
    return cells


def cu_seqlens(draw: st.DrawFn, row: Parts) -> list[Any]:
    lengths = seq_lengths(draw, row)
    sums = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
    at_random = st.lists(st.integers(-1, 9), max_size=4)
    cells: list[Any] = draw(often(st.just(sums), st.just(sums[1:]), at_random))
    return cells


def position_ids(draw: st.DrawFn, row: Parts) -> list[Any]:
    numbers, size = row.numbers, len(row.ids)
    by_document = [numbers[:place].count(number) if number is not None else 0 for place, number in enumerate(numbers)]
    start = draw(st.sampled_from([0, 0, 1, 5]))
    running = [start + place - row.left for place in range(size)]
    at_random = st.lists(st.integers(-1, 4), min_size=size, max_size=size)
    cells: list[Any] = draw(often(st.just(by_document), st.just(running), st.just([*range(size)]), at_random, times=5))
    return cells


def prompt_ids(draw: st.DrawFn, row: Parts) -> list[Any]:
    tokens = row.ids[row.left if draw(st.booleans()) else 0 :]
    own = tokens[: draw(st.integers(0, len(tokens)))]
    longer = [*own, 5] if draw(st.booleans()) else [*own, row.pad]
    cells: list[Any] = draw(often(st.just(own), st.just(longer), st.lists(st.integers(0, 6), max_size=4), times=4))
    return cells


MAKERS = {
    "attention_mask": attention,
    "document_ids": document_ids,
    "seq_lengths": seq_lengths,
    "cu_seqlens": cu_seqlens,
    "position_ids": position_ids,
    "prompt_ids": prompt_ids,
    "loss_mask": attention,
}
NUMBER = often(st.integers(0, 8), st.integers(-1, 12), times=4)
SPANS = st.lists(often(st.tuples(NUMBER, NUMBER).map(sorted), st.lists(NUMBER, min_size=2, max_size=2)), max_size=2)
ODD_SPANS = st.lists(st.one_of(st.none(), st.just([3]), st.just([None, 3])), max_size=1)
OTHERS = {
    "prompt_length": often(st.sampled_from([0, 0, 1, 2, 3, 4, 6]), st.none(), st.sampled_from([-1, 99])),
    "images": often(st.integers(0, 2), st.none()),
    "target_spans": often(SPANS, st.none(), ODD_SPANS, times=6),
    "source": often(st.sampled_from(["web", "code"]), st.none()),
}


KINDS = {
    "attention_mask": st.sampled_from((*INTEGERS, pa.bool_())),
    "source": st.just(pa.string()),
    "prompt_length": st.sampled_from(INTEGERS[:4]),
    "target_spans": st.sampled_from([pa.list_(pa.list_(kind)) for kind in INTEGERS[:4]]),
}


@st.composite
def cells_of(draw: st.DrawFn, known: Known, roles: Sequence[str], shift: int) -> dict[str, Any]:
    """Return one row, a cell for each role."""
    kind = draw(often(st.just("sound"), *map(st.just, ("null", "empty", "element", "special")), times=30))
    row = draw(parts(known))
    if kind == "empty":
        row = Parts([], 0, 0, row.pad)
    elif kind == "special":
        row = Parts([[2] * draw(st.integers(0, 2))], row.left, row.right, row.pad)
    cells: dict[str, Any] = {"input_ids": row.ids}
    for role in roles[1:]:
        if role == "labels":
            cells[role] = labels(draw, row, shift)
        else:
            cells[role] = draw(OTHERS[role]) if role in OTHERS else MAKERS[role](draw, row)
    beside = [role for role in BESIDE if role in cells]
    if kind in ("null", "element"):
        cells["input_ids"] = damage(draw, cells["input_ids"], kind)
    elif beside and draw(st.integers(0, 7)) == 0:
        damaged = draw(st.sampled_from(beside))
        cells[damaged] = damage(draw, cells[damaged], draw(st.sampled_from(["null", "element", "short", "long"])))
    return cells


def damage(draw: st.DrawFn, cell: list[Any], how: str) -> list[Any] | None:
    if how == "null":
        return None
    if how == "element" and cell:
        place = draw(st.integers(0, len(cell) - 1))
        return [*cell[:place], None, *cell[place + 1 :]]
    return cell[:-1] if how == "short" else [*cell, 1]


@st.composite
def shards(draw: st.DrawFn, name: str, known: Known, columns: Sequence[str], before: Sequence[Shard]) -> Shard:
    """Return a shard of these columns, without one of them now and then; some of its rows are copies of earlier ones."""
    without = draw(often(st.none(), st.sampled_from(columns), times=9)) if columns else None
    roles = ["input_ids", *(each for each in columns if each != without)]
    shift = draw(st.integers(0, 1))
    rows: list[dict[str, Any]] = []
    earlier = [row for shard in before for row in shard.rows]
    for _ in range(draw(st.sampled_from([5, 3, 8, 1, 0, 10]))):
        fresh = draw(cells_of(known, roles, shift))
        if (earlier or rows) and draw(st.integers(0, 9)) == 0:
            copied = draw(st.sampled_from([*earlier, *rows]))
            copied = longer(copied, known) if draw(st.booleans()) else copied
            fresh |= {role: copied[role] for role in fresh.keys() & copied.keys()}
        rows.append(fresh)
    kinds = {role: draw(KINDS.get(role, st.sampled_from(INTEGERS))) for role in roles}
    for row, (role, kind) in itertools.product(rows, kinds.items()):
        if role != "source":
            row[role] = fitted(row[role], kind.value_type.value_type if role == "target_spans" else kind)
    written = draw(st.sampled_from(FORMATS))
    return Shard(
        name=name,
        rows=rows,
        kinds=kinds,
        layouts={role: layout_of(draw, [row[role] for row in rows], written) for role in roles if role not in WHOLE},
        written=written,
        chunk=draw(st.sampled_from([1, 2, 3, 100])),
        skip=draw(st.sampled_from([0, 0, 1, 2])),
    )


def longer(cells: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """Return a row with one more position of padding at its end."""
    pad = 0 if known.terms.pad is None else known.terms.pad
    more = {
        "input_ids": pad,
        "attention_mask": 0,
        "labels": IGNORED,
        "document_ids": 9,
        "position_ids": 0,
        "loss_mask": 0,
    }
    return {role: [*cell, more[role]] if role in more and cell is not None else cell for role, cell in cells.items()}


def layout_of(draw: st.DrawFn, rows: Sequence[Any], written: str) -> str:
    """Return a layout that can hold the rows in a format: Parquet has no views, a fixed size must be one."""
    layout: str = draw(st.sampled_from(LAYOUTS))
    widths = {len(row) for row in rows if row is not None}
    if layout == "fixed" and (len(widths) != 1 or 0 in widths):
        return "list"
    return "list" if layout == "list_view" and written == "parquet" else layout


@st.composite
def datasets(draw: st.DrawFn) -> Data:
    """Return a data set; its shards have the same columns, but for one that lacks one now and then."""
    known = draw(st.sampled_from(VOCABULARIES))
    columns = [role for role in ROLES[1:] if draw(st.integers(0, 3)) < LIKELY.get(role, 1)]
    folders = draw(st.sampled_from([("", "", ""), ("code/", "web/", "web/")]))
    made: list[Shard] = []
    for place in range(draw(st.sampled_from([2, 1, 3]))):
        made.append(draw(shards(f"{folders[place]}s{place}.arrow", known, columns, made)))
    return Data(made, known, draw(st.sampled_from(["", "", "", "chosen_"])), draw(st.booleans()))
