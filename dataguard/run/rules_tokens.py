"""Rules on ids, on special tokens, and on how rows are cut and padded."""

from __future__ import annotations

from collections.abc import Iterable

from dataguard.run.rule import (
    FEW,
    LEAST_ROWS,
    USUAL,
    Fits,
    Fitted,
    cap_of,
    first_that_holds,
    mostly,
    percent,
    rounded_up,
    share_unexpected,
    tolerant,
)
from dataguard.run.seen import Kwargs, Seen


def ids(seen: Seen) -> Fits:
    """Propose the range of ids that the vocabulary sets: never one that the ids set."""
    spread = seen.spread("highest_id")
    limit = seen.context.vocabulary.limit
    highest = "no id was seen" if spread is None else f"the highest id is {spread.highest:,}"
    known = "the limit is not known" if limit is None else f"ids below {limit:,} can be looked up"
    return [Fitted({}, f"{highest}; {known}")]


def unknown(seen: Seen) -> Fits:
    """Propose twice the share of unk that nearly all rows have."""
    kind = "expect_unknown_token_fraction_to_be_below"
    spread, vocabulary = seen.spread("unknown_fraction"), seen.context.vocabulary
    if spread is None:
        return "no row has content"
    if vocabulary.unk in vocabulary.special_ids:
        return "unk is pad, bos or eos as well, so that nothing is counted"
    limit = min(0.1, max(0.01, rounded_up(2 * spread.quantile(USUAL), 0.01)))
    kwargs = tolerant(seen, kind, {"max_fraction": limit}, least=0.99)
    return [Fitted(kwargs, f"99 % of the rows have at most {percent(spread.quantile(USUAL))} unk")]


def bos(seen: Seen) -> Fits:
    """Propose bos where nearly all documents begin with it, or that none does."""
    kind, vocabulary = "expect_bos_at_document_starts", seen.context.vocabulary
    lacking = share_unexpected(seen.trial(kind, {"policy": "required"}))
    if lacking < FEW / 5:
        return [Fitted({"policy": "required"}, f"{percent(1 - lacking)} of the rows begin every document with bos")]
    if vocabulary.bos == vocabulary.eos:
        return "bos and eos are one id, and not every document begins with it"
    if share_unexpected(seen.trial(kind, {"policy": "forbidden"})) == 0:
        return [Fitted({"policy": "forbidden"}, "no token is bos")]
    why = f"{percent(1 - lacking)} of the rows begin every document with bos: only doubled ones are looked for"
    return [Fitted({}, why)]


def eos(seen: Seen) -> Fits:
    """Propose eos where nearly all rows that are not cut end with it."""
    attended = seen.spread("attended_tokens")
    cap = None if attended is None else cap_of(attended)
    if attended is None or (cap is not None and attended.share_at(cap) > 1 - FEW):
        return "nearly all rows end where they are cut"
    kwargs: Kwargs = {"policy": "required"} if cap is None else {"policy": "unless_truncated", "max_length": cap}
    lacking = share_unexpected(seen.trial("expect_eos_at_document_ends", kwargs))
    if lacking >= FEW:
        return f"{percent(lacking)} of the rows that are not cut end without eos"
    return [Fitted({**kwargs, **mostly(lacking)}, f"{percent(1 - lacking)} of the rows end with eos, or are cut")]


def eos_inside(seen: Seen) -> Fits:
    """Propose that eos only ends documents, where it mostly does."""
    inside = share_unexpected(seen.trial("expect_no_eos_inside_documents"))
    if inside >= FEW:
        return f"eos stands inside {percent(inside)} of the rows"
    why = f"eos stands inside {percent(inside)} of the rows" if inside else "eos only ends documents"
    return [Fitted(mostly(inside), why)]


def truncation(seen: Seen) -> Fits:
    """Propose the length at which most tokens are cut."""
    kind, judged = "expect_truncation_to_be_consistent_across_sources", {"min_rows": LEAST_ROWS}
    result = seen.trial(kind, judged)
    records = [each for each in result.observed_value or () if each["rows"] >= LEAST_ROWS]
    if not records:
        return f"no source has {LEAST_ROWS} rows"
    caps: dict[int, int] = {}
    for each in records:
        if each["cap"] is not None:
            caps[each["cap"]] = caps.get(each["cap"], 0) + each["tokens"]
    if not caps:
        return [Fitted(judged, "no source's rows pile up at a length")]
    cap = max(caps, key=lambda each: (caps[each], each))
    cut = sum(each["cap"] == cap for each in records)
    return [Fitted({"max_length": cap, **judged}, f"{cut} of {len(records)} sources are cut at {cap:,}")]


def padding_side(seen: Seen) -> Fits:
    """Propose the side on which most rows are padded."""
    kind = "expect_padding_side_to_be"
    sides = seen.trial(kind).observed_value or {"left": 0, "right": 0}
    if not sides["left"] and not sides["right"]:
        return [Fitted({"side": "none"}, "no row is padded")]
    side = "left" if sides["left"] > sides["right"] else "right"
    return [Fitted({"side": side}, f"{sides['left']:,} rows are padded left, {sides['right']:,} right")]


def mask(seen: Seen) -> Fits:
    """Propose a mask of 0 and 1, or one that numbers segments where rows do."""
    kind = "expect_attention_mask_to_be_binary"
    kwargs = first_that_holds(seen, kind, segments(seen))
    return [Fitted(kwargs, "the mask numbers segments" if kwargs else "the mask is 0 or 1")]


def segments(_: Seen) -> Iterable[Kwargs]:
    """Return both kinds of masks."""
    return ({}, {"segments": True})
