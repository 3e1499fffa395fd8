"""Reading the small JSON files of strangers: what cannot be read is a VocabularyError, never a traceback.

Nothing here runs code from a file or unpickles one, and a file is measured before it is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dataguard.errors import VocabularyError

LARGEST_JSON = 1 << 29
"""Bytes that a tokenizer.json or a config may have; the largest known have 40 MB."""


def read_bytes(path: Path, *, what: str) -> bytes:
    """Return a regular file's bytes.

    Raises:
        VocabularyError: It is missing, no regular file (a pipe would block), too large, or cannot be read.
    """
    if not path.is_file():
        raise VocabularyError(f"{what} cannot be read", where=str(path), why="it is missing, or not a regular file")
    try:
        if path.stat().st_size > LARGEST_JSON:
            why = f"it is larger than {LARGEST_JSON >> 20} MiB"
            raise VocabularyError(f"{what} cannot be read", where=str(path), why=why, fix="check what this file is")
        return path.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise VocabularyError(f"{what} cannot be read", where=str(path), why=why) from error


def read_text(path: Path, *, what: str) -> str:
    """Return a file's text, which must be UTF-8."""
    try:
        return read_bytes(path, what=what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8: {error.reason} at byte {error.start}"
        raise VocabularyError(f"{what} cannot be read", where=str(path), why=why) from error


def read_object(path: Path, *, what: str) -> dict[str, Any]:
    """Return a JSON file that must hold an object.

    Raises:
        VocabularyError: It cannot be read, is not JSON, or holds something else than an object.
    """
    return parse_object(read_bytes(path, what=what), what=what, where=str(path))


def parse_object(content: bytes, *, what: str, where: str) -> dict[str, Any]:
    """Return the JSON object that the bytes spell; errors as for `read_object`."""
    if content.startswith(b"version https://git-lfs"):
        why = "it is a Git LFS pointer, the file itself was never downloaded"
        raise VocabularyError(f"{what} cannot be read", where=where, why=why, fix="run: git lfs pull")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:  # ValueError: also bad UTF-8, and numbers of thousands of digits
        why = f"it is not JSON: {error}" if content.strip() else "it is empty"
        raise VocabularyError(f"{what} cannot be read", where=where, why=why, fix="fetch or export it again") from error
    if not isinstance(document, dict):
        why = f"it holds a {type(document).__name__}, where an object is expected"
        raise VocabularyError(f"{what} cannot be read", where=where, why=why)
    return document
