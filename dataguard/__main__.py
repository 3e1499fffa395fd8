"""`python -m dataguard`: the command line."""

from __future__ import annotations

from dataguard.cli import main

if __name__ == "__main__":
    main()
