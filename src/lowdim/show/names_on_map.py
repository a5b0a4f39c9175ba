"""Names of islands on a map, placed so that none covers another."""

from typing import Any

from lowdim.quality.islands import Island, islands
from lowdim.show.style import Floats

_LEVELS = 2
_SIZES = (10.5, 7.5, 6.5)  # points, by level
_COLORS = ("#1b1e23", "#3c4149", "#3c4149")
_SHIFTS = ((0, 0), (0, 1), (0, -1), (0.6, 0), (-0.6, 0), (0.6, 1), (-0.6, 1), (0.6, -1), (-0.6, -1), (0, 2), (0, -2))
_TRIES = 2  # of these shifts, for islands of finer levels: they are left out rather than moved far
_MARGIN = 1.5  # pixels between two names
_WIDE = 26  # characters of a line


def name_islands(ax: Any, points: Floats, about: Any) -> list[Island]:
    """Write the names of the islands of a map; returns those for which there is room."""
    return write_names(ax, islands(points, about, levels=_LEVELS))


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
