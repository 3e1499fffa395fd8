"""A result and rows whose every text tries to be markup, to move the cursor, or to be endless."""

from __future__ import annotations

from dataguard.reports.html.beside import Beside, CutRow, SourceNumbers, Spread
from dataguard.reports.rows import Mark, ShownRow, ShownTokens
from dataguard.result import ExpectationResult, Finding, Result, Unjudged

SCRIPT = "<script>window.broken = 1</script>"
IMAGE = '"><img src=http://127.0.0.1:9/x onerror=window.broken=1>'
TEXTS = (
    SCRIPT,
    IMAGE,
    "\x1b[31mred\x07",
    "\u202eevil",
    "مرحبا",
    "👩\u200d👩\u200d👧",
    "\udcff",
    "x" * 1_000_000,
    "]]>&amp;'",
)


def hostile_result() -> Result:
    """Return a result with every text of TEXTS wherever data can bring one in."""
    results = [
        ExpectationResult(
            "expect_rows_not_to_be_periodic",
            {"note": text, "allowed": list(TEXTS), "max_repeats": 80},
            "critical",
            success=False,
            element_count=10_000_000,
            unexpected_count=9_000_000,
            missing_count=0,
            observed_value=[{"source": text, "cap": 5, text: 1}],
            findings=tuple(
                Finding(text, shard=text, row=row, source=text, column=text, position=3, value=row, detail=text)
                for row in range(200)
            ),
            details={"reasons": {text: 3}, "by_source": {text: 3}, "notes": [text], "hints": [text]},
            fix="leave them out",
        )
        for text in TEXTS
    ]
    results += [
        ExpectationResult(SCRIPT, {}, "warning", success=False, unjudged=Unjudged(text, text)) for text in TEXTS[:3]
    ]
    sources = [
        {
            "source": text,
            "rows": 5,
            "tokens": 5,
            "lengths": {"min": 1, "p50": 1, "p95": 1, "p99": 1, "max": 1, "mean": 1.0},
            "histogram": {"edges": [0, 1, 2], "counts": [0, 5]},
        }
        for text in TEXTS
    ]
    meta = {
        "suite": {"name": SCRIPT, "origin": IMAGE},
        "rows": 10_000_000,
        "tokens": 10**12,
        "shards": {"count": 3, "intact": 2, "layouts": {SCRIPT: 2}},
        "columns": {SCRIPT: list(TEXTS)},
        "taken": list(TEXTS),
        "notes": list(TEXTS),
        "vocabulary": {"limit": 50_257, "fingerprint": SCRIPT, "origin": {"size": IMAGE}},
        "sources": sources,
        "skipped": [{"type": text, "column": text, "missing": text, "fix": text} for text in TEXTS],
        "accounting": {"rows_in": None, "clean": 1, "rejected": 2, "not_intact_shards": 1, "not_intact_rows": None},
    }
    return Result(SCRIPT, {SCRIPT: IMAGE}, tuple(results), meta)


def hostile_beside() -> Beside:
    """Return rows and numbers to go with it."""
    rows = [_row(text) for text in TEXTS]
    sources = [
        SourceNumbers(text, 0, 5, {"none": 1, "left": 2, "right": 2, "both": 0}, 3, {"digit_fraction": 0.5})
        for text in TEXTS
    ]
    spread = Spread([0, 0.5, 1], [3, 4])
    return Beside(
        meanings={"expect_rows_not_to_be_periodic": SCRIPT},
        sources=sources,
        shares={"digit_fraction": spread, "symbol_fraction": spread, "supervised_fraction": spread},
        ids=Spread([0, 64, float("inf")], [5, 5]),
        repeats=Spread([0, 16, 32], [5, 5]),
        rows=rows,
    )


def _row(text: str) -> CutRow:
    content = text.encode("utf-8", "surrogateescape")
    tokens = ShownTokens(
        name=text,
        ids=[5, 2**62, None] * 1_000,
        texts=[content, b"\xff\xfe", b"\x00"] * 1_000,
        beside={"attention_mask": [1, 0, None] * 1_000, text: [10**30] * 3_000},
        guilty=frozenset(range(0, 3_000, 7)),
    )
    marks = tuple(Mark("expect_rows_not_to_be_periodic", text, text, place, 1e300) for place in range(300))
    return CutRow(ShownRow(text, 10**12, text, marks, (tokens,), {text: text, "deep": [[text] * 50]}), 7, 10**9)
