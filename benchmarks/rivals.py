"""What a user would use instead, each in a process of its own.

    python benchmarks/rivals.py NAME FOLDER OF THE FAULTY SHARD ROWS

Prints {seconds, tokens, rejected} as JSON: how long it took over how many tokens, without imports, and how many rows it
rejects (null where it does not judge rows); {absent} where a package is missing. Four of them apply one rule: ids in [0, 50257),
at most 2,048 tokens, mask 0 or 1, no attended token behind one that is not, labels the ids under the mask and -100 elsewhere.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from data import EOS, ROW_TOKENS, TOKENIZER, VOCABULARY, load_corpus, shards_of
from measure import CORES


class Outcome(NamedTuple):
    """How long it took, over how many tokens, and how many rows were rejected."""

    seconds: float
    tokens: int
    rejected: int | None


def _table(place: Path, rows: int) -> pa.Table:
    (shard,) = shards_of(place)
    with pa.OSFile(str(shard)) as source:
        return pa.ipc.open_stream(source).read_all().slice(0, rows)


def _subset(place: Path, rows: int, folder: str) -> Path:
    path = Path(folder) / "part.arrow"
    table = _table(place, rows)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return path


def hf_map(place: Path, rows: int) -> Outcome:
    """Run a datasets.map script on every core."""
    import datasets

    datasets.disable_progress_bars()

    def check(row: dict[str, Any]) -> dict[str, bool]:
        ids, mask, labels = (np.asarray(row[name]) for name in ("input_ids", "attention_mask", "labels"))
        good = 0 < len(ids) <= ROW_TOKENS and len(ids) == len(mask) == len(labels)
        good = good and ids.min() >= 0 and ids.max() < VOCABULARY
        good = good and mask.min() >= 0 and mask.max() <= 1 and not (np.diff(mask) > 0).any()
        return {"good": bool(good and (labels == np.where(mask == 1, ids, -100)).all())}

    with tempfile.TemporaryDirectory() as folder:
        data = datasets.Dataset.from_file(str(_subset(place, rows, folder)))
        begun = time.perf_counter()
        flags = data.map(check, num_proc=CORES, remove_columns=data.column_names, cache_file_name=f"{folder}/out.arrow")
        rejected = rows - sum(flags["good"])
        return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, rejected)


def polars(place: Path, rows: int) -> Outcome:
    """Apply the rule in Polars expressions over the list columns."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        path = _subset(place, rows, folder)
        begun = time.perf_counter()
        ids, labels = pl.col("input_ids").cast(pl.List(pl.Int64)), pl.col("labels")
        mask = pl.col("attention_mask").cast(pl.List(pl.Int64))
        wrong = mask * (labels - ids) + (1 - mask) * (labels + 100)
        good = (
            ids.list.len().is_between(1, ROW_TOKENS)
            & (ids.list.min() >= 0)
            & (ids.list.max() < VOCABULARY)
            & (mask.list.min() >= 0)
            & (mask.list.max() <= 1)
            & (mask.list.eval(pl.element().diff()).list.max().fill_null(0) <= 0)
            & (wrong.list.min() == 0)
            & (wrong.list.max() == 0)
        )
        rejected = int(pl.read_ipc_stream(path).select((~good).sum()).item())
        return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, rejected)


def numpy(place: Path, rows: int) -> Outcome:
    """Apply the rule with NumPy over flattened values, batch by batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = _subset(place, rows, folder)
        begun = time.perf_counter()
        rejected = 0
        with pa.memory_map(str(path)) as source:
            for batch in pa.ipc.open_stream(source):
                ids, mask, labels = (batch.column(at).flatten().to_numpy() for at in range(3))
                offsets = batch.column(0).offsets.to_numpy()
                bad = (ids < 0) | (ids >= VOCABULARY) | (mask < 0) | (mask > 1)
                bad |= labels != np.where(mask == 1, ids, -100)
                rises = np.diff(mask, prepend=mask[:1]) > 0
                rises[offsets[:-1]] = False
                per_row = np.logical_or.reduceat(bad | rises, offsets[:-1])
                rejected += int((per_row | (np.diff(offsets) > ROW_TOKENS)).sum())
        return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, rejected)


def great_expectations(place: Path, rows: int) -> Outcome:
    """Give Great Expectations a pandas frame with a line for each token, made from the lists; it judges tokens, not rows."""
    import great_expectations as gx

    table = _table(place, rows)
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    begun = time.perf_counter()
    frame = table.select(["input_ids", "attention_mask", "labels"]).to_pandas()
    frame["row"], frame["length"] = np.arange(len(frame)), frame["input_ids"].str.len()
    tokens = frame.explode(["input_ids", "attention_mask", "labels"]).astype("int64")
    tokens["rise"] = tokens.groupby("row")["attention_mask"].diff().fillna(0)
    tokens["wrong"] = tokens["labels"] - np.where(tokens["attention_mask"] == 1, tokens["input_ids"], -100)
    context = gx.get_context(mode="ephemeral")
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("tokens")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": tokens})
    bounds = {
        "input_ids": (0, VOCABULARY - 1),
        "attention_mask": (0, 1),
        "rise": (-1, 0),
        "wrong": (0, 0),
        "length": (1, 2048),
    }
    suite = gx.ExpectationSuite(
        name="tokens",
        expectations=[
            gx.expectations.ExpectColumnValuesToBeBetween(column=column, min_value=least, max_value=most)
            for column, (least, most) in bounds.items()
        ],
    )
    found = batch.validate(suite, result_format={"result_format": "COMPLETE"})
    indexes = {index for each in found.results for index in each.result["unexpected_index_list"] or ()}
    return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, len(indexes))


def olmo(place: Path, rows: int) -> Outcome:
    """Apply OLMo-core's instance filter (periods up to 13, 32 repeats) with the installed package's own function.

    The function is taken out of its file: importing the package needs much that has nothing to do with it.
    """
    find = _olmo_function()
    ids = _table(place, rows)["input_ids"].combine_chunks().flatten().to_numpy().reshape(rows, ROW_TOKENS)
    begun = time.perf_counter()
    rejected = sum(any(each.times >= 32 for each in find(row, max_period=13)) for row in ids)
    return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, rejected)


def _olmo_function() -> Callable[..., Iterator[Any]]:
    spec = importlib.util.find_spec("olmo_core")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("ai2-olmo-core")
    path = Path(spec.submodule_search_locations[0]) / "data" / "utils.py"
    wanted = (
        "find_end_first_consecutive_true",
        "find_start_last_consecutive_true",
        "group_consecutive_values",
        "RepetitionTuple",
        "find_periodic_sequences",
    )
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if getattr(node, "name", None) in wanted]
    from collections.abc import Generator

    names: dict[str, Any] = {"np": np, "NamedTuple": NamedTuple, "List": list, "Generator": Generator}
    exec(compile(tree, str(path), "exec"), names)
    function: Callable[..., Iterator[Any]] = names["find_periodic_sequences"]
    return function


def check_dataset(place: Path, rows: int) -> Outcome:
    """Run datatrove's tools/check_dataset.py on the corpus's own documents as .ds; it looks at the last token of each."""
    from datatrove.io import get_datafolder
    from datatrove.tools.check_dataset import check_dataset as check

    stream = load_corpus(place.parent).joined
    stream = stream[: int(np.flatnonzero(stream == EOS)[-1]) + 1]
    copies = max(1, rows * ROW_TOKENS // len(stream))
    ends = np.flatnonzero(stream == EOS).astype(np.uint64) + 1
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nothing, redirect_stderr(nothing):
        with (Path(folder) / "0.ds").open("wb") as data, (Path(folder) / "0.ds.index").open("wb") as index:
            for copy in range(copies):
                data.write(stream.astype(np.uint16).tobytes())
                index.write((ends + np.uint64(copy * len(stream))).tobytes())
        begun = time.perf_counter()
        check(get_datafolder(folder), str(TOKENIZER))
        return Outcome(time.perf_counter() - begun, copies * len(stream), None)


def gopher(place: Path, rows: int) -> Outcome:
    """Apply datatrove's Gopher repetition filter to the decoded rows; decoding is not counted."""
    from datatrove.data import Document
    from datatrove.pipeline.filters import GopherRepetitionFilter
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    texts = tokenizer.decode_batch(_table(place, rows)["input_ids"].to_pylist())
    judge = GopherRepetitionFilter()
    judge.filter(Document(text="some words to load what it needs", id=""))
    begun = time.perf_counter()
    rejected = sum(judge.filter(Document(text=text, id=str(number))) is not True for number, text in enumerate(texts))
    return Outcome(time.perf_counter() - begun, rows * ROW_TOKENS, rejected)


RIVALS: dict[str, Callable[[Path, int], Outcome]] = {
    "datasets.map": hf_map,
    "polars": polars,
    "numpy": numpy,
    "great_expectations": great_expectations,
    "olmo-core": olmo,
    "check_dataset": check_dataset,
    "gopher": gopher,
}


def main() -> None:
    """Run one."""
    name, place, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    try:
        print(json.dumps(RIVALS[name](place, rows)._asdict()))
    except (ImportError, struct.error) as error:
        print(json.dumps({"absent": str(error)}))


if __name__ == "__main__":
    main()
