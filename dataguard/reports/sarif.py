"""report.sarif: the findings in SARIF 2.1.0 (an OASIS standard), which code scanning and editors read.

A rule is a type of expectation, a result one finding. Shards are named from DATA (`uriBaseId`), and row and position stand in
the logical locations: a shard has no lines that a region could name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from dataguard.reports.blocks import where
from dataguard.reports.cases import MOST_NAMED, MOST_SAID, Case, cases_of, in_one_line, reason_told
from dataguard.reports.json_report import plain
from dataguard.reports.text import clipped, printable
from dataguard.result import Finding, Result, Severity
from dataguard.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "note"}
DATA = "DATA"
WHOLE = "./"
"""The data set itself, as a place: some readers want one of every result."""
MOST_PATH = 4_096
"""Characters of a path: no file system has longer ones."""
PLACEHOLDER = re.compile(r"\{(\d+)\}")


def sarif_report(result: Result) -> str:
    """Return the report as JSON: keys in a fixed order, the same bytes for the same input."""
    cases = cases_of(result)
    rules = _rules(cases)
    place_of = {rule["id"]: place for place, rule in enumerate(rules)}
    found = [each for case in cases for each in _results(case, place_of)]
    uris = dict.fromkeys(each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in found)
    run = {
        "tool": {
            "driver": {"name": "dataguard", "version": __version__, "semanticVersion": __version__, "rules": rules}
        },
        "invocations": [_invocation(cases, result, place_of)],
        "originalUriBaseIds": {DATA: {"description": {"text": "DATA, as it was given to dataguard."}}},
        "artifacts": [{"location": _artifact(uri)} for uri in uris if uri != WHOLE],
        "results": found,
        "properties": {
            "suite": clipped(printable(result.suite_name), MOST_NAMED),
            "success": result.success,
            "rows": result.meta.get("rows"),
            "tokens": result.meta.get("tokens"),
        },
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(plain(log), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rules(cases: list[Case]) -> list[dict[str, Any]]:
    """Return a rule for each type of expectation, in the order of the suite."""
    rules: dict[str, dict[str, Any]] = {}
    for case in cases:
        rule = rules.setdefault(case.type, {"id": case.type, "help": None})
        if case.result is None:
            continue
        text = case.type.removeprefix("expect_").replace("_", " ")
        rule.setdefault("shortDescription", _message(f"{text[:1].upper()}{text[1:]}."))
        rule.setdefault("defaultConfiguration", {"level": LEVELS[case.result.severity]})
        reasons = rule.setdefault("reasons", {})
        reasons.update(dict.fromkeys(case.result.details.get("reasons") or {}))
        if case.result.fix:
            rule["help"] = case.result.fix
    return [_rule(rule) for rule in rules.values()]


def _rule(given: dict[str, Any]) -> dict[str, Any]:
    """Return a rule as the standard has it: what it means, and in its help what to do."""
    told = [reason_told(reason) for reason in given.pop("reasons", {})]
    fix = printable(given.pop("help") or "")
    rule = {**given}
    if told:
        rule["fullDescription"] = _message("; ".join(told))
    rule["help"] = _message(fix or f"dataguard catalogue {given['id']}")
    return rule


def _invocation(cases: list[Case], result: Result, place_of: dict[str, int]) -> dict[str, Any]:
    """Return what is said of the run: what could not be judged is a fault of its configuration, what was skipped a note."""
    notifications = []
    for case in cases:
        unjudged = case.skipped or (case.result.unjudged if case.result else None)
        if unjudged is None:
            continue
        notifications.append(
            {
                "level": "note" if case.status == "skip" else "error",
                "message": _message(
                    f"{case.name} was {'skipped' if case.status == 'skip' else 'not judged'}: {unjudged}"
                ),
                "associatedRule": {"id": case.type, "index": place_of[case.type]},
            }
        )
    return {
        "executionSuccessful": True,
        "exitCode": 0 if result.success else 1,
        "toolConfigurationNotifications": notifications,
    }


def _results(case: Case, place_of: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield a result for each finding of an expectation that does not hold; one on the whole where it names none."""
    each = case.result
    if each is None or each.success:
        return
    rule = {"ruleId": case.type, "ruleIndex": place_of[case.type]}
    if each.unjudged is not None:
        rule |= {"kind": "open", "level": "none"}
    else:
        rule |= {"kind": "fail", "level": LEVELS[each.severity]}
    for found in each.findings:
        place = clipped(where(found, each.name_of_value(found.reason)), MOST_SAID)
        yield {
            **rule,
            "message": _message(f"{place}; {reason_told(found.reason)}"),
            "locations": [_location(found)],
            "partialFingerprints": _fingerprints(case.name, found),
            "properties": _properties(case, found),
        }
    if not each.findings:
        nowhere = Finding("")
        yield {
            **rule,
            "message": _message(in_one_line(each)),
            "locations": [_location(nowhere)],
            "partialFingerprints": _fingerprints(case.name, nowhere),
            "properties": {"expectation": case.name, "severity": each.severity},
        }


def _location(found: Finding) -> dict[str, Any]:
    """Return where a finding stands: its shard, and in that the row (as `dataguard show --row` names it) and the position."""
    uri = WHOLE if found.shard is None else uri_of(found.shard)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(uri)}}
    named = "" if found.shard is None else clipped(printable(found.shard), MOST_SAID)
    inside = []
    if found.row is not None:
        named += f":{found.row}"
        inside.append({"name": f"row {found.row}", "fullyQualifiedName": named, "kind": "row"})
        if found.position is not None:
            name = f"{clipped(printable(found.column or 'input_ids'), MOST_NAMED)}[{found.position}]"
            inside.append({"name": name, "fullyQualifiedName": f"{named}:{name}", "kind": "position"})
    if found.source is not None:
        source = clipped(printable(found.source), MOST_SAID)
        inside.append({"name": source, "fullyQualifiedName": f"source {source}", "kind": "source"})
    places = {"epoch": found.epoch, "rank": found.rank}
    inside += [{"name": f"{kind} {place}", "kind": kind} for kind, place in places.items() if place is not None]
    return {**location, **({"logicalLocations": inside} if inside else {})}


def _artifact(uri: str) -> dict[str, Any]:
    return {"uri": uri, "uriBaseId": DATA}


def uri_of(shard: str) -> str:
    """Return a shard's name as a relative reference: bytes that URIs cannot hold are percent-encoded, `/` parts folders."""
    return quote(clipped(shard, MOST_PATH).encode("utf-8", "backslashreplace"), safe="/") or WHOLE


def _properties(case: Case, found: Finding) -> dict[str, Any]:
    told = {"expectation": case.name, **found.to_dict()}
    if case.result is not None:
        told["severity"] = case.result.severity
    return {
        name: clipped(printable(value), MOST_SAID) if isinstance(value, str) else value for name, value in told.items()
    }


def _fingerprints(name: str, found: Finding) -> dict[str, str]:
    """Return what tells a finding from others and not from itself in a later run: neither its value nor how it is worded.

    The second key is the one by which code scanning at GitHub follows an alert.
    """
    keys = (
        name,
        found.column,
        found.shard,
        found.row,
        found.source,
        found.epoch,
        found.rank,
        found.reason,
        found.position,
    )
    digest = hashlib.blake2b(json.dumps(plain(keys)).encode(), digest_size=16).hexdigest()
    return {"dataguard/v1": digest, "primaryLocationLineHash": f"{digest}:1"}


def _message(text: str) -> dict[str, str]:
    """Return a message: what would be a link or a placeholder in it is text."""
    escaped = re.sub(r"([\\\[\]])", r"\\\1", clipped(printable(text), MOST_SAID))
    return {"text": PLACEHOLDER.sub(r"{{\1}}", escaped)}
