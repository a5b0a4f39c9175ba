"""``python -m benchmarks.summary`` writes short tables from results.md: docs/benchmarks.md and docs/which_method.md."""

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.reading import Chart, charts, seconds
from benchmarks.tasks import every_method
from lowdim.methods import registry

_HERE = Path(__file__).parent
_PAGE = _HERE.parent / "docs" / "benchmarks.md"
_CHOICE = _HERE.parent / "docs" / "which_method.md"
_START, _END = "<!-- bench:start -->", "<!-- bench:end -->"
_MNIST50 = "MNIST along 50 principal axes"


class Line(NamedTuple):
    """A line of the table: its label, the task's title, and the column that is shown beside the time."""

    label: str
    title: str
    column: str = ""
    word: str = ""


_LINES = (
    Line("PCA, k = 50, float32", "PCA, MNIST float32, 70,000×784, k = 50", "eigenvalue error", "error "),
    Line(
        "PCA, k = 50, float32, square roots of the pixels",
        "PCA, square roots of MNIST float32, 70,000×784, k = 50",
        "eigenvalue error",
        "error ",
    ),
    Line("PCA, k = 50, from uint8 (peers: from float32)", "PCA, MNIST uint8, 70,000×784, k = 50"),
    Line(
        "PCA of a 549 MB file, 700,000 rows",
        "PCA, ten copies of MNIST in a uint8 file, 700,000×784 (549 MB), k = 50",
        "memory",
    ),
    Line("LDA, float32", "LDA, MNIST float32, 70,000×784"),
    Line("LDA, float32, square roots", "LDA, square roots of MNIST float32, 70,000×784"),
    Line(
        "kernel PCA, 10,000 rows, k = 50",
        "Kernel PCA, rbf, MNIST float32, 10,000×784, k = 50",
        "eigenvalue error",
        "error ",
    ),
    Line(
        "kernel PCA, 10,000 rows, k = 50, square roots",
        "Kernel PCA, rbf, square roots of MNIST float32, 10,000×784, k = 50",
        "eigenvalue error",
        "error ",
    ),
    Line("t-SNE, 50 components, all rows", f"t-SNE, {_MNIST50}, 70,000×50", "exact KL", "KL "),
    Line("t-SNE, 50 components, 10,000 rows", f"t-SNE, {_MNIST50}, 10,000×50", "exact KL", "KL "),
    Line("UMAP, 50 components, all rows", f"UMAP, {_MNIST50}, 70,000×50", "recall of 15", "recall "),
    Line("UMAP, 50 components, 10,000 rows", f"UMAP, {_MNIST50}, 10,000×50", "recall of 15", "recall "),
    Line("PaCMAP, 50 components, all rows", f"PaCMAP, {_MNIST50}, 70,000×50", "recall of 15", "recall "),
    Line(
        "Isomap, 50 components, 10,000 rows",
        "Isomap, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2",
        "memory",
    ),
    Line("LLE, 50 components, 10,000 rows", "LLE, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2", "memory"),
    Line(
        "Laplacian eigenmaps, 50 components, 10,000 rows",
        "Laplacian eigenmaps, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2",
        "memory",
    ),
    Line(
        "metric MDS, 50 components, 3,000 rows",
        "Metric MDS, MNIST in 50 dimensions, 3,000 rows, 300 iterations, k = 2",
        "stress (lower is better)",
        "stress ",
    ),
    Line("trustworthiness of a map, all rows", "Trustworthiness, MNIST float32, 70,000×784, k = 10", "memory"),
)


def table(text: str) -> str:
    """Lines of the short table from those of a results file."""
    found = {chart.heading: chart for chart in charts(text)}
    lines = [
        "| MNIST, 70,000 × 784, 2 cores | lowdim | scikit-learn | scikit-learn-intelex | specialised peer |",
        "|---|---:|---:|---:|---:|",
        *(_line(line, found[line.title]) for line in _LINES),
    ]
    return "\n".join(lines)


def _line(line: Line, chart: Chart) -> str:
    ours = chart.ours()
    fastest: dict[str, str] = {}
    for row in chart.peers():
        library = re.split(r"[ ,:]", row[chart.named_by])[0]
        fastest.setdefault(library, _cell(line, row))
    shown = [fastest.pop(name, "–") for name in ("scikit-learn", "scikit-learn-intelex")]
    others = [f"{name}: {cell}" for name, cell in fastest.items() if name not in ("read", "PyTorch")]
    return "| " + " | ".join([line.label, _cell(line, ours) if ours else "–", *shown, *(others[:1] or ["–"])]) + " |"


def _cell(line: Line, row: dict[str, str]) -> str:
    """``0.15 s, error 6e-8``: the time in two digits, then one more figure.

    >>> _cell(Line("", "", "error", "error "), {"time": "154 ms", "error": "6.5e-08"})
    '0.15 s, error 6e-8'
    """
    t = seconds(row["time"]) or 0.0
    cell = f"{t:.{0 if t >= 9.95 else 1 if t >= 0.995 else 2 if t >= 0.0995 else 3}f} s"
    if not line.column:
        return cell
    value = row[line.column]
    return f"{cell}, {line.word}{f'{float(value):.0e}'.replace('e-0', 'e-') if 'e-' in value else value}"


def sizes(text: str) -> str:
    """Times of each method by the number of rows, from those of a results file."""
    found = {chart.heading: chart for chart in charts(text)}
    each = {row["system"].split()[1]: row for row in found[every_method.TITLE].rows if row["system"][:6] == "lowdim"}
    lines = ["| method | 5,000 × 50, memory | 70,000 rows of MNIST | more |", "|---|---:|---:|---:|"]
    for method in registry.METHODS:
        if row := each.get(method.name):
            small = f"{_cell(Line('', ''), row)}, {row['memory']}"
            more = [_with(found[title], words) if title else "–" for title, words in _MORE.get(method.name, _NONE)]
            lines.append("| " + " | ".join([f"`{method.class_name}`", small, *more]) + " |")
    return "\n".join(lines)


_NONE = (("", ""), ("", ""))
_MORE = {  # the tasks of 70,000 rows and of more, by method, and what to say of them
    "pca": (
        ("PCA, MNIST float32, 70,000×784, k = 50", "50 of 784"),
        ("PCA, ten copies of MNIST in a uint8 file, 700,000×784 (549 MB), k = 50", "700,000 of 784, from a file"),
    ),
    "lda": (("LDA, MNIST float32, 70,000×784", "of 784"), ("", "")),
    "kernel_pca": (("Kernel PCA, rbf, MNIST float32, 70,000×784, k = 50, low rank", "50 of 784, low rank"), ("", "")),
    "tsne": ((f"t-SNE, {_MNIST50}, 70,000×50", ""), ("t-SNE, flow cytometry, 1,600,000×13", "1.6 million of 13")),
    "umap": ((f"UMAP, {_MNIST50}, 70,000×50", ""), ("UMAP, flow cytometry, 1,600,000×13", "1.6 million of 13")),
    "pacmap": ((f"PaCMAP, {_MNIST50}, 70,000×50", ""), ("", "")),
    "isomap": (
        (
            "Isomap, MNIST in 50 dimensions, all 70,000 rows, 10 neighbours, k = 2, 1,000 landmarks",
            "`landmarks=1000`",
        ),
        ("", ""),
    ),
}


def _with(chart: Chart, words: str) -> str:
    """Our time in a table, and what it is of."""
    ours = chart.ours()
    return "–" if ours is None else _cell(Line("", ""), ours) + (f" ({words})" if words else "")


def rewritten(page: str, lines: str) -> str:
    """The page with its table made anew."""
    head, _, rest = page.partition(_START)
    return f"{head}{_START}\n{lines}\n{_END}{rest.partition(_END)[2]}"


def pages(results: str) -> dict[Path, str]:
    """The pages that show figures of a results file, with their tables made anew."""
    made = {_PAGE: table(results), _CHOICE: sizes(results)}
    return {page: rewritten(page.read_text(encoding="utf-8"), lines) for page, lines in made.items()}


if __name__ == "__main__":
    for page, text in pages((_HERE / "results.md").read_text(encoding="utf-8")).items():
        page.write_text(text, encoding="utf-8")
        print(page)
