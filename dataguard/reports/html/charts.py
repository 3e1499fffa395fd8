"""Charts: Vega-Lite's, drawn while the report is written, so that the page holds pictures and no library.

Colours are the page's own (`var(--…)`), so that a chart is dark where the page is. No text from data goes into a chart: a
source's name stands beside it, in the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from dataguard.errors import UsageError
from dataguard.reports.html.beside import Spread
from dataguard.reports.html.elements import Markup, tag
from dataguard.reports.text import compact

FONT = "system-ui, sans-serif"
CONFIG: Mapping[str, Any] = {
    "background": None,
    "padding": 2,
    "font": FONT,
    "view": {"stroke": None},
    "bar": {"fill": "var(--bar)"},
    "axis": {
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--grid)",
        "labelColor": "var(--soft)",
        "titleColor": "var(--soft)",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "tickSize": 3,
        "labelFlush": True,
    },
}
HIDDEN = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"|<path class="(?:back|fore)ground"[^>]*/>')
"""What says mark by mark what the table beside a chart says better."""
COLOURS = {
    "none": "var(--side-none)",
    "right": "var(--side-right)",
    "left": "var(--side-left)",
    "both": "var(--side-both)",
}


def demand_library() -> None:
    """Refuse a page that could not be drawn, before any long work.

    Raises:
        UsageError: The library is not installed.
    """
    if find_spec("vl_convert") is None:
        why = "its charts are drawn by vl-convert-python, which is not installed"
        raise UsageError("report html cannot be written", why=why, fix="pip install 'dataguard[report]'")


def lengths_chart(spread: Spread, caps: Mapping[str, int], highest: float, label: str) -> Markup:
    """Return the lengths of one source, with lines where it was, or will be, cut.

    Args:
        caps: What each line is, and where.
        highest: End of the axis, which all sources share.
        label: What it shows, for those who do not see it.
    """
    rules = [{"at": at, "what": name} for name, at in caps.items()]
    end = max([highest, *caps.values()])
    return _drawn(_histogram(spread, width=300, height=90, title="tokens", rules=rules, domain=(0, end)), label)


def shares_chart(spread: Spread, limit: float | None, label: str) -> Markup:
    """Return how many rows have which share."""
    rules = [] if limit is None else [{"at": limit, "what": "limit"}]
    return _drawn(
        _histogram(spread, width=380, height=120, title="share", rules=rules, domain=(0, 1), style="%"), label
    )


def steps_chart(spread: Spread, limit: float | None, unit: str, title: str, label: str) -> Markup:
    """Return counts by ranges that grow, each as wide as the others; the limit is told in the range that holds it.

    Args:
        unit: What is counted.
        title: What the ranges are of.
    """
    last = max((place for place, count in enumerate(spread.counts) if count), default=0)
    names = [_range(*pair) for pair in zip(spread.edges, spread.edges[1:], strict=False)][: last + 1]
    whole = sum(spread.counts) or 1
    beyond = [limit is not None and start >= limit for start in spread.edges[: last + 1]]
    values = [
        {"range": name, "share": count / whole, "told": _percent(count / whole), "beyond": over}
        for name, count, over in zip(names, spread.counts, beyond, strict=False)
    ]
    across = {"field": "range", "type": "nominal", "sort": names, "title": title, "axis": {"labelAngle": -35}}
    up = {
        "field": "share",
        "type": "quantitative",
        "title": f"share of {unit}",
        "axis": {"format": "%", "tickCount": 3},
    }
    fill = {"condition": {"test": "datum.beyond", "value": "var(--bad)"}, "value": "var(--bar)"}
    bars = {"mark": "bar", "encoding": {"x": across, "y": up, "fill": fill}}
    told = {
        "mark": {"type": "text", "dy": -6, "fontSize": 10, "fill": "var(--soft)"},
        "encoding": {"x": across, "y": up, "text": {"field": "told"}},
    }
    return _drawn({"width": 380, "height": 130, "data": {"values": values}, "layer": [bars, told]}, label)


def padding_chart(sides: Sequence[Mapping[str, int]], label: str) -> Markup:
    """Return on which side each source is padded, a bar for each, in the order of the table beside it."""
    values = [
        {"source": f"{place + 1}", "side": side, "rows": counts.get(side, 0), "place": order}
        for place, counts in enumerate(sides)
        for order, side in enumerate(COLOURS)
    ]
    encoding = {
        "y": {"field": "source", "type": "nominal", "sort": None, "title": None, "axis": {"ticks": False}},
        "x": {
            "field": "rows",
            "type": "quantitative",
            "stack": "normalize",
            "title": "rows",
            "axis": {"format": "%", "tickCount": 5},
        },
        "fill": {
            "field": "side",
            "type": "nominal",
            "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
            "legend": None,
        },
        "order": {"field": "place", "type": "quantitative"},
    }
    return _drawn(
        {"width": 380, "height": {"step": 18}, "data": {"values": values}, "mark": "bar", "encoding": encoding}, label
    )


def _histogram(
    spread: Spread,
    *,
    width: int,
    height: int,
    title: str,
    rules: Sequence[Mapping[str, Any]],
    domain: tuple[float, float],
    style: str = ",d",
) -> dict[str, Any]:
    """Return the specification of bars as wide as their ranges."""
    values = [
        {"start": start, "end": end, "rows": count}
        for start, end, count in zip(spread.edges, spread.edges[1:], spread.counts, strict=False)
        if count
    ]
    axis = {"format": style, "tickCount": 4}
    across = {"field": "start", "type": "quantitative", "title": title, "axis": axis, "scale": {"domain": domain}}
    up = {
        "field": "rows",
        "type": "quantitative",
        "title": "rows",
        "axis": {"tickCount": 3, "format": "~s", "tickMinStep": 1},
    }
    bars = {"mark": "bar", "encoding": {"x": {**across, "bin": "binned"}, "x2": {"field": "end"}, "y": up}}
    layers: list[dict[str, Any]] = [bars]
    if rules:
        at = {**across, "field": "at"}
        line = {"type": "rule", "stroke": "var(--cap)", "strokeWidth": 1.5, "strokeDash": [4, 3]}
        layers.append({"data": {"values": list(rules)}, "mark": line, "encoding": {"x": at}})
    return {"width": width, "height": height, "data": {"values": values}, "layer": layers}


def _range(start: float, end: float) -> str:
    if end == start + 1:
        return compact(int(start))
    return f"from {compact(int(start))}" if math.isinf(end) else f"{compact(int(start))}–{compact(int(end) - 1)}"


def _percent(share: float) -> str:
    """Return a share in few characters; what is there is never 0 %."""
    return "" if not share else "<0.1 %" if share < 0.001 else f"{100 * share:.3g} %"


def _drawn(specification: Mapping[str, Any], label: str) -> Markup:
    import vl_convert  # noqa: PLC0415 -- an extra, wanted for this report alone

    whole = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "config": CONFIG, **specification}
    drawn: str = HIDDEN.sub("", vl_convert.vegalite_to_svg(whole))
    begin = drawn.index(">")
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn[:begin])
    assert size is not None  # Vega writes it
    inside = Markup(drawn[begin + 1 : drawn.rindex("</svg>")])
    picture = tag("svg", inside, viewBox=f"0 0 {size[1]} {size[2]}", width=size[1], role="img", aria_label=label)
    return tag("div", picture, class_="chart")
