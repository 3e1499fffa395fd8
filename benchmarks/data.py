"""Shards to measure on: real text under a real tokenizer, built once in a cache folder.

The documents of $DATAGUARD_SHARED/data/text, tokenized with the fixtures' GPT-2 tokenizer, are joined source by source, an eos
behind each; a row is a window of that stream at a random place, so that rows overlap but none is a copy of another. Where that
folder is absent, the tokens of fixtures/faulty take its place, and the results say so. Everything is drawn from a fixed seed.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[1]
TOKENIZER = ROOT / "fixtures" / "tokenizers" / "gpt2" / "tokenizer.json"
VOCABULARY, EOS = 50257, 50256
ROW_TOKENS = 2048
BATCH_TOKENS = 1000 * ROW_TOKENS
"""Tokens of a record batch: 1,000 rows of 2,048, as datasets writes them."""
SEED = 20

Ids = npt.NDArray[np.int32]
Kind = Literal["pretrain", "sft", "packed", "faulty"]
"""faulty is pretrain with one row in two hundred spoilt, for rivals to find."""


def default_folder() -> Path:
    """Return the folder that shards are kept in between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dataguard-bench"


def text_folder() -> Path:
    """Return where the corpora lie, or would."""
    return Path(os.environ.get("DATAGUARD_SHARED", ROOT.parent / "shared")) / "data" / "text"


@dataclass(frozen=True)
class Corpus:
    """Token streams by source, and where they come from."""

    streams: dict[str, Ids]
    origin: str

    @cached_property
    def joined(self) -> Ids:
        """All sources, one behind the other."""
        return np.concatenate(list(self.streams.values()))

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where each source ends in it."""
        return np.cumsum([len(stream) for stream in self.streams.values()])


def load_corpus(folder: Path) -> Corpus:
    """Return the token streams, tokenized at the first call."""
    files = sorted(text_folder().glob("*.jsonl.gz"))
    if not files:
        return Corpus(dict(_fixture_streams()), "fixtures/faulty (no corpora at hand: $DATAGUARD_SHARED)")
    cache = folder / "streams.npz"
    if not cache.exists():
        _write_whole(cache, lambda part: np.savez(part, **dict(_tokenized(files))))  # type: ignore[arg-type]
    with np.load(cache) as streams:
        return Corpus({name: streams[name] for name in streams.files}, f"{len(files)} corpora of real text")


def _tokenized(files: list[Path]) -> Iterator[tuple[str, Ids]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        parts = [[*each.ids, EOS] for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
        yield file.name.removesuffix(".jsonl.gz"), np.concatenate(parts).astype(np.int32)


def _fixture_streams() -> Iterator[tuple[str, Ids]]:
    for path in sorted((ROOT / "fixtures" / "faulty").glob("*.arrow")):
        with path.open("rb") as file:
            try:
                table = pa.ipc.open_stream(file).read_all()
            except pa.ArrowInvalid:  # one of them is cut on purpose
                continue
        ids = table["input_ids"].combine_chunks().flatten().to_numpy()
        yield path.stem, ids[(ids >= 0) & (ids < VOCABULARY)].astype(np.int32)


@dataclass(frozen=True)
class Recipe:
    """A shard to build.

    Args:
        tokens: Rounded up to whole rows.
        row_tokens: Of every row.
        shards: Files that the rows are dealt to.
    """

    kind: Kind
    tokens: int
    row_tokens: int = ROW_TOKENS
    shards: int = 1

    @property
    def name(self) -> str:
        """A folder's name that tells all of it."""
        return f"{self.kind}-{self.tokens}-{self.row_tokens}-{self.shards}"


def build(recipe: Recipe, folder: Path) -> Path:
    """Return the folder of a data set laid out as `save_to_disk` does, built where it is not there yet."""
    place = folder / recipe.name
    if not place.exists():
        part = folder / f".{recipe.name}.{os.getpid()}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        _write(recipe, load_corpus(folder), part)
        part.rename(place)
    return place


def shards_of(place: Path) -> list[Path]:
    """Return the Arrow files of a data set."""
    return sorted(place.glob("*.arrow"))


def _write(recipe: Recipe, corpus: Corpus, place: Path) -> None:
    rng = np.random.default_rng(SEED)
    rows = -(-recipe.tokens // recipe.row_tokens)
    each = -(-rows // recipe.shards)
    names = []
    while rows > 0:
        names.append(f"data-{len(names):05d}-of-{recipe.shards:05d}.arrow")
        todo = min(each, rows)
        writer = None
        with pa.OSFile(str(place / names[-1]), "wb") as sink:
            for batch in _batches(recipe, corpus, todo, rng):
                writer = writer or pa.ipc.new_stream(sink, batch.schema)
                writer.write_batch(batch)
            if writer is not None:
                writer.close()
        rows -= todo
    state = {"_data_files": [{"filename": name} for name in names], "_split": None, "_format_columns": None}
    (place / "state.json").write_text(json.dumps(state))
    (place / "dataset_info.json").write_text("{}")


def _batches(recipe: Recipe, corpus: Corpus, rows: int, rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    names = np.array(list(corpus.streams), object)
    joined, ends, length = corpus.joined, corpus.ends, recipe.row_tokens
    while length > len(joined) - 1:  # a row longer than all text: the text again
        joined = np.concatenate((joined, joined))
    most = min(max(1, BATCH_TOKENS // length), 1 << 16)
    while rows > 0:
        count = min(most, rows)
        rows -= count
        starts = rng.integers(0, len(joined) - length, count)
        ids = np.lib.stride_tricks.sliding_window_view(joined, length)[starts]
        columns = _columns(recipe.kind, ids, rng)
        arrays = {name: _lists(values) for name, values in columns.items()}
        source = np.searchsorted(ends, starts % ends[-1], side="right")
        arrays["source"] = pa.array(names[source], pa.string())
        yield pa.RecordBatch.from_pydict(arrays)


def _lists(values: npt.NDArray[Any]) -> pa.Array:
    rows, length = values.shape
    return pa.ListArray.from_arrays(np.arange(rows + 1, dtype=np.int32) * length, values.ravel())


def _columns(kind: Kind, ids: Ids, rng: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of token data: a mask that ends one row in eight early, and labels that are the ids under it."""
    rows, length = ids.shape
    mask = np.ones((rows, length), np.int8)
    if kind != "packed":
        places = np.arange(length)
        kept = np.where(rng.random(rows) < 1 / 8, rng.integers(min(64, length), length + 1, rows), length)
        mask[places >= kept[:, None]] = 0
        ids = np.where(mask == 1, ids, np.int32(EOS))
    labels = np.where(mask == 1, ids, -100).astype(np.int64)
    if kind == "sft":
        labels[np.arange(length) < (kept * rng.uniform(0.2, 0.6, rows))[:, None]] = -100
    if kind == "faulty":
        _spoil(ids, mask, labels, rng)
    columns = {"input_ids": np.ascontiguousarray(ids), "attention_mask": mask, "labels": labels}
    return columns | (_documents(ids, labels) if kind == "packed" else {})


def _documents(ids: Ids, labels: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """Return positions that begin anew behind each eos, and the documents' numbers; their first labels are ignored."""
    begins = np.zeros(ids.shape, np.bool_)
    begins[:, 1:] = ids[:, :-1] == EOS
    labels[begins] = -100
    places = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
    firsts = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    return {"position_ids": places - firsts, "document_ids": np.cumsum(begins, axis=1, dtype=np.int64)}


def _spoil(ids: Ids, mask: npt.NDArray[np.int8], labels: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
    """Plant one of five faults in one row of two hundred."""
    rows, length = ids.shape
    for row in np.flatnonzero(rng.random(rows) < 1 / 200):
        fault, place = rng.integers(5), length // 2
        if fault == 0:
            ids[row, 10] = labels[row, 10] = VOCABULARY + 7
        elif fault == 1:
            mask[row, 10] = 2
        elif fault == 2:
            mask[row, 20:30] = 0
            labels[row, 20:30] = -100
        elif fault == 3:
            labels[row, :60] = ids[row, 1:61]
        else:
            mask[row, place:], ids[row, place:], labels[row, place:] = 0, EOS, EOS


def _write_whole(path: Path, write: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{os.getpid()}.{path.name}")
    write(part)
    part.rename(path)
