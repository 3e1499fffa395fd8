"""`dataguard judge OUT`: other expectations or thresholds on the numbers of an earlier run, without a scan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dataguard.errors import DataError, UsageError
from dataguard.result import Result, Severity
from dataguard.run.outputs import RECORD, RUN
from dataguard.run.request import Nobody, Request, Watch, with_max_length
from dataguard.run.run import run
from dataguard.run.telling import check_reports
from dataguard.run.timings import Timings
from dataguard.run.validate import write_judged

SETTINGS = ("tokenizer", "model", "vocab_size", "parameters", "columns", "vocabulary", "source_from", "store")


def rejudge(
    earlier: str | Path,
    *,
    suite: str | Path | Mapping[str, Any] | None = None,
    tokenizer: str | Path | None = None,
    model: str | Path | None = None,
    vocab_size: int | None = None,
    max_length: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    store: str | Path | None = None,
    out: str | Path | None = None,
    reports: Sequence[str] = (),
    plugins: Sequence[str] = (),
    fail_on: Severity = "critical",
    watch: Watch | None = None,
    timings: Timings | None = None,
) -> Result:
    """Judge the stored numbers of an earlier run. No shard is read; they need not be there any more.

    Args:
        earlier: The output folder of that run. What is not told here is taken from its run.json: tokenizer, model,
            vocab_size, columns, vocabulary, what says the sources, the store, and the parameters where no other suite is
            named. Columns stay as they were: its numbers are of those.
        max_length: The suite's parameter of that name.
        plugins: Modules that give further expectations; never taken from run.json, for they are imported.
        out: Folder for report.json, rejected.parquet, run.json and shards.parquet; no rows are copied. None writes nothing.
        reports: As in `dataguard.validate`.
        timings: Takes in where the time goes.

    Raises:
        UsageError: There is no such run, or the suite asks for numbers that it did not store.
    """
    check_reports(reports, placed=out is not None)
    folder = Path(earlier)
    known = _settings(folder / RUN)
    request = Request(
        data=[Path(each) for each in known["data"]],
        record=folder / RECORD,
        suite=suite,
        tokenizer=tokenizer or known["tokenizer"],
        model=model or known["model"],
        vocab_size=vocab_size or known["vocab_size"],
        parameters={**(known["parameters"] if suite is None else {}), **with_max_length(parameters, max_length)},
        columns=known["columns"],
        vocabulary=known["vocabulary"],
        source_from=known["source_from"],
        plugins=plugins,
        store=store or known["store"],
        fail_on=fail_on,
        watch=watch or Nobody(),
        timings=timings or Timings(),
    )
    if out is None:
        return run(request).result
    if Path(out).resolve() == folder.resolve():
        why = "the verdict would take the place of the earlier one, and its quarantine would go"
        raise UsageError("OUT is the folder that is judged", where=str(out), why=why, fix="name another --out")
    return write_judged(request, Path(out), limit=None, reports=reports)


def _settings(place: Path) -> dict[str, Any]:
    """Return the settings of an earlier run.

    Raises:
        DataError: There is no such run, or its run.json cannot be read.
    """
    fix = "name the output folder of a run of dataguard validate"
    try:
        facts = json.loads(place.read_text(encoding="utf-8"))
        return {"data": facts["data"], **{name: facts["settings"][name] for name in SETTINGS}}
    except OSError as error:
        why = f"{place.name}: {error.strerror or error}"
        raise DataError("there is no earlier run to judge", where=str(place.parent), why=why, fix=fix) from error
    except (ValueError, KeyError, TypeError) as error:
        why = f"{place.name} is not what dataguard writes"
        raise DataError("there is no earlier run to judge", where=str(place.parent), why=why, fix=fix) from error
