"""Charts of the page as SVG: they follow its light or dark colours, scale, print, and are accessible."""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 130, 14, 42  # margins; the names of curves are in the right one
_LINE = 15  # height of a name
_DASHES = ("", "6 3", "2 3")  # for the first, second and third ten curves


def curves(named: Sequence[tuple[str, Floats, Floats]], *, title: str, across: str, up: str) -> str:
    """Curves over the logarithm of x, named beside them, best first; y from 0 (or below) to 1."""
    most = max(float(x[-1]) for _, x, _ in named)
    floor = min(0.0, *(float(y.min()) for _, _, y in named))
    floor = np.floor(floor * 10) / 10
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return LEFT + wide * np.log(x) / np.log(most), TOP + high * (1 - (y - floor) / (1 - floor))

    ticks = np.arange(-1.0, 1.01, 0.2)
    parts = _grid_up(ticks[ticks > floor - 1e-9], lambda v: float(place(np.ones(1), np.array([v]))[1][0]))
    for power in range(int(np.log10(most)) + 1):
        for step in (1, 2, 5):
            value = float(step * 10**power)
            if value <= most and (step == 1 or most < 3000):
                parts.append(_tick_across(float(place(np.array([value]), np.zeros(1))[0][0]), f"{value:,.0f}"))
    # All curves end at 0, where lines to their names would cross; so names have a key, ordered by the area below.
    order = sorted(range(len(named)), key=lambda i: -float(named[i][2].mean()))
    line = min(_LINE + 3.0, high / len(named))
    for rank, i in enumerate(order):
        name, x, y = named[i]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*place(x, y), strict=True))
        dash = f' stroke-dasharray="{_DASHES[i // 10 % 3]}"' if i >= 10 else ""
        left, level = WIDTH - RIGHT + 12, TOP + 8 + rank * line
        parts.append(
            f'<g class="curve" data-method="{escape(name)}" style="--c: var(--c{i % 10})">'
            f'<polyline points="{path}"{dash}/><polyline points="{left},{level:.1f} {left + 16},{level:.1f}"{dash}/>'
            f'<text class="name" x="{left + 22}" y="{level + 4:.1f}">{escape(name)}</text></g>'
        )
    return _frame(title, across, up, parts)


def scree(shares: Floats, enough: int | None, corner: int | None, *, whole: bool) -> str:
    """Share of the variance of each component as bars, their cumulative sum as a line, 90 % and the elbow marked."""
    shown = min(len(shares), max(12, int(1.4 * (enough or len(shares))) + 2), 120)
    total = np.cumsum(shares)[:shown]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step = wide / shown

    def up(value: float) -> float:
        return TOP + high * (1 - value)

    parts = _grid_up(np.arange(0.0, 1.01, 0.2), up)
    every = max(1, int(np.ceil(shown / 12)))
    for i in range(shown):
        top = up(float(shares[i]))
        kind = "bar elbow" if corner == i + 1 else "bar"
        parts.append(
            f'<rect class="{kind}" x="{LEFT + i * step + 0.08 * step:.2f}" y="{top:.2f}" width="{0.84 * step:.2f}" '
            f'height="{TOP + high - top:.2f}"/>'
        )
        if i % every == 0:
            parts.append(_tick_across(LEFT + (i + 0.5) * step, str(i + 1), line=False))
    path = " ".join(f"{LEFT + (i + 0.5) * step:.1f},{up(float(v)):.1f}" for i, v in enumerate(total))
    parts.append(f'<polyline class="total" points="{path}"/>')
    words = ["bars: each component", "line: together"]
    if enough is not None and enough <= shown:
        x, y = LEFT + (enough - 0.5) * step, up(float(total[enough - 1]))
        parts.append(f'<path class="mark" d="M{LEFT} {up(0.9):.1f} H{x:.1f} V{TOP + high}"/>')
        parts.append(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(f'<text class="mark" x="{x + 8:.1f}" y="{y + 16:.1f}">{enough} for 90 %</text>')
    if corner is not None and corner <= shown:
        x = LEFT + (corner - 0.5) * step
        y = up(float(shares[corner - 1])) - 8
        parts.append(f'<text class="elbow" x="{x + 0.6 * step:.1f}" y="{y:.1f}">elbow {corner}</text>')
    for line, word in enumerate(words):
        parts.append(f'<text class="name" x="{WIDTH - RIGHT + 10}" y="{TOP + 12 + line * _LINE}">{word}</text>')
    rest = "" if shown == len(shares) and whole else f" (the first {shown})"
    held = f"{enough} components explain 90 % of the variance" if enough else "90 % of the variance is not reached"
    return _frame(
        f"Share of the variance by principal component; {held}.", f"component{rest}", "share of the variance", parts
    )


def _grid_up(values: Floats, up: Callable[[float], float]) -> list[str]:
    parts = []
    for value in values:
        y = up(float(value))
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f} H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_signed(value)}</text>')
    return parts


def _signed(value: float) -> str:
    return f"{value + 0.0 if abs(value) > 1e-9 else 0.0:.1f}".replace("-", "−")


def _tick_across(x: float, words: str, *, line: bool = True) -> str:
    y = HEIGHT - BOTTOM
    mark = f'<path class="grid" d="M{x:.1f} {TOP} V{y}"/>' if line else ""
    return f'{mark}<text class="tick" x="{x:.1f}" y="{y + 16}" text-anchor="middle">{words}</text>'


def _frame(title: str, across: str, up: str, parts: list[str]) -> str:
    middle, centre = TOP + (HEIGHT - TOP - BOTTOM) / 2, LEFT + (WIDTH - LEFT - RIGHT) / 2
    return (
        f'<div class="wide"><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>'
        + "".join(parts)
        + f'<text class="axis" x="{centre}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>'
        f'<text class="axis" transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{escape(up)}</text>'
        "</svg></div>"
    )
