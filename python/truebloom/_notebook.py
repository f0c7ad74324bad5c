"""The view of a filter in a notebook: a small table with its fill and its rate, for light and dark pages."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truebloom._truebloom import BloomFilter

# The table has the colours of the page, so it is readable on light and dark pages.
STYLE = "border-collapse:collapse;color:inherit;font-size:90%"
CELL = "padding:2px 12px 2px 0;text-align:left;border:none"
BAR = "display:inline-block;width:120px;height:9px;border:1px solid currentColor;border-radius:2px;vertical-align:middle;opacity:.8"

# The size in bytes of the largest filter whose fill and rate are shown. To compute the rate of a
# blocked filter, all its bits must be read. For larger filters, this would take too long.
MOST_BYTES_READ = 1 << 28


def size(count: int) -> str:
    """Formats a size in bytes, in a suitable unit."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    value, unit = float(count), 0
    while value >= 1024 and unit < len(units) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count} bytes" if unit == 0 else f"{value:.1f} {units[unit]}"


def rate(value: float) -> str:
    """Formats a rate as a percentage, as "1 in N", or as both: whichever is readable."""
    if value <= 0:
        return "0"
    percentage = f"{100 * value:.3g}%"
    if value >= 0.1:
        return percentage
    digits = max(0, math.floor(math.log10(1 / value)) - 2)
    once = f"1 in {round(1 / value, -digits):,.0f}"
    return f"{percentage} ({once})" if value >= 1e-5 else once if value >= 1e-15 else f"{value:.3g}"


def filter_html(filter: BloomFilter) -> str:
    """The HTML table that describes a filter."""
    rows = [("size", f"{filter.bits:,} bits ({size(filter.nbytes)}), {filter.probes} probes per key")]
    planned = f" of {filter.capacity:,} planned" if filter.capacity is not None else ""
    rows.append(("keys", f"{filter.offered:,} offered, at least {filter.surely_new:,} distinct{planned}"))
    if filter.asked_fpr is not None:
        rows.append(("requested rate", rate(filter.asked_fpr)))
    if not filter.is_mapped and filter.nbytes <= MOST_BYTES_READ:
        fill = filter.fill
        full = f"<span style='display:block;height:100%;width:{fill:.1%};background:currentColor;opacity:.55'></span>"
        rows.append(("fill", f"<span style='{BAR}'>{full}</span> {fill:.1%}"))
        own = filter.fpr()
        over = filter.is_over_capacity
        rows.append(("rate now", f"{rate(own.value)}, {escape(own.method)}" + (" &mdash; <b>over capacity</b>" if over else "")))
    if filter.label:
        rows.append(("label", escape(filter.label)))
    cells = "".join(f"<tr style='background:none'><th style='{CELL};opacity:.7'>{name}</th><td style='{CELL}'>{value}</td></tr>" for name, value in rows)
    return f"<table style='{STYLE}'><caption style='text-align:left;color:inherit'><b>{escape(type(filter).__name__)}</b></caption>{cells}</table>"
