"""Names of islands on a map, placed so that none covers another."""

from typing import Any

import numpy as np

from lowdim.data.categories import Categories
from lowdim.quality.islands import Island, islands
from lowdim.show.style import Floats

_LEVELS = 2
_SIZES = (10.5, 7.5, 6.5)  # points, by level
_COLORS = ("#1b1e23", "#3c4149", "#3c4149")
_SHIFTS = ((0, 0), (0, 1), (0, -1), (0.6, 0), (-0.6, 0), (0.6, 1), (-0.6, 1), (0.6, -1), (-0.6, -1), (0, 2), (0, -2))
_TRIES = 2  # of these shifts, for islands of finer levels: they are left out rather than moved far
_MARGIN = 1.5  # pixels between two names
_WIDE = 26  # characters of a line


_LIGHTNESS = (0.58, 0.70)  # of OKLCH, in turns, so that islands in one direction differ
_CHROMA = 0.14


def named_islands(points: Floats, about: Any) -> list[Island]:
    """The islands whose names a map shows."""
    return islands(points, about, levels=_LEVELS)


def by_island(found: list[Island], n: int) -> Categories:
    """The finest island of each of ``n`` rows."""
    codes = np.full(n, -1, np.intp)
    for code, island in sorted(enumerate(found), key=lambda one: one[1].level):
        codes[island.rows] = code
    return Categories(codes, tuple(island.name for island in found), 0, "")


def colors_by_place(found: list[Island], points: Floats) -> Floats:
    """RGB rows of islands: the hue is the direction from the middle of the map, paler towards the middle."""
    at = np.array([np.median(points[island.rows, :2], axis=0) for island in found])
    away = (at - np.median(points[:, :2], axis=0)) / np.maximum(points[:, :2].std(axis=0), 1e-300)
    hue = np.arctan2(away[:, 1], away[:, 0])
    chroma = _CHROMA * np.clip(np.hypot(*away.T), 0.35, 1.0)
    lightness = np.empty(len(found))
    lightness[np.argsort(hue, kind="stable")] = np.resize(_LIGHTNESS, len(found))
    return _rgb_of(lightness, chroma * np.cos(hue), chroma * np.sin(hue))


def _rgb_of(lightness: Floats, a: Floats, b: Floats) -> Floats:
    """Colours of OKLab in sRGB."""
    roots = np.column_stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ]
    )
    linear = roots**3 @ np.array(
        [
            [4.0767416621, -1.2684380046, -0.0041960863],
            [-3.3077115913, 2.6097574011, -0.7034186147],
            [0.2309699292, -0.3413193965, 1.7076147010],
        ]
    )
    linear = np.clip(linear, 0.0, 1.0)
    rgb: Floats = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return rgb


def write_names(ax: Any, found: list[Island]) -> list[Island]:
    """Write names, large scales first; a name that would cover another is moved a little or left out."""
    from matplotlib.patheffects import withStroke

    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()  # layout and limits as they will be
    frame, taken, written = ax.get_window_extent(), list[Any](), list[Island]()
    for island in found:
        text = ax.text(
            *island.position, broken(island.name), ha="center", va="center", zorder=6, color=_COLORS[island.level],
            fontweight="bold" if island.level == 0 else "normal", fontsize=_SIZES[island.level], linespacing=0.95,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip
        text.set_in_layout(False)
        box = text.get_window_extent().padded(_MARGIN)
        for across, up in _SHIFTS if island.level == 0 else _SHIFTS[:_TRIES]:
            moved = box.translated(across * box.width, up * box.height)
            inside = moved.x0 >= frame.x0 and moved.x1 <= frame.x1 and moved.y0 >= frame.y0 and moved.y1 <= frame.y1
            if inside and not any(moved.overlaps(other) for other in taken):
                if ax.name != "3d" and (across or up):
                    x, y = ax.transData.transform(island.position)
                    place = (x + across * box.width, y + up * box.height)
                    text.set_position(ax.transData.inverted().transform(place))
                taken.append(moved)
                written.append(island)
                break
        else:
            text.remove()
    return written


def broken(name: str) -> str:
    r"""A name in lines of at most some characters, broken between its terms.

    >>> broken("neural · network · training · optimisation")
    'neural · network ·\ntraining · optimisation'
    """
    lines = [""]
    parts = name.split(" · ")
    for i, part in enumerate(parts):
        term = part + (" ·" if i + 1 < len(parts) else "")
        if lines[-1] and len(lines[-1]) + 1 + len(term) > _WIDE:
            lines.append(term)
        else:
            lines[-1] = f"{lines[-1]} {term}".strip()
    return "\n".join(lines)
