"""Read the manifests of a folder: those that `datasets` saves, and the index.json of MosaicML streaming and litData.

Only what is said of the very files in the folder is held against them. A `dataset_info.json` that names its builder was
filled in by `load_dataset`: its numbers of rows are those of the data that was loaded, which `datasets` keeps through `map`,
`filter` and `select`. A difference from them is told, and is no fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataguard.shards.files import is_file, is_folder
from dataguard.shards.hf import DATASET_DICT, INFO, STATE, SavedState, json_object, saved_state, split_of
from dataguard.shards.manifest import Listing, Manifest, Selected
from dataguard.shards.names import is_hidden, printable

INDEX = "index.json"


def manifests_of(selected: Selected) -> list[Manifest]:
    """Return what the manifests of a folder say of the shards that are selected there."""
    listings = [_saved(selected), _index(selected)]
    manifests = [listing.compared() for listing in listings if listing is not None]
    dictionary = _dictionary(selected)
    return manifests if dictionary is None else [dictionary, *manifests]


def _dictionary(selected: Selected) -> Manifest | None:
    """Compare the splits of a DatasetDict with its folders."""
    folder = selected.folder
    if not selected.is_whole or not is_file(folder / DATASET_DICT):
        return None
    listing = Listing(selected, DATASET_DICT)
    said, fault = json_object(folder / DATASET_DICT)
    splits = said.get("splits")
    if fault is not None or not isinstance(splits, list) or not all(isinstance(each, str) for each in splits):
        listing.fault("bad_field", fault or "splits is no list of names")
        return Manifest(selected.prefix + DATASET_DICT, faults=tuple(listing.faults))
    for split in splits:
        listing.add(split)
    known = {name for names in listing.listed for name in names}
    for name in sorted(known):
        if not is_file(folder / name / STATE):
            detail = f"{DATASET_DICT} lists the split, but there is no data set in that folder"
            listing.fault("missing_shard", detail, f"{name}/")
    for name in sorted(path.name for path in folder.iterdir() if is_folder(path)):
        if not is_hidden(name) and name not in known and is_file(folder / name / STATE):
            detail = f"{DATASET_DICT} does not list this split, so that loaders leave it out"
            listing.fault("unlisted_shard", detail, f"{name}/")
    hidden = selected.hidden(f"{name}/{STATE}" for name in known)
    return Manifest(selected.prefix + DATASET_DICT, len(known), tuple(listing.faults), hidden=hidden)


def _saved(selected: Selected) -> Listing | None:
    """Read state.json, and what dataset_info.json beside it says of rows."""
    state = saved_state(selected.folder)
    if state is None or (state.listed is None and state.fault is None):
        return None
    listing = Listing(selected, STATE)
    if state.listed is None:
        listing.fault("bad_field", state.fault or "")
        # What cannot be read lists nothing, and nothing is unlisted.
        return Listing(Selected(selected.folder, selected.prefix, selected.is_whole), STATE, faults=listing.faults)
    for name in state.listed:
        listing.add(name)
    if state.indices:
        named = ", ".join(map(printable, state.indices))
        note = f"{selected.name(STATE)} names a selection of rows ({named}); all rows of the files are judged"
        listing.notes.append(note)
    elif not listing.faults:
        _claim_rows(listing, state)
    return listing


def _claim_rows(listing: Listing, state: SavedState) -> None:
    """Take in how many rows dataset_info.json says that the split has: shard by shard where it says that, else in all."""
    folder, files = listing.selected.folder, state.listed or ()
    if not is_file(folder / INFO):
        return
    info, fault = json_object(folder / INFO)
    if fault is not None:
        listing.fault("bad_field", fault, INFO)
        return
    split = _split(info.get("splits"), state.split or split_of(folder))
    rows, lengths = split.get("num_examples"), split.get("shard_lengths")
    if not (rows is None or _is_count(rows)) or not (lengths is None or _are_counts(lengths)):
        listing.fault("bad_field", "num_examples and shard_lengths must be numbers of rows", INFO)
        return
    is_stale, where = bool(info.get("builder_name")), listing.selected.name(INFO)
    if lengths and len(lengths) == len(files):
        if rows is not None and sum(lengths) != rows and not is_stale:
            detail = f"its shard_lengths are {sum(lengths):,} rows together; num_examples is {rows:,}"
            listing.fault("index_inconsistent", detail, INFO)
        for name, length in zip(files, lengths, strict=True):
            listing.claim([name], f"shard_lengths in {where}", length, is_stale=is_stale)
    elif rows is not None and (files or listing.selected.is_whole):
        listing.claim(files, f"num_examples in {where}", rows, is_stale=is_stale)


def _split(splits: object, name: str | None) -> Mapping[str, Any]:
    """Return what is said of a split, or of the only one; an empty object where it is not known which is meant."""
    if isinstance(splits, dict):
        said = splits.get(name) if name is not None else None
        if said is None and len(splits) == 1 and name is None:
            said = next(iter(splits.values()))
        if isinstance(said, dict):
            return said
    return {}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_counts(values: object) -> bool:
    return isinstance(values, list) and all(_is_count(value) for value in values)


def _index(selected: Selected) -> Listing | None:
    """Read an index.json of MosaicML streaming (its shards with their samples) or litData (its chunks' names)."""
    if not is_file(selected.folder / INDEX):
        return None
    said, _ = json_object(selected.folder / INDEX)
    shards, chunks = _objects(said.get("shards"), "raw_data"), _objects(said.get("chunks"), "filename")
    listing = Listing(selected, INDEX)
    if shards:
        for place, each in enumerate(shards):
            _take_mds(listing, each, place)
    elif chunks:
        for place, each in enumerate(chunks):
            if isinstance(each["filename"], str):
                listing.add(each["filename"])
            else:
                listing.fault("bad_field", f"filename of chunk {place} is no name")
    else:
        return None  # an index of something else
    return listing


def _objects(values: object, key: str) -> list[Mapping[str, Any]]:
    """Return a list of objects that all have a key; nothing where it is something else."""
    if not isinstance(values, list) or not all(isinstance(each, dict) and key in each for each in values):
        return []
    return values


def _take_mds(listing: Listing, shard: Mapping[str, Any], place: int) -> None:
    files = [shard[key] for key in ("raw_data", "zip_data") if shard.get(key) is not None]
    names = [each.get("basename") if isinstance(each, dict) else None for each in files]
    known = [name for name in names if isinstance(name, str)]
    samples = shard.get("samples")
    if len(known) != len(files) or not files:
        listing.fault("bad_field", f"shard {place} has no basename")
        return
    listing.add(*known)
    if isinstance(samples, int) and _is_count(samples):
        where = listing.selected.name(INDEX)
        for name in [name for name in known if name in listing.selected.shards][:1]:
            listing.claim([name], f"samples of shard {place} in {where}", samples)
    else:
        listing.fault("bad_field", f"samples of shard {place} is no number of rows")
