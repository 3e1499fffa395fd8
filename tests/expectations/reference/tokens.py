"""Rows and tokens: null, empty, lengths, copies, ids, separators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.expectations.reference.judging import ANYWHERE, MISSING, Arguments, Fault, Said
from tests.expectations.reference.terms import PER_TOKEN, Row, clipped, documents, sound


def sources_known(row: Row, arguments: Arguments) -> Said:
    allowed = arguments.get("allowed")
    if row.source is None:
        return Fault("missing_source", None)
    return Fault("unknown_source", None) if allowed is not None and row.source not in allowed else None


def rows_not_null(row: Row, arguments: Arguments) -> Said:
    cell = row.ids
    if cell is None:
        return Fault("null_row", None)
    return Fault("null_element", ANYWHERE) if None in cell else None


def rows_not_empty(row: Row, arguments: Arguments) -> Said:
    if not sound(row.ids):
        return MISSING
    if not row.ids:
        return Fault("no_tokens", None)
    if row.attended is None:
        return MISSING
    if not row.places:
        return Fault("nothing_attended")
    if not row.content and arguments.get("ignore_special", True):
        return Fault("only_special_tokens")
    return Fault("blank_text") if row.content and row.is_blank else None


def equal_lengths(row: Row, arguments: Arguments) -> Said:
    if row.ids is None:
        return MISSING
    for role in PER_TOKEN:
        if row.has(role) and row.beside(role) is not None and len(row.beside(role)) != len(row.ids):
            return Fault(f"{role}_length")
    return None


def sequence_lengths(row: Row, arguments: Arguments) -> Said:
    if row.is_missing():
        return MISSING
    length = len(row.ids) - arguments.get("extra", 0)
    least, most, step = (arguments.get(name) for name in ("min_length", "max_length", "multiple_of"))
    if least is not None and length < least:
        return Fault("too_short", None)
    if most is not None and length > most:
        return Fault("too_long", None)
    return Fault("not_multiple", None) if step is not None and length % step else None


def rows_unique(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    seen: set[Any] = set()
    said: list[Said] = []
    for row in rows:
        roles = [column.removeprefix(row.column.removesuffix("input_ids")) for column in arguments.get("columns", [])]
        others = [role for role in roles if role != "input_ids"]
        if not row.has_content or not all(row.pairs(role) for role in others):
            said.append(MISSING)
            continue
        cells = [row.ids, *(row.beside(role) for role in others)] if "input_ids" in roles or not roles else []
        cells = cells or [row.beside(role) for role in others]
        key = tuple(tuple(cell[place] for place in row.places) for cell in cells)
        said.append(Fault("duplicate", None) if key in seen else None)
        seen.add(key)
    return said


def row_token_share(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    own = [row for row in rows if row.has_content]
    total = sum(len(row.places) for row in own)
    enough = len(own) >= arguments.get("min_rows", 20)

    def one(row: Row) -> Said:
        if not row.has_content:
            return MISSING
        return Fault("huge_row") if enough and len(row.places) / total > arguments.get("max_share", 0.5) else None

    return [one(row) for row in rows]


def ids_in_vocabulary(row: Row, arguments: Arguments) -> Said:
    if row.is_missing():
        return MISSING
    limit = arguments.get("limit") or row.vocabulary.limit
    return outside(row.tokens, limit, arguments.get("sentinels", ()))


def outside(ids: list[int], limit: int | None, sentinels: Sequence[int]) -> Said:
    """Return the fault of the first id below 0, else of the first beyond the limit."""
    judged = [(place, token) for place, token in enumerate(ids) if token not in sentinels]
    negative = [place for place, token in judged if token < 0]
    beyond = [place for place, token in judged if limit is not None and token >= limit]
    if negative:
        return Fault("negative", negative[0])
    return Fault("beyond_limit", beyond[0]) if beyond else None


def ids_assigned(row: Row, arguments: Arguments) -> Said:
    if row.is_missing():
        return MISSING
    known = row.vocabulary
    assert known.size is not None
    assert known.limit is not None
    inside = [(place, token) for place, token in enumerate(row.ids) if 0 <= token < known.limit]
    reserved = [place for place, token in inside if token in known.reserved]
    holes = [place for place, token in inside if token >= known.size and token not in known.reserved]
    if holes:
        return Fault("unassigned", holes[0])
    return Fault("reserved", reserved[0]) if reserved else None


def unknown_tokens(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    share = row.content.count(row.vocabulary.unk) / len(row.content)  # type: ignore[arg-type]
    return Fault("many_unknown", None) if share > arguments.get("max_fraction", 0.1) else None


def contain_tokens(row: Row, arguments: Arguments) -> Said:
    least, most = arguments.get("min_count", 1), arguments.get("max_count")
    if arguments.get("count_column") is not None:
        least = most = clipped(row.cells[arguments["count_column"]])
        if least is None:
            return MISSING
    if not row.has_content:
        return MISSING
    visible = [row.ids[place] for place in row.places]
    counts = [visible.count(token) for token in dict.fromkeys(arguments["tokens"])]
    if least > 0 and 0 in counts:
        return Fault("missing_token", None)
    if any(count < least for count in counts):
        return Fault("too_few", None)
    return Fault("too_many", None) if most is not None and any(count > most for count in counts) else None


def bos_at_starts(row: Row, arguments: Arguments) -> Said:
    known, policy = row.vocabulary, arguments.get("policy", "optional")
    one_id = known.bos == known.eos
    found = documents(row, by_eos=not one_id) if row.has_content else None
    if found is None:
        return MISSING
    starts, inside = found.starts, found.inside
    lacking = [place for place in starts if row.ids[place] != known.bos]
    there = [place for place in starts if row.ids[place] == known.bos]
    before = dict(zip(inside[1:], inside, strict=False))
    doubled = [p for p, q in before.items() if row.ids[p] == row.ids[q] == known.bos]
    astray = [place for place in inside if row.ids[place] == known.bos and place not in starts]
    if policy == "required" and lacking:
        return Fault("missing_bos", lacking[0])
    if policy == "forbidden" and (there or (astray and not one_id)):
        return Fault("unexpected_bos", there[0] if there else astray[0])
    return Fault("doubled_bos", doubled[0]) if doubled and not one_id else None


def eos_at_ends(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    policy = arguments.get("policy", "unless_truncated")
    ends = row.ids[row.last] in (arguments.get("stop_ids") or [row.vocabulary.eos])
    truncated = policy == "unless_truncated" and len(row.places) == arguments.get("max_length")
    if policy == "forbidden":
        return Fault("unexpected_eos") if ends else None
    return Fault("missing_eos") if policy != "optional" and not ends and not truncated else None


def eos_inside(row: Row) -> tuple[list[int], str] | None:
    """Return the eos before the last token of a document, and what tells the documents; None where nobody knows them."""
    found = documents(row, by_eos=False)
    if found is None:
        return None
    eos, inside = row.vocabulary.eos, []
    for number in sorted({number for number in found.numbers if number is not None}):
        document = found.of(number)
        end = len(document) - 1
        while end > 0 and row.vocabulary.pad == eos and row.ids[document[end]] == row.ids[document[end - 1]] == eos:
            end -= 1  # a run of eos that may be padding is the document's end
        inside += [place for place in document[:end] if row.ids[place] == eos]
    return inside, found.by


def no_eos_inside(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    packed = arguments.get("packed", "auto")
    seen = [eos_inside(row) if row.has_content else None for row in rows]
    alone = [(row, each[0]) for row, each in zip(rows, seen, strict=True) if each is not None and each[1] == "nothing"]
    told = [each[0] for each in seen if each is not None and each[1] != "nothing"]
    lengths = [len(row.places) for row, _ in alone]
    divided = sum(bool(inside) for _, inside in alone)
    full = lengths.count(max(lengths)) if lengths else 0
    ends = divided > 0 and (divided >= 0.01 * len(alone) or (len(alone) > 1 and full >= 0.9 * len(alone)))
    turns = sum(map(bool, told)) >= max(0.5 * len(told), 5)
    said: list[Said] = []
    for row, found in zip(rows, seen, strict=True):
        if found is None:
            said.append(MISSING)
            continue
        inside, by = found
        expected = packed if packed != "auto" else (ends if by == "nothing" else turns)
        said.append(Fault("eos_inside", inside[0]) if inside and not expected else None)
        if arguments.get("across_rows") and packed is not True and said[-1] is None and goes_on(row, rows):
            last = documents(row, by_eos=False)
            end = last.inside[-1] if last is not None else 0
            said[-1] = Fault("eos_inside", end) if row.ids[end] == row.vocabulary.eos else None
    return said


def goes_on(row: Row, rows: Sequence[Row]) -> bool:
    """Whether a row's last document goes on in the next row of its shard."""
    following = [each for each in rows if (each.shard, each.number) == (row.shard, row.number + 1)]
    if not following:
        return False
    own, other = (end_ids(each) for each in (row, following[0]))
    return own is not None and other is not None and own[1] == other[0]


def end_ids(row: Row) -> tuple[int, int] | None:
    """Return the document ids of a row's first and last token; None where nothing of it is in a document."""
    found = None if row.is_missing() else documents(row, by_eos=False)
    if found is None or not found.inside:
        return None
    ids = row.beside("document_ids")
    return ids[found.inside[0]], ids[found.inside[-1]]
