"""Against what a user would use instead: the same verdicts on the same rows, each as far as it gets, scaled by the token."""

from __future__ import annotations

import os
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import suites
from data import EOS, ROW_TOKENS, Recipe, build, load_corpus, shards_of
from measure import CORES, alternate, child, seconds
from tables import Section, millions, number

from dataguard.metrics.base import Attention
from dataguard.metrics.periods import Periods
from dataguard.run.scan import BLOCK_TOKENS
from dataguard.shards.batch import Batch

RULE = (
    "expect_columns_to_have_equal_lengths",
    "expect_sequence_lengths_to_be_between",
    "expect_token_ids_to_be_in_vocabulary",
    "expect_padding_side_to_be",
    "expect_padding_to_be_contiguous",
    "expect_attention_mask_to_be_binary",
    "expect_labels_to_align_with_input_ids",
    "expect_padding_to_be_ignored_in_labels",
)
PERIODIC = {
    "name": "periodic",
    "expectations": [{"type": suites.PERIODIC, "kwargs": {"ignore_white_space": False}}],
}
ENDS = {
    "name": "ends",
    "expectations": [
        {"type": "expect_shards_to_be_intact"},
        {"type": "expect_eos_at_document_ends", "kwargs": {"policy": "required"}},
    ],
}
TRIAL_ROWS, MOST_SECONDS, KERNEL_ROWS = 256, 15.0, 1 << 14
WHAT = {
    "datasets.map": ("the rule", f"num_proc {CORES}, NumPy inside"),
    "polars": ("the rule", "expressions over list columns, all threads"),
    "numpy": ("the rule", "flattened values, one thread"),
    "great_expectations": ("the rule", "pandas, a line for each token"),
    "olmo-core": ("periodic", "find_periodic_sequences, a row at a time"),
    "check_dataset": ("ends", "datatrove, .ds of uint16"),
    "gopher": ("pretrain", "datatrove, decoded text, decoding not counted; other verdicts"),
}


def measure(folder: Path, tokens: int, runs: int) -> Section:
    """Measure each rival once at a size that it can bear, and dataguard at the full size."""
    section = Section("Against what a user would use instead")
    place, packed = (build(Recipe(kind, tokens // 2), folder) for kind in ("faulty", "packed"))  # type: ignore[arg-type]
    rows = tokens // 2 // ROW_TOKENS
    section.say(
        f"The pretrain data with one row in two hundred spoilt, {millions(tokens // 2)} tokens. Each rival takes as many of its "
        f"rows as it can in about {MOST_SECONDS:.0f} s (a fresh process, imports not counted, once) and is scaled by the "
        "token; dataguard takes all of them (in-process, warm, no outputs). *The rule*: range, length, mask, padding and "
        "labels; *periodic*: a pattern of at most 13 tokens stands 32 times, white space counted, over the packed shard (OLMo's "
        "filter knows no padding); *ends*: every document ends with eos, over the corpus's own documents. The last column "
        "compares verdicts: the rows rejected by both among those that the rival saw."
    )
    ours = _ours(folder, {"periodic": packed}, place, rows, runs)
    lines = []
    for name, (suite, how) in WHAT.items():
        taken, theirs, same = _rival(name, packed if suite == "periodic" else place, rows, suite)
        if taken is None:
            lines.append([f"{name}: {how}", suite, "not measured", theirs, "", "", ""])
            section.goal(3, _goal(name), f"not measured: {theirs}", met=None)
            continue
        ratio = taken / ours[suite]
        lines.append(
            [f"{name}: {how}", suite, theirs, number(taken * 1e9), number(ours[suite] * 1e9), f"{ratio:,.1f} ×", same]
        )
        section.goal(
            3,
            _goal(name),
            f"{ratio:,.1f} ×; rows rejected: {same}{' (other rules)' if name == 'gopher' else ''}",
            met=ratio >= _least(name),
        )
    lines += _kernel_alone(packed, min(rows, KERNEL_ROWS), section)
    heads = [
        "rival",
        "suite",
        "tokens",
        "ns/token",
        "dataguard ns/token",
        "ahead by",
        "rows rejected: rival, dataguard",
    ]
    section.table(heads, lines)
    return section


def _kernel_alone(place: Path, rows: int, section: Section) -> list[list[str]]:
    """Return the line of OLMo's function beside our kernel, each given the same rows in memory, on one thread."""
    try:
        found = child("rivals.py", "olmo-core", str(place), str(rows))
    except RuntimeError as error:
        found = {"absent": str(error).strip().splitlines()[-1]}
    if "absent" in found:
        return []
    (shard,) = shards_of(place)
    with pa.memory_map(str(shard)) as source:
        ids = pa.ipc.open_stream(source).read_all()["input_ids"].slice(0, rows).combine_chunks()
    batch = Batch({"input_ids": pa.concat_arrays([ids])}, rows)
    metric = Periods(Attention("input_ids"), (), None, max_period=13, at_least=32)
    blocks = [block for _, block in batch.blocks("input_ids", BLOCK_TOKENS)]
    rejected = sum(int((metric.compute(block)["repeats"] >= 32).sum()) for block in blocks)  # type: ignore[operator]
    taken = statistics.median(seconds(lambda: [metric.compute(block) for block in blocks]) for _ in range(9))
    theirs, ours = (each / (rows * ROW_TOKENS) for each in (found["seconds"], taken))
    ratio = f"{theirs / ours:,.0f} ×"
    verdicts = f"{found['rejected']:,}, {rejected:,}"
    section.goal(
        3,
        "olmo-core: 1,000 × as fast, kernel beside function",
        f"{ratio}; rows rejected: {verdicts}",
        met=theirs >= 1000 * ours,
    )
    name = "olmo-core: the same function, beside our kernel alone on one thread, rows in memory"
    return [[name, "periodic", millions(rows * ROW_TOKENS), number(theirs * 1e9), number(ours * 1e9), ratio, verdicts]]


def _least(name: str) -> float:
    return {"datasets.map": 50, "olmo-core": 1000}.get(name, 1)


def _goal(name: str) -> str:
    return f"{name}: {_least(name):,.0f} × as fast" if _least(name) > 1 else f"ahead of {name}"


def _suite(name: str) -> dict[str, Any]:
    return {
        "the rule": suites.only(RULE, name="the rule"),
        "periodic": PERIODIC,
        "ends": ENDS,
        "pretrain": suites.suite_named("pretrain"),
    }[name]


def _options(name: str) -> dict[str, Any]:
    """Return how a suite is run: OLMo's filter knows no characters, so neither do we there."""
    return {"tokenizer": None, "vocab_size": 1 << 20, "vocabulary": {}} if name == "periodic" else {}


def _ours(folder: Path, special: dict[str, Path], place: Path, rows: int, runs: int) -> dict[str, float]:
    """Return dataguard's seconds for a token, by suite."""
    documents, tokens = _documents(folder, rows * ROW_TOKENS)
    of = {"the rule": place, "pretrain": place, "ends": documents, **special}
    works = {name: partial(suites.validate, where, _suite(name), **_options(name)) for name, where in of.items()}
    times = alternate(works, runs)
    return {name: taken.wall / (tokens if name == "ends" else rows * ROW_TOKENS) for name, taken in times.items()}


def _documents(folder: Path, tokens: int) -> tuple[Path, int]:
    """Return the corpus's documents as rows of a shard, as often as it takes, and their tokens."""
    stream = load_corpus(folder).joined
    ends = (stream == EOS).nonzero()[0] + 1
    copies = max(1, tokens // len(stream))
    path = folder / f"documents-{copies}.arrow"
    batch = pa.record_batch(
        [pa.ListArray.from_arrays(pa.array([0, *ends], pa.int32()), stream[: ends[-1]])], ["input_ids"]
    )
    if not path.exists():
        part = path.with_name(f".{os.getpid()}.{path.name}")
        with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
            for _ in range(copies):
                writer.write_table(pa.Table.from_batches([batch]), max_chunksize=1000)
        part.rename(path)
    return path, int(ends[-1]) * copies


def _rival(name: str, place: Path, rows: int, suite: str) -> tuple[float | None, str, str]:
    """Return a rival's seconds for a token, its tokens, and whether its verdicts are ours."""
    try:
        found = child("rivals.py", name, str(place), str(min(rows, TRIAL_ROWS)))
        if "absent" in found:
            return None, found["absent"], ""
        each = found["seconds"] / min(rows, TRIAL_ROWS)
        taken = max(min(rows, TRIAL_ROWS), min(rows, int(MOST_SECONDS / each)))
        for _ in range(2):  # a trial says little of those that start slowly: once more where there was time left
            found = child("rivals.py", name, str(place), str(taken))
            more = min(rows, int(taken * MOST_SECONDS / found["seconds"]))
            if more < 3 * taken:
                break
            taken = more
    except RuntimeError as error:
        return None, str(error).strip().splitlines()[-1], ""
    verdict = (
        "none by row" if found["rejected"] is None else f"{found['rejected']:,}, {_rejected(place, taken, suite):,}"
    )
    return found["seconds"] / found["tokens"], millions(found["tokens"]), verdict


def _rejected(place: Path, rows: int, suite: str) -> int:
    """Return how many of the first rows dataguard rejects."""
    (shard,) = shards_of(place)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.arrow"
        with pa.memory_map(str(shard)) as source:
            table = pa.ipc.open_stream(source).read_all().slice(0, rows)
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=1000)
        result = suites.validate(path, _suite(suite), **_options(suite))
        return int(result.rejected().height)
