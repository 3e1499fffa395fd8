"""`dataguard.validate`: judge a data set, and write what it says where it was asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import polars as pl

from dataguard.engines import threads
from dataguard.errors import DataError, UsageError
from dataguard.expectations import EXPECTATIONS
from dataguard.reports.files import HTML, PAGE, files_of
from dataguard.reports.html.report import html_report
from dataguard.reports.json_report import plain
from dataguard.reports.text import printable
from dataguard.result import SEVERITIES, Result, Severity
from dataguard.run.arguments import check_arguments, known_names
from dataguard.run.clean import write_clean
from dataguard.run.damaged import FoundLate, with_damage
from dataguard.run.dataset import paths_of
from dataguard.run.host import run_json
from dataguard.run.looked_at import found_by, watched_by
from dataguard.run.memory import Asked, asked_for
from dataguard.run.outputs import CLEAN, QUARANTINE, RECORD, REJECTED, RUN, Outputs, prepare
from dataguard.run.page import beside, check_page
from dataguard.run.quarantine import LIMIT, write_quarantine, write_rejected
from dataguard.run.ready import Ready, get_ready
from dataguard.run.record import write_record
from dataguard.run.rejects import read_rejected
from dataguard.run.request import Nobody, Request, SourceFrom, Watch, with_max_length
from dataguard.run.run import Judged, run
from dataguard.run.telling import check_reports, stage_reports
from dataguard.run.timings import Timings
from dataguard.run.writing import writing
from dataguard.sampler.settings import settings_of


def validate(
    data: Any,
    *,
    suite: str | Path | Mapping[str, Any] | None = None,
    tokenizer: str | Path | None = None,
    model: str | Path | None = None,
    vocab_size: int | None = None,
    max_length: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    vocabulary: Mapping[str, Any] | None = None,
    source_from: SourceFrom | None = None,
    head: int | None = None,
    out: str | Path | None = None,
    quarantine: bool = True,
    quarantine_limit: int = LIMIT,
    clean: bool = False,
    store: str | Path | None = "auto",
    verify: bool = False,
    reports: Sequence[str] = (),
    jobs: int | None = None,
    plugins: Sequence[str] = (),
    sampler: Mapping[str, Any] | None = None,
    engine: Literal["local"] = "local",
    fail_on: Severity = "critical",
    taken: Sequence[str] = (),
    columns_from: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    timings: Timings | None = None,
    asked: Asked | None = None,
) -> Result:
    """Judge a data set.

    Args:
        data: A path or several; or rows in memory: a pyarrow Table, a Polars frame, a datasets.Dataset.
        suite: Name of a shipped suite, a file, or a suite as a dict; None takes the shipped one that fits the columns.
        tokenizer: tokenizer.json, a tokenizer's folder, or a hub name that the local cache holds; None takes one that lies
            beside the data.
        model: A model's folder: its config, and the rows of its embedding. No weights are loaded.
        vocab_size: Ids below it can be looked up; wins over everything else.
        max_length: The suite's parameter of that name.
        parameters: Values for the suite's parameters.
        columns: {role: column}; wins over the suite's.
        vocabulary: What no tokenizer tells, as in a suite ({"size": 50257, "pad": 50256}); field by field it wins over
            the suite's.
        source_from: What says a row's source; None takes the column, else the folder, else the split.
        head: Judge the first so many rows of each shard alone; the report is marked partial.
        out: Folder for report.json, run.json, rejected.parquet and the quarantine; None writes nothing.
        quarantine: Copy the rejected rows to `out`/quarantine.
        quarantine_limit: Bytes of rows to copy at most.
        clean: Write the rows that remain to `out`/clean, laid out as they were.
        store: Folder that keeps numbers and verdicts between runs, so that unchanged shards are not scanned again, nor judged
            where nothing else has changed; `auto` lies in the user's cache; None keeps none.
        verify: Read every shard again to see whether it is unchanged, instead of believing what the file system says of it.
        reports: Names of reports: `junit`, `sarif`, `markdown` and `html` are files in `out`, where report.json always is;
            `console` and `github` are printed, by the command alone.
        jobs: Units scanned at once; None takes the cores that this process may use.
        plugins: Modules that give further expectations (docs/plugins.md); they are imported.
        sampler: How a run samples the rows (`world_size`, `batch_size`, `epochs`, `seed`, `shuffle`, `drop_last`, `num_workers`,
            `grad_accum`): what torch's DistributedSampler deals is judged by the shipped suite `sampler`, too.
        engine: Where units run; `local` is on threads of this process.
        fail_on: The least severity whose failures make `success` false.
        taken: What the command took from a project file (`run.project`), for the report to name.
        columns_from: Which project file asked for a column, by role, for messages.
        watch: Is told how the run gets on.
        timings: Takes in where the time goes; with `out` they stand in run.json as well.
        asked: Where the verdict is to be remembered, by whoever has looked there already; None looks and remembers by these
            arguments.

    Returns:
        The verdict: `success`, `to_dict()` (report.json), `unexpected(type)`.

    Raises:
        UsageError: The suite, the vocabulary, DATA or the output folder is unusable. Faults of the data are in the result.
    """
    arguments = dict(locals())
    check_arguments(arguments)
    check_reports(reports, placed=out is not None, pages=True)
    known_names("engine", [engine], ("local",))
    known_names("severity", [fail_on], SEVERITIES)
    _can_be_clean(clean=clean, head=head, out=out)
    if HTML in reports:
        check_page()
    timings = timings or Timings()
    request = Request(
        data=data,
        suite=suite,
        tokenizer=tokenizer,
        model=model,
        vocab_size=vocab_size,
        parameters=with_max_length(parameters, max_length),
        columns=columns or {},
        vocabulary=vocabulary or {},
        source_from=source_from,
        head=head,
        fail_on=fail_on,
        jobs=jobs or threads.default_jobs(),
        plugins=plugins,
        store=store,
        verify=verify,
        taken=taken,
        columns_from=columns_from or {},
        sampler=None if sampler is None else settings_of(sampler),
        pictures=HTML in reports,
        watch=watch or Nobody(),
        timings=timings,
    )
    if asked is None and (asked := asked_for(arguments)) is not None:
        answer = asked.answer(timings)
        if answer is not None:
            return _with_rows(answer.result, request)
    if asked is not None:
        watched = watched_by(arguments, projects=asked.projects)
        asked.begin(watched, None if out is None else Path(out), reports)
    if out is None:
        judged = run(request)
        _remember(asked, judged, judged.result, request)
        return judged.result
    limit = quarantine_limit if quarantine else None
    return write_judged(request, Path(out), limit, clean=clean, reports=reports, asked=asked)


def write_judged(
    request: Request,
    out: Path,
    limit: int | None,
    *,
    clean: bool = False,
    reports: Sequence[str] = (),
    asked: Asked | None = None,
) -> Result:
    """Judge, and write the verdict to a folder, whole or not at all.

    Args:
        limit: Bytes of rejected rows to copy; None copies none.
        clean: Copy the rows that remain.
        reports: Names of reports; those that are files are written.
        asked: Where the verdict is to be remembered.
    """
    with prepare(out, paths_of(request.data), files_of(reports)) as outputs:
        started = time.time()
        judged, copied = _copied(request, outputs, limit, clean=clean)
        with request.timings.steps("report"):
            result = _write(judged, outputs, copied, reports)
            if HTML in reports:
                outputs.write_text(PAGE, html_report(result, beside(result, judged, pictures=request.pictures)))
        outputs.write_text(RUN, run_json(started, request.timings, _facts(request, judged)))
        if CLEAN in outputs.commit():
            request.watch.note(f"the clean copy of an earlier run is gone from {out}: this run was not asked for one")
    _remember(asked, judged, result, request, outputs.sealed)
    return result


def _remember(asked: Asked | None, judged: Judged, result: Result, request: Request, sealed: str = "") -> None:
    """Remember a verdict in which no foreign code took part, on shards all of which could be read.

    Args:
        sealed: The state of the output folder.
    """
    if asked is None:
        return
    expectations = [each.expectation for each in judged.rows.suite.expectations]
    ours = all(EXPECTATIONS.get(each.type()) is type(each) for each in expectations)
    if ours and not any(shard.fault and shard.fault[0] == "unreadable" for shard in judged.context.shards):
        asked.remember(result, _facts(request, judged), sealed, found_by(judged))


def _with_rows(result: Result, request: Request) -> Result:
    """Return a verdict that was found earlier, with rows that are looked for where somebody asks for them."""

    @cache
    def again() -> Result:
        found = run(request).result
        if plain([each.to_dict() for each in found.results]) != plain([each.to_dict() for each in result.results]):
            raise DataError("DATA is not what it was when it was judged", fix="judge it again")
        return found

    def rejected() -> pl.DataFrame:
        rows = again().rejected
        assert rows is not None  # a run has them
        return rows()

    return replace(result, rejected=rejected, unexpected_rows=lambda kind: again().unexpected(kind))


def _can_be_clean(*, clean: bool, head: int | None, out: str | Path | None) -> None:
    if clean and head is not None:
        why = "the rows behind the first ones were not judged"
        raise UsageError("a clean copy of the first rows alone is none", why=why, fix="leave out --head, or --clean")
    if clean and out is None:
        raise UsageError("a clean copy needs a place", why="no output folder is given", fix="give out=FOLDER")


def _copied(request: Request, outputs: Outputs, limit: int | None, *, clean: bool) -> tuple[Judged, dict[str, Any]]:
    """Judge and stage the copies, again for every shard that turns out to be damaged; return what there is to say of them."""
    ready: Ready | None = None
    while True:
        judged = run(request, ready)
        try:
            with request.timings.steps(QUARANTINE):
                quarantine = _quarantine(judged, outputs, limit)
            with request.timings.steps(CLEAN):
                return judged, {QUARANTINE: quarantine, CLEAN: _clean(judged, outputs, request, wanted=clean)}
        except FoundLate as late:
            request.watch.note(f"{printable(late.shard)} is not intact, which only copying showed: all is judged again")
            outputs.clear()
            ready = ready or get_ready(request)
            ready = replace(ready, dataset=with_damage(ready.dataset, late))


def _quarantine(judged: Judged, outputs: Outputs, limit: int | None) -> dict[str, Any]:
    """Stage rejected.parquet and the quarantine; return what there is to say of the latter."""
    write_rejected(outputs.path(REJECTED), judged.rows.rejected())
    if limit is None:
        return {"written": False}
    parts = read_rejected(judged.dataset, outputs.path(REJECTED))
    written = write_quarantine(outputs.path(QUARANTINE), parts, limit)
    return {"written": written.rows > 0, **written.to_dict()}


def _clean(judged: Judged, outputs: Outputs, request: Request, *, wanted: bool) -> dict[str, Any]:
    """Stage the clean copy, where it is wanted; return what there is to say of it."""
    if not wanted:
        return {"written": False}
    return write_clean(
        outputs.path(CLEAN),
        judged.dataset,
        [shard.fault is None for shard in judged.context.shards],
        outputs.path(REJECTED),
        fingerprint=judged.context.vocabulary.fingerprint,
        request=request,
    ).to_dict()


def _write(judged: Judged, outputs: Outputs, copied: Mapping[str, Any], reports: Sequence[str]) -> Result:
    """Stage the reports and what it is made from; return the result that says what was copied."""
    result = replace(judged.result, meta={**judged.result.meta, **copied})
    with writing(outputs.place / RECORD):
        write_record(outputs.path(RECORD), judged.dataset, judged.context.shards)
    stage_reports(outputs, result, reports)
    return result


def _settings(request: Request, judged: Judged) -> dict[str, Any]:
    """Return what `dataguard judge` takes over from the run."""

    def located(path: str | Path | None) -> str | None:
        if path is None:
            return None
        return str(Path(path).absolute() if Path(path).exists() else path)  # a hub name is no path

    return {
        "tokenizer": located(judged.tokenizer),
        "model": located(request.model),
        "vocab_size": request.vocab_size,
        "parameters": dict(request.parameters),
        "columns": dict(request.columns),
        "vocabulary": dict(request.vocabulary),
        "source_from": request.source_from,
        "store": None if request.store is None else str(request.store),
    }


def _facts(request: Request, judged: Judged) -> dict[str, Any]:
    """Return what run.json says of a run, beside its times and its host."""
    packages = ("pyarrow", "polars", "numpy", "numba", "tokenizers")
    return {
        "data": [str(path.absolute()) for path in paths_of(request.data)],
        "settings": _settings(request, judged),
        "jobs": request.jobs,
        "packages": {name: version(name) for name in packages},
    }
