"""Judge tokenized shards before a training run: `dataguard.validate("data/", tokenizer="tokenizer.json").success`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataguard.version import __version__

if TYPE_CHECKING:
    from dataguard.result import Result
    from dataguard.run.validate import validate

__all__ = ["Result", "__version__", "validate"]


def __getattr__(name: str) -> Any:
    """Load the public names when they are first asked for, so that importing the package stays light."""
    if name == "validate":
        from dataguard.run.validate import validate

        return validate
    if name == "Result":
        from dataguard.result import Result

        return Result
    msg = f"module 'dataguard' has no attribute {name!r}"
    raise AttributeError(msg)
