"""Which expectations a profile proposes, and how their arguments follow from what was seen.

Two rules hold for all of them. What is a matter of degree (a share of symbols, a longest run of digits) gets head room over
what nearly all rows have, and never beyond what no sound data has. What is a fault (an id beyond the vocabulary, a label beside
another token) is never learned: the rule stays as strict as it is, and fails on this data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from dataguard.expectations.mixture import tokens_by_source
from dataguard.result import ExpectationResult, Severity
from dataguard.run.seen import Kwargs, Seen, Spread, token_columns
from dataguard.shards.roles import ATTENTION_MASK, INPUT_IDS, LABELS, PER_TOKEN, ROLES, role_of

FEW = 0.05
"""Share of unexpected rows below which a rule is taken to hold but for some faults."""
RARE = 0.999
"""All but one row in a thousand: what `mostly` of the shipped suites asks for."""
USUAL = 0.99
"""Share of the rows that limits follow; few enough to leave out faults, which are not to widen them."""
TIMES = 1.5
"""Head room over what those rows have."""
MOST_NAMED = 30
LEAST_ROWS = 100
"""Rows of a source below which nothing is said of it."""
RICH = 0.3
"""Share of symbols that a tenth of a source's rows exceeds where symbols are what it is made of (drawn tables, code)."""


@dataclass(frozen=True)
class Fitted:
    """Arguments of a proposed expectation, and what they were derived from."""

    kwargs: Kwargs
    why: str
    severity: Severity | None = None


Fits = Sequence[Fitted] | str
"""What is proposed of a type; or why nothing is."""


@dataclass(frozen=True)
class Rule:
    """A type of expectation that may be proposed.

    Args:
        fit: Derives its arguments.
        needs: Names (`Context.absent`) of what must be there.
        variants: Gives every choice of arguments on which its metrics depend.
        whole: It is on the data set, and proposed once, whatever token columns there are.
    """

    type: str
    fit: Callable[[Seen], Fits]
    needs: tuple[str, ...] = ()
    variants: Callable[[Seen], Iterable[Kwargs]] = lambda _: ({},)
    whole: bool = False


def _as_it_is(why: str) -> Callable[[Seen], Fits]:
    return lambda _: [Fitted({}, why)]


def _share(result: ExpectationResult) -> float:
    """Return the share of the judged rows that are unexpected; 1 where nothing could be judged."""
    if result.unjudged is not None or result.unexpected_count is None:
        return 1.0
    return result.unexpected_count / max(result.judged_count or 0, 1)


def _first_that_holds(seen: Seen, kind: str, variants: Iterable[Kwargs]) -> Kwargs:
    """Return the first arguments under which all but a few rows hold, else those under which most do."""
    tried = [(_share(seen.trial(kind, kwargs)), kwargs) for kwargs in variants]
    return next((kwargs for share, kwargs in tried if share < FEW), min(tried, key=lambda each: each[0])[1])


def _mostly(share: float) -> dict[str, float]:
    """Return the argument that tolerates twice the share that is unexpected here."""
    return {"mostly": math.floor((1 - 2 * share) * 1000) / 1000} if share else {}


def _tolerant(seen: Seen, kind: str, kwargs: Kwargs, least: float) -> Kwargs:
    """Return arguments with a `mostly` that tolerates twice what is unexpected here: one row in a thousand, to 1 - least."""
    beyond = _share(seen.trial(kind, kwargs))
    return {**kwargs, "mostly": min(RARE, max(least, _mostly(beyond).get("mostly", 1.0)))}


def _up(value: float, step: float) -> float:
    """Round up to a step; what is a whole number of steps but for the last bit stays."""
    return round(math.ceil(value / step - 1e-9) * step, 6)


def percent(share: float) -> str:
    """Return a share as people say it."""
    return f"{100 * share:.3g} %"


# Files


def _columns(seen: Seen) -> Fits:
    wanted = columns_wanted(seen)
    return (
        [Fitted({"columns": wanted}, "the columns that most shards have")] if wanted else "no column has a known role"
    )


def columns_wanted(seen: Seen) -> list[str]:
    """Return the roles that more than half of the shards have a column for, the token columns first."""
    shards = [shard for shard in seen.context.intact if shard.rows]
    known = {role for shard in shards for role in shard.roles if shard.has(role) and _is_known(role)}
    most = [role for role in known if 2 * sum(shard.has(role) for shard in shards) > len(shards)]
    order = (*token_columns(seen.context), *ROLES)
    return sorted(most, key=lambda role: (order.index(role) if role in order else len(order), role))


def _is_known(role: str) -> bool:
    return role in ROLES or role.endswith(tuple(f"_{each}" for each in (INPUT_IDS, *PER_TOKEN)))


def _dtypes(seen: Seen) -> Fits:
    shards = seen.context.intact
    typed = [role for role in seen.roles if role_of(role) in {INPUT_IDS, LABELS}]
    kinds = {role: sorted({str(kind) for shard in shards if (kind := shard.type_of(role))}) for role in typed}
    return [Fitted({"column": role}, f"{role} is {' and '.join(kinds[role])}") for role in typed]


def _row_count(seen: Seen) -> Fits:
    return [Fitted({"min_value": 1}, f"{seen.rows:,} rows here; raise it to what a run needs at least")]


def _sources(seen: Seen) -> Fits:
    names = sorted(seen.context.sources)
    lacking = _share(seen.trial("expect_sources_to_be_known"))
    if len(names) == 1 or lacking > FEW:
        return "there is one source" if not lacking else f"{percent(lacking)} of the rows have no source"
    if len(names) > MOST_NAMED:
        return [Fitted({}, f"{len(names):,} sources, too many to name")]
    return [Fitted({"allowed": names}, "the sources that were seen; add one when it joins the mixture")]


# Rows


def _each_list(why: str) -> Callable[[Seen], Fits]:
    return lambda seen: [Fitted({"column": role}, why) for role in seen.roles]


def _list_columns(seen: Seen) -> Iterable[Kwargs]:
    return [{"column": role} for role in seen.roles]


def _equal_lengths(seen: Seen) -> Fits:
    beside = [role for role in seen.roles if role_of(role) in PER_TOKEN]
    return (
        [Fitted({}, f"{seen.column} has {', '.join(beside)} beside it")] if beside else "there is one column of tokens"
    )


def cap_of(lengths: Spread) -> int | None:
    """Return the length at which rows pile up: a fifth of them, three times as many as of the ten lengths below, few beyond."""
    longest = lengths.quantile(0.99)
    below = sum(lengths.share_at(longest - less) for less in range(1, 11)) / 10
    piled = lengths.share_at(longest) >= max(0.2, 3 * below) and lengths.total >= 2
    return int(longest) if piled else None


def _lengths(seen: Seen) -> Fits:
    lengths = seen.spread("tokens")
    if lengths is None:
        return "no row has a token"
    cap, seen_to = cap_of(lengths), f"{lengths.lowest:,} to {lengths.highest:,} tokens"
    if cap is not None and lengths.lowest == cap:
        return [Fitted({"min_length": cap, "max_length": cap}, f"every row has {cap:,} tokens")]
    if cap is not None and lengths.share_at(cap) > 1 - FEW / 5:
        shorter = 1 - lengths.share_at(cap) - lengths.share_above(cap)
        why = f"{percent(lengths.share_at(cap))} of the rows have {cap:,} tokens"
        whole = Fitted({"min_length": cap, **_mostly(shorter)}, f"{percent(shorter)} of the rows have fewer")
        return [Fitted({"max_length": cap}, why), whole]
    if cap is not None:
        found = {"max_length": cap}
        why = f"{seen_to}; {percent(lengths.share_at(cap))} of the rows end at {cap:,}"
    else:
        found = {"max_length": 1 << max(int(lengths.highest) - 1, 1).bit_length()}
        why = f"{seen_to}, half of them up to {lengths.quantile(0.5):,}; the next power of two"
    step = reduce(math.gcd, lengths.steps.tolist(), 0)
    if step >= 8 and len(lengths.steps) >= 3:
        found["multiple_of"] = step
        why += f"; all of them multiples of {step}"
    return [Fitted(found, why)]


def _unique_columns(seen: Seen) -> Iterable[Kwargs]:
    sides = token_columns(seen.context)
    return [{} if sides == [INPUT_IDS] else {"columns": sides}]


def _unique(seen: Seen) -> Fits:
    if seen.column != token_columns(seen.context)[0]:
        return "a pair is compared as a whole"
    (kwargs,) = _unique_columns(seen)
    copies = _share(seen.trial("expect_rows_to_be_unique", kwargs))
    if copies >= FEW:
        return [Fitted(kwargs, f"{percent(copies)} of the rows are copies: more than real corpora have")]
    why = f"{percent(copies)} of the rows are copies; twice as many are tolerated" if copies else "no row is a copy"
    return [Fitted({**kwargs, **_mostly(copies)}, why)]


def _token_share(seen: Seen) -> Fits:
    attended = seen.spread("attended_tokens")
    if attended is None or attended.total < 20:
        return "there are fewer than 20 rows"
    whole = float((attended.steps * attended.rows).sum())
    return [Fitted({}, f"the longest row holds {percent(attended.highest / whole)} of all tokens")]


# Tokens


def _ids(seen: Seen) -> Fits:
    spread = seen.spread("highest_id")
    limit = seen.context.vocabulary.limit
    highest = "no id was seen" if spread is None else f"the highest id is {spread.highest:,}"
    known = "the limit is not known" if limit is None else f"ids below {limit:,} can be looked up"
    return [Fitted({}, f"{highest}; {known}")]


def _unknown(seen: Seen) -> Fits:
    kind = "expect_unknown_token_fraction_to_be_below"
    spread, vocabulary = seen.spread("unknown_fraction"), seen.context.vocabulary
    if spread is None:
        return "no row has content"
    if vocabulary.unk in vocabulary.special_ids:
        return "unk is pad, bos or eos as well, so that nothing is counted"
    limit = min(0.1, max(0.01, _up(2 * spread.quantile(USUAL), 0.01)))
    kwargs = _tolerant(seen, kind, {"max_fraction": limit}, least=0.99)
    return [Fitted(kwargs, f"99 % of the rows have at most {percent(spread.quantile(USUAL))} unk")]


def _bos(seen: Seen) -> Fits:
    kind, vocabulary = "expect_bos_at_document_starts", seen.context.vocabulary
    lacking = _share(seen.trial(kind, {"policy": "required"}))
    if lacking < FEW / 5:
        return [Fitted({"policy": "required"}, f"{percent(1 - lacking)} of the rows begin every document with bos")]
    if vocabulary.bos == vocabulary.eos:
        return "bos and eos are one id, and not every document begins with it"
    if _share(seen.trial(kind, {"policy": "forbidden"})) == 0:
        return [Fitted({"policy": "forbidden"}, "no token is bos")]
    return [
        Fitted(
            {}, f"{percent(1 - lacking)} of the rows begin every document with bos: only doubled ones are looked for"
        )
    ]


def _eos(seen: Seen) -> Fits:
    attended = seen.spread("attended_tokens")
    cap = None if attended is None else cap_of(attended)
    if attended is None or (cap is not None and attended.share_at(cap) > 1 - FEW):
        return "nearly all rows end where they are cut"
    kwargs: Kwargs = {"policy": "required"} if cap is None else {"policy": "unless_truncated", "max_length": cap}
    lacking = _share(seen.trial("expect_eos_at_document_ends", kwargs))
    if lacking >= FEW:
        return f"{percent(lacking)} of the rows that are not cut end without eos"
    return [Fitted({**kwargs, **_mostly(lacking)}, f"{percent(1 - lacking)} of the rows end with eos, or are cut")]


def _eos_inside(seen: Seen) -> Fits:
    inside = _share(seen.trial("expect_no_eos_inside_documents"))
    if inside >= FEW:
        return f"eos stands inside {percent(inside)} of the rows"
    return [
        Fitted(
            _mostly(inside), f"eos stands inside {percent(inside)} of the rows" if inside else "eos only ends documents"
        )
    ]


# Truncation, padding and mask


def _truncation(seen: Seen) -> Fits:
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


def _padding_side(seen: Seen) -> Fits:
    kind = "expect_padding_side_to_be"
    sides = seen.trial(kind).observed_value or {"left": 0, "right": 0}
    if not sides["left"] and not sides["right"]:
        return [Fitted({"side": "none"}, "no row is padded")]
    side = "left" if sides["left"] > sides["right"] else "right"
    return [Fitted({"side": side}, f"{sides['left']:,} rows are padded left, {sides['right']:,} right")]


def _mask(seen: Seen) -> Fits:
    kind = "expect_attention_mask_to_be_binary"
    kwargs = _first_that_holds(seen, kind, _segments(seen))
    return [Fitted(kwargs, "the mask numbers segments" if kwargs else "the mask is 0 or 1")]


def _segments(_: Seen) -> Iterable[Kwargs]:
    return ({}, {"segments": True})


# Labels


SHIFTS: tuple[Kwargs, ...] = ({}, {"shift": 1})


def _shift(seen: Seen) -> Kwargs:
    return _first_that_holds(seen, "expect_labels_to_align_with_input_ids", SHIFTS)


def _align(seen: Seen) -> Fits:
    kwargs = _shift(seen)
    return [Fitted(kwargs, "labels[i] is input_ids[i + 1]" if kwargs else "labels[i] is input_ids[i]: the loss shifts")]


def _supervised(seen: Seen) -> Fits:
    targets, share = seen.spread("targets"), seen.spread("supervised_fraction")
    if targets is None or share is None:
        return "no row has labels"
    why = f"{targets.lowest:,} to {targets.highest:,} targets a row, half of the rows at least {percent(share.quantile(0.5))}"
    return [Fitted({"min_value": 1, **_shift(seen)}, why)]


def _eos_supervised(seen: Seen) -> Fits:
    result = seen.trial("expect_eos_to_be_supervised")
    observed = result.observed_value or {}
    if not observed.get("rows"):
        return "no row ends with eos"
    share = observed["fraction"]
    least = {"min_fraction": math.floor(share * 50) / 100} if share >= 0.5 else {}
    return [Fitted(least, f"{percent(share)} of the rows that end with eos learn it")]


def _crossing(seen: Seen) -> Fits:
    kwargs = {"shift": 0, **_shift(seen)}
    if _share(seen.trial("expect_labels_not_to_cross_documents", kwargs)) >= FEW:
        return "labels go on across documents, as most trainers allow"
    return [Fitted(kwargs, "the first label of each document is ignored")]


def _crossings(_: Seen) -> Iterable[Kwargs]:
    return ({"shift": 0}, {"shift": 1})


# Packing


def _positions(seen: Seen) -> Fits:
    kwargs = _first_that_holds(seen, "expect_position_ids_to_be_consistent", _restarts(seen))
    begin = {"document": "with each document", "row": "with each row", "never": "never"}[kwargs["restart"]]
    return [Fitted(kwargs, f"positions begin anew {begin}")]


def _restarts(seen: Seen) -> Iterable[Kwargs]:
    known = ["document"] if seen.missing(("documents",)) is None else []
    return [{"restart": restart} for restart in (*known, "row", "never")]


# Dirty samples


def _periodic(seen: Seen) -> Fits:
    rows = seen.trial("expect_rows_not_to_be_periodic", {"max_repeats": 31}).unexpected_count or 0
    why = f"a pattern stands more than 31 times in {rows:,} rows; ruled lines of real text stand up to 79 times"
    return [Fitted({"max_repeats": 80, "mostly": RARE}, why)]


def _symbols(seen: Seen) -> Fits:
    kind, spread = "expect_symbol_fraction_to_be_below", seen.spread("symbol_fraction")
    if spread is None:
        return "no row has a visible character"
    limit = min(0.5, max(0.3, _up(TIMES * spread.quantile(USUAL), 0.05)))
    why = f"99 % of the rows have at most {percent(spread.quantile(USUAL))} symbols"
    rich = {
        source: min(0.95, _up(TIMES * own.quantile(USUAL), 0.05))
        for source, own in seen.spread_by_source("symbol_fraction").items()
        if own.total >= LEAST_ROWS and own.quantile(0.9) > RICH and own.share_above(limit) > FEW / 5
    }
    kwargs: dict[str, Any] = {"max_fraction": limit}
    if rich:
        kwargs["by_source"] = {source: {"max_fraction": own} for source, own in rich.items()}
        why += f"; a tenth of the rows of {', '.join(rich)} have more than {percent(RICH)}"
    return [Fitted(_tolerant(seen, kind, kwargs, least=0.997), why, "warning")]


def _digits(seen: Seen) -> Fits:
    runs = seen.spread("digit_run")
    if runs is None:
        return "no row has a visible character"
    usual = runs.quantile(USUAL)
    kwargs = {"max_run": int(min(128, max(64, 2 * usual))), "mostly": RARE}
    return [Fitted(kwargs, f"99 % of the rows have at most {usual:,} digits in a row, none more than {runs.highest:,}")]


# Distribution


def _source_shares(seen: Seen) -> Fits:
    found = tokens_by_source(seen.table, seen.context, seen.column).drop_nulls("source")
    whole = float(found["tokens"].sum())
    if found.height < 2 or not whole:
        return "there is one source" if found.height else "no row that has a source has a token"
    worth = whole**2 / float(found["squares"].sum())
    shares: dict[str, list[float]] = {}
    for source, tokens in found.head(MOST_NAMED).select("source", "tokens").iter_rows():
        share = tokens / whole
        room = max(0.02, 0.25 * share, 4 * math.sqrt(share * (1 - share) / worth))
        if share >= 0.01:
            shares[source] = [max(0.0, math.floor((share - room) * 100) / 100), min(1.0, _up(share + room, 0.01))]
    told = ", ".join(
        f"{name} {percent(tokens / whole)}" for name, tokens in found.select("source", "tokens").head(5).iter_rows()
    )
    return [
        Fitted(
            {"shares": shares}, f"{told}{' …' if found.height > 5 else ''}; a quarter of it, or 2 points, either way"
        )
    ]


RULES: Mapping[str, tuple[Rule, ...]] = {
    "Files and schema": (
        Rule(
            "expect_shards_to_be_intact",
            _as_it_is("a shard that cannot be trusted stops a run in its middle"),
            whole=True,
        ),
        Rule("expect_shards_to_match_manifest", _as_it_is("files say what DATA holds"), ("manifest",), whole=True),
        Rule("expect_schemas_to_match", _as_it_is("all shards have the columns and types of the others"), whole=True),
        Rule(
            "expect_columns_to_exist", _columns, variants=lambda seen: ({"columns": columns_wanted(seen)},), whole=True
        ),
        Rule("expect_dtypes_to_fit", _dtypes, ("vocabulary",), _list_columns),
        Rule("expect_row_count_to_be_between", _row_count, whole=True),
        Rule("expect_sources_to_be_known", _sources, ("source",), whole=True),
    ),
    "Rows": (
        Rule("expect_rows_not_to_be_null", _each_list("nulls stop the collator"), (), _list_columns),
        Rule("expect_rows_not_to_be_empty", _as_it_is("rows without content train on nothing")),
        Rule("expect_columns_to_have_equal_lengths", _equal_lengths),
        Rule("expect_sequence_lengths_to_be_between", _lengths),
        Rule("expect_rows_to_be_unique", _unique, (), _unique_columns),
        Rule("expect_row_token_share_to_be_below", _token_share),
    ),
    "Tokens": (
        Rule("expect_token_ids_to_be_in_vocabulary", _ids),
        Rule("expect_token_ids_to_be_assigned", _as_it_is("every id is one of the tokenizer's"), ("size",)),
        Rule("expect_unknown_token_fraction_to_be_below", _unknown, ("unk",)),
        Rule("expect_bos_at_document_starts", _bos, ("bos",)),
        Rule("expect_eos_at_document_ends", _eos, ("eos",)),
        Rule("expect_no_eos_inside_documents", _eos_inside, ("eos",)),
    ),
    "Truncation, padding and mask": (
        Rule("expect_truncation_to_be_consistent_across_sources", _truncation, ("source",)),
        Rule("expect_padding_side_to_be", _padding_side),
        Rule("expect_padding_to_be_contiguous", _as_it_is("padding stands at the ends of rows")),
        Rule("expect_attention_mask_to_match_padding", _as_it_is("what is padding is not attended"), ("pad_or_eos",)),
        Rule("expect_attention_mask_to_be_binary", _mask, (ATTENTION_MASK,), _segments),
    ),
    "Labels": (
        Rule("expect_labels_to_align_with_input_ids", _align, (LABELS, "causal"), lambda _: SHIFTS),
        Rule("expect_labels_to_be_in_vocabulary", _as_it_is("labels are ids, or -100"), (LABELS, "vocabulary")),
        Rule("expect_supervised_tokens_to_be_between", _supervised, (LABELS,)),
        Rule("expect_padding_to_be_ignored_in_labels", _as_it_is("padding is not learned"), (LABELS,)),
        Rule("expect_eos_to_be_supervised", _eos_supervised, (LABELS, "eos", "causal")),
        Rule("expect_labels_not_to_cross_documents", _crossing, (LABELS, "documents", "causal"), _crossings),
    ),
    "Packing": (
        Rule("expect_position_ids_to_be_consistent", _positions, ("position_ids",), _restarts),
        Rule("expect_document_boundaries_to_be_consistent", _as_it_is("boundaries fit the rows"), ("boundaries",)),
    ),
    "Dirty samples": (
        Rule("expect_rows_not_to_be_periodic", _periodic, ("characters",), lambda _: ({"max_repeats": 80},)),
        Rule("expect_symbol_fraction_to_be_below", _symbols, ("characters",)),
        Rule("expect_digit_runs_to_be_below", _digits, ("characters",)),
    ),
    "Distribution": (
        Rule(
            "expect_source_token_share_to_be_between",
            _source_shares,
            ("source",),
            lambda _: ({"shares": {"a": [0, 1]}},),
        ),
    ),
}
"""By section of the suite, in the order of the catalogue."""
NUMBERS_READ = (
    "tokens",
    "attended_tokens",
    "highest_id",
    "unknown_fraction",
    "targets",
    "supervised_fraction",
    "symbol_fraction",
    "digit_run",
)
"""Numbers that the rules ask for."""
