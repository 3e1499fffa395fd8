"""Labels, prompts and answer spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.expectations.reference.judging import MISSING, Arguments, Fault, Said
from tests.expectations.reference.terms import Row, documents, sound, unpadded
from tests.expectations.reference.tokens import outside


def ignored(arguments: Arguments) -> int:
    index: int = arguments.get("ignore_index", -100)
    return index


def supervised(row: Row, arguments: Arguments) -> list[int]:
    """Return the places of the labels that are not ignored."""
    return [place for place, label in enumerate(row.beside("labels")) if label != ignored(arguments)]


def labels_align(row: Row, arguments: Arguments) -> Said:
    if row.is_missing() or not row.pairs("labels"):
        return MISSING
    labels, ids, shift = row.beside("labels"), row.ids, arguments.get("shift", 0)

    def compared(by: int) -> tuple[list[int], list[int]]:
        places = [place for place in supervised(row, arguments) if place + by < len(ids)]
        fit = [place for place in places if labels[place] == ids[place + by]]
        return fit, [place for place in places if place not in fit]

    (own_fit, own_wrong), (other_fit, other_wrong) = compared(shift), compared(1 - shift)
    if not own_wrong:
        return None
    telling = [place for place in own_fit if place not in other_fit]
    if other_fit and not other_wrong and not telling:
        return Fault("unshifted" if shift else "shifted", own_wrong[0])
    return Fault("mismatch", own_wrong[0])


def labels_in_vocabulary(row: Row, arguments: Arguments) -> Said:
    labels = row.beside("labels")
    if not sound(labels) or not labels:
        return MISSING
    limit = arguments.get("limit") or row.vocabulary.limit
    return outside(labels, limit, [ignored(arguments)])


def padding_ignored(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    """An attended pad is a label of padding, unless pad is bos or eos, or single ones are real tokens in the data set."""
    seen = [supervised_padding(row, arguments) for row in rows]
    judged = [each for each in seen if each is not None]
    inner = sum(each[2] for each in judged)
    shared = inner > 0 and inner >= 0.01 * len(judged)

    def one(found: tuple[list[int], list[int], bool] | None) -> Said:
        if found is None:
            return MISSING
        sure, single, _ = found
        places = sorted(sure if shared else [*sure, *single])
        return Fault("supervised_padding", places[0]) if places else None

    return [one(found) for found in seen]


def supervised_padding(row: Row, arguments: Arguments) -> tuple[list[int], list[int], bool] | None:
    """Return supervised labels on masked positions or on runs of pads, on single pads, and whether one of those is inside."""
    known = row.vocabulary
    seen = [True] * len(row.ids or [])
    if row.has("attention_mask"):
        if row.attended is None:
            return None
        seen = row.attended
    if row.is_missing() or not row.pairs("labels"):
        return None
    labels, pad = row.beside("labels"), None if known.pad in (known.bos, known.eos) else known.pad
    places = supervised(row, arguments)
    sure, single, inside = [place for place in places if not seen[place]], [], False
    for place in places:
        if not seen[place] or pad is None or labels[place] != pad:
            continue
        near = [each for each in (place - 1, place + 1) if 0 <= each < len(seen) and seen[each]]
        if any(row.ids[each] == pad for each in near):
            sure.append(place)
        else:
            single.append(place)
            inside = inside or len(near) == 2
    return sure, single, inside


def supervised_tokens(row: Row, arguments: Arguments) -> Said:
    if not row.has_content or not row.pairs("labels"):
        return MISSING
    targets = len([place for place in supervised(row, arguments) if place > 0 or arguments.get("shift", 0)])
    least, most = arguments.get("min_value", 1), arguments.get("max_value")
    if least and targets == 0:
        length = arguments.get("max_length")
        return Fault("no_target_truncated" if length is not None and len(row.places) >= length else "no_target", None)
    if least and targets < least:
        return Fault("too_few", None)
    return Fault("too_many", None) if most is not None and targets > most else None


def of_prompt(row: Row, role: str) -> Any:
    """Return what a column tells of the prompt: the row's own, or the one that the sides of a pair share."""
    return row.beside(role) if row.has(role) else row.cells.get(role)


def bare(row: Row, prompt: list[int]) -> list[int]:
    """Return a prompt without the padding at its ends, where the pad id tells that."""
    seen = unpadded(prompt, row.vocabulary.pad if row.vocabulary.pad_is_own else None)
    return [token for token, each in zip(prompt, seen, strict=True) if each]


def prompt_ignored(row: Row, arguments: Arguments) -> Said:
    length, prompt = of_prompt(row, "prompt_length"), of_prompt(row, "prompt_ids")
    if length is None and sound(prompt):
        length = len(bare(row, prompt))
    if row.is_missing() or not row.places or not row.pairs("labels") or length is None or length < 0:
        return MISSING
    shift, labels = arguments.get("shift", 0), row.beside("labels")
    learned = [p for p in supervised(row, arguments) if p in row.places and p + shift < row.first + length]
    if learned and not arguments.get("train_on_prompt", False):
        return Fault("prompt_supervised", learned[0])
    answer = row.first + max(length, 1)  # no loss predicts the first token of a row
    if answer in row.places and labels[answer - shift] == ignored(arguments):
        return Fault("first_target_masked", answer - shift)
    return None


def prompt_prefix(row: Row, arguments: Arguments) -> Said:
    prompt = of_prompt(row, "prompt_ids")
    if row.is_missing() or not row.places or not sound(prompt):
        return MISSING
    if all(token == other for token, other in zip(row.ids, prompt, strict=False)):
        return None
    pairs = zip(row.ids[row.first : row.last + 1], bare(row, prompt), strict=False)
    wrong = [row.first + place for place, (token, other) in enumerate(pairs) if token != other]
    return Fault("not_prefix", wrong[0]) if wrong else None


def cover_spans(row: Row, arguments: Arguments) -> Said:
    spans = row.beside("target_spans")
    if row.is_missing() or not row.pairs("labels") or spans is None:
        return MISSING
    shift, labels = arguments.get("shift", 0), row.beside("labels")
    sound_ones = [span for span in spans if sound(span) and len(span) == 2 and 0 <= span[0] <= span[1]]
    judged = range(len(labels) - shift)
    inside = [place for place in judged if any(start <= place + shift < end for start, end in sound_ones)]
    beyond = [place for place in supervised(row, arguments) if place in judged and place not in inside]
    bare_ones = [place for place in inside if labels[place] == ignored(arguments) and place + shift > 0]
    unsupervised = bool(bare_ones) or len(sound_ones) < len(spans)
    if beyond:
        return Fault("outside_span", beyond[0], ("unsupervised_span",) if unsupervised else ())
    return Fault("unsupervised_span", bare_ones[0] if bare_ones else None) if unsupervised else None


def labels_not_crossing(row: Row, arguments: Arguments) -> Said:
    found = None if row.is_missing() or not row.pairs("labels") else documents(row, by_eos=True)
    if found is None:
        return MISSING
    if arguments.get("allow", False):
        return None
    labels, inside = row.beside("labels"), found.inside
    before = dict(zip(inside[1:], inside, strict=False))
    shift = arguments.get("shift", 1)
    targets = [before[place] if shift else place for place in found.starts if place in before]
    alone = found.by in ("nothing", "eos") and bool(inside) and row.ids[inside[-1]] == row.vocabulary.eos
    if shift and alone:  # the label at a last eos is of the document behind the row, unless it is padding
        last = inside[-1]
        if last + 1 == len(row.ids) or labels[last] != row.ids[last + 1]:
            targets.append(last)
    crossing = sorted(place for place in targets if labels[place] != ignored(arguments))
    return Fault("boundary_target", crossing[0]) if crossing else None
