"""A tokenizer that lies beside the data, so that a first run needs no option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dataguard.vocabulary.tokenizer_files import has_tokenizer


def beside_data(data: Sequence[Path]) -> Path | None:
    """Return the tokenizer that lies with the data: its tokenizer.json, or the folder of an older kind; None without.

    Looked for in each folder of DATA (a file's own folder), then in its folder `tokenizer`; the first found is taken.
    A tokenizer that could not be read anyway (sentencepiece alone, a config without a vocabulary) is none: nobody asked
    for it, so it must not stop the run.
    """
    for path in data:
        folder = path if path.is_dir() else path.parent
        for place in (folder, folder / "tokenizer"):
            if has_tokenizer(place):
                whole = place / "tokenizer.json"
                return whole if whole.is_file() else place
    return None
