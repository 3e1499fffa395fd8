"""Padding and masks."""

from __future__ import annotations

from collections.abc import Sequence

from tests.expectations.reference.judging import MISSING, Arguments, Fault, Said
from tests.expectations.reference.terms import Row, sound


def side_of(row: Row) -> str:
    return {(False, False): "none", (True, False): "left", (False, True): "right"}.get(
        (row.left > 0, row.right > 0), "both"
    )


def padding_side(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    wanted = arguments.get("side", "auto")
    own_side = [source for source, own in arguments.get("by_source", {}).items() if own.get("side", "auto") != "auto"]
    sides = [side_of(row) for row in rows if row.has_content and row.source not in own_side]
    few = sorted(("left", "right"), key=sides.count)
    minority = few[0] if sides.count(few[0]) < sides.count(few[1]) else None

    def one(row: Row) -> Said:
        if not row.has_content:
            return MISSING
        side = side_of(row)
        place = 0 if row.left else len(row.ids) - row.right
        if side == "both":
            return Fault("both_sides", place)
        if wanted == "auto":
            return Fault("mixed_sides", place) if side == minority else None
        return None if side in ("none", wanted) else Fault(f"{side}_padded", place)

    return [one(row) for row in rows]


def tie(rows: Sequence[Row], arguments: Arguments) -> dict[str, int]:
    """Return how many rows are padded on one side, where auto finds as many left as right: then no row is named."""
    own_side = [source for source, own in arguments.get("by_source", {}).items() if own.get("side", "auto") != "auto"]
    sides = [side_of(row) for row in rows if row.has_content and row.source not in own_side]
    equal = arguments.get("side", "auto") == "auto" and sides.count("left") == sides.count("right") > 0
    return {"mixed_sides": 2 * sides.count("left")} if equal else {}


def padding_contiguous(row: Row, arguments: Arguments) -> Said:
    if not row.has_content:
        return MISSING
    inner = [place for place in range(row.first, row.last) if place not in row.places]
    return Fault("inner_padding", inner[0]) if inner else None


def pads_at_ends(row: Row, pad: int) -> tuple[int, int, int]:
    """Return the runs of attended pads at the attended part's left and right end, and the attended pads between."""
    seen = row.attended or []
    left, right = row.first, row.last
    while left <= row.last and seen[left] and row.ids[left] == pad:
        left += 1
    while right >= row.first and seen[right] and row.ids[right] == pad:
        right -= 1
    between = [place for place in range(left, right + 1) if seen[place] and row.ids[place] == pad]
    return left - row.first, row.last - right, len(between)


def mask_matches_padding(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    shared = arguments.get("pad_shared", "auto")
    if shared == "auto":
        judged = [row for row in rows if row.has_content]
        pad = judged[0].vocabulary.pad if judged else None
        pad = judged[0].vocabulary.eos if judged and pad is None else pad
        seen = [pads_at_ends(row, pad) for row in judged if row.has("attention_mask") and pad is not None]
        some = 0.01 * len(judged)
        inner, at_end = sum(each[2] > 0 for each in seen), sum(each[1] > 0 for each in seen)
        one = sum(each[1] == 1 for each in seen)
        shared = bool(judged) and (inner >= some or (one >= max(some, 5) and one >= 0.9 * at_end))
    return [mask_and_padding(row, shared) for row in rows]


def mask_and_padding(row: Row, shared: bool) -> Said:
    known = row.vocabulary
    pad = known.eos if known.pad is None else known.pad
    assert pad is not None
    if not row.has_content:
        return MISSING
    length = len(row.ids)
    if not row.has("attention_mask"):
        run = 0
        while run < length and row.ids[length - 1 - run] == pad:
            run += 1
        return Fault("mask_not_inferable", length - run) if pad == known.eos and run >= 2 else None
    left, right, _ = pads_at_ends(row, pad)
    real_left, real_right = int(shared or pad == known.bos), int(shared or pad == known.eos)
    if (row.right > 0 or row.left == 0) and right > real_right:
        return Fault("attended_padding", row.last + 1 - right + real_right)
    if (row.left > 0 or row.right == 0) and left > real_left:
        return Fault("attended_padding", row.first)
    ends = [*range(row.first), *range(row.last + 1, length)]
    hidden = [place for place in ends if row.ids[place] != pad]
    return Fault("masked_token", hidden[0]) if hidden and known.pad is not None else None


def mask_binary(row: Row, arguments: Arguments) -> Said:
    mask, pad = row.beside("attention_mask"), row.vocabulary.pad
    if not sound(mask) or not mask:
        return MISSING
    if arguments.get("segments", False):
        wrong = [place for place, value in enumerate(mask) if value < 0]
    else:
        wrong = [place for place, value in enumerate(mask) if value not in (0, 1)]
    if wrong:
        added = all(value == 0 or value <= -1000 for value in mask)
        return Fault("additive" if added else "not_binary", wrong[0])
    if pad is None or row.column not in row.cells or not row.pairs("attention_mask"):
        return None
    attended = [token for token, value in zip(row.ids, mask, strict=True) if value != 0]
    hidden = [token for token, value in zip(row.ids, mask, strict=True) if value == 0]
    inverted = bool(attended) and all(token == pad for token in attended) and any(token != pad for token in hidden)
    return Fault("inverted", None) if inverted else None
