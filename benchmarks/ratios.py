"""How many times as long the fastest peer takes, task by task: one picture of results.md.

``python -m benchmarks.ratios`` writes it to docs/images/ratios.png.
"""

from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reading import charts, seconds

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results.md"
_PICTURE = _HERE.parent / "docs" / "images" / "ratios.png"
_OURS, _BEHIND = "#2f6fb5", "#c8692e"


class Ratio(NamedTuple):
    """A task, its fastest peer, and the peer's time over ours."""

    task: str
    peer: str
    value: float


def ratios(text: str) -> list[Ratio]:
    """Those of all tasks in a results file that have a peer; where lowdim has several rows, its first counts.

    >>> ratios("## PCA\\n\\n| system | time |\\n|---|---|\\n| lowdim | 2 s |\\n| scikit-learn full | 3 s |\\n")
    [Ratio(task='PCA', peer='scikit-learn full', value=1.5)]
    """
    found = []
    for chart in charts(text):
        ours, peers = chart.ours(), chart.peers()
        if ours and peers and not chart.heading.startswith("Import"):  # of fits
            times = [seconds(row["time"]) or 0.0 for row in (ours, peers[0])]
            found.append(Ratio(chart.heading, peers[0][chart.named_by], times[1] / times[0]))
    return found


def draw(found: list[Ratio]) -> Any:
    """A bar for each task on a logarithmic axis, the longest first."""
    from matplotlib.figure import Figure

    found = sorted(found, key=lambda ratio: ratio.value)
    figure = Figure(figsize=(9, 0.26 * len(found) + 0.9), layout="constrained")
    ax = figure.subplots()
    colors = [_OURS if ratio.value >= 1 else _BEHIND for ratio in found]
    ax.barh(range(len(found)), [ratio.value - 1 for ratio in found], left=1, color=colors, height=0.72)
    ax.set_xscale("log")
    ax.axvline(1, color="#3c4149", linewidth=1)
    for place, ratio in enumerate(found):
        text = f"{ratio.value:.1f} × {ratio.peer}" if ratio.value < 10 else f"{ratio.value:.0f} × {ratio.peer}"
        ax.text(1.06 * max(1, ratio.value), place, text, va="center", fontsize=7.5, color="#3c4149")
    ax.set_yticks(range(len(found)), [ratio.task for ratio in found], fontsize=7.5)
    ax.set_xlim(0.6, 8 * max(ratio.value for ratio in found))
    ax.set_ylim(-0.7, len(found) - 0.3)
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.set_xlabel("time of the fastest peer over that of lowdim")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    draw(ratios(_RESULTS.read_text())).savefig(_PICTURE, dpi=130)
    print(_PICTURE)
