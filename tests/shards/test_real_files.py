"""Files of the real producers; rows and tokens as counted without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataguard.shards.batch import list_column
from dataguard.shards.discovery import discover
from dataguard.shards.opening import misnamed, open_shard
from dataguard.shards.roles import resolve

COUNTS = {
    "tiny/arrow_ipc": (6 * 35, 6 * 19_078),
    "tiny/axolotl_prepared": (32, 7_513),
    "tiny/hf_bert": (35, 4_480),
    "tiny/hf_dict_mistral": (35, 23_140),
    "tiny/hf_packed_qwen3": (37, 18_944),
    "tiny/hf_parquet": (35, 22_289),
    "tiny/hf_pretrain_gpt2": (35, 22_289),
    "tiny/sft_transformers/unpadded_labels": (8, 1_724),
    "small/arrow_ipc": (6 * 358, 6 * 160_996),
    "small/axolotl_prepared": (300, 61_194),
    "small/hf_bert": (358, 45_824),
    "small/sft_trl/lm_pack_wrapped": (103, 52_649),
}
SINGLE = {
    "tiny/dataframes/polars_array128.parquet": (174, 22_272),
    "small/dataframes/polars_array128.parquet": (1_424, 182_272),
    **{
        f"small/dataframes/{name}": (358, 182_301)
        for name in (
            "duckdb.parquet",
            "pandas.feather",
            "pandas_lists.parquet",
            "polars.arrow",
            "polars.arrows",
            "polars.parquet",
        )
    },
}


def counted(path: Path) -> tuple[int, int]:
    rows = tokens = 0
    for shard in discover([path]).shards:
        opened = open_shard(shard)
        assert not misnamed(shard, opened.layout)
        ids = resolve(opened.schema, {})["input_ids"]
        for unit in opened.units:
            for _, batch in opened.read(unit, [ids]):
                rows, tokens = rows + batch.num_rows, tokens + len(list_column(batch.column(0)).values)
    return rows, tokens


@pytest.mark.parametrize("name", sorted(COUNTS | SINGLE))
def test_rows_and_tokens_are_those_that_were_written(name, shared):
    assert counted(shared / "data" / "shards" / name) == (COUNTS | SINGLE)[name]


def test_every_file_of_the_readable_layouts_is_intact(shared):
    # Streams of a cache stand among them without a state.json, and so are shards.
    for scale in ("tiny", "small"):
        for folder in ("arrow_ipc", "dataframes", "hf_indices", "hf_old_2.14.7", "hf_old_3.6.0", "hf_typed", "sft_trl"):
            for shard in discover([shared / "data" / "shards" / scale / folder]).shards:
                opened = open_shard(shard)
                assert sum(batch.num_rows for unit in opened.units for _, batch in opened.read(unit)) == opened.rows > 0
