"""Text and numbers of the page: cards, the table of measures, methods and their costs."""

from collections.abc import Mapping
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lowdim.comparison.measures import BY_NAME, Kind
from lowdim.show.report.html_pieces import paragraph, table
from lowdim.work.memory import human

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison, Outcome

_TOLD = 2**20  # bytes
# measure on a card → its name there
_ON_CARD = {"rnx_auc": "neighbours", "shepard_correlation": "distances", "knn_accuracy": "classes"}


def glance(comparison: "Comparison") -> str:
    """The data in a few large numbers."""
    facts = comparison.facts
    told = {"rows": f"{facts.rows:,}", "columns": f"{facts.columns:,}"}
    if not comparison.prepared.gaps:
        told["missing values"] = "none"
    for line in comparison.prepared.gaps:  # begins with its number
        count, _, words = line.partition(" ")
        told[words] = count
    if facts.classes:
        told["classes"] = f"{facts.classes:,}"
    if facts.dimension:
        low, *rest = sorted(round(value) for value in facts.dimension.values())
        told["intrinsic dimension"] = f"{low}–{rest[-1]}" if rest and rest[-1] != low else f"{low}"
    if facts.enough is not None:
        told["components for 90 % of the variance"] = f"{facts.enough:,}"
    return "\n".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in told.items())


def cards(comparison: "Comparison", beyond: Mapping[str, int], dubious: Mapping[str, int]) -> str:
    """One card per map, best first; the script draws into the element of class ``map``.

    ``beyond`` holds for each map the number of rows moved to the edge of its frame, ``dubious`` that of dubious rows.
    """
    parts = []
    for rank, outcome in enumerate(comparison.ranked, start=1):
        first = rank == 1 and len(comparison.ranked) > 1
        method = outcome.candidate.method
        summary = method.summary if method else ""
        numbers = {
            _ON_CARD[kind.name]: _value(comparison, kind, outcome) + _chance(comparison, kind)
            for kind in comparison.kinds
            if kind.name in _ON_CARD
        }
        if outcome.name in dubious:
            numbers["dubious rows"] = f"{dubious[outcome.name] / comparison.facts.rows:.1%}"
        numbers |= {"time": _seconds(outcome.seconds), "memory": _memory(outcome)}
        told = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in numbers.items())
        rows = "1 row" if beyond[outcome.name] == 1 else f"{beyond[outcome.name]:,} rows"
        edge = f'<p class="edge">{rows} beyond the frame, drawn at its edge</p>' if beyond[outcome.name] else ""
        tag = '<span class="tag">best</span>' if first else ""
        parts.append(
            f'<figure class="card{" first" if first else ""}">'
            f'<h3><span class="rank">{rank}</span> {escape(outcome.name)}{tag}</h3>'
            f'<div class="map" tabindex="0" role="application" aria-roledescription="map" '
            f'aria-label="Map by {escape(outcome.name)}, {comparison.facts.rows:,} rows"></div>'
            f'<figcaption><p class="summary">{escape(summary)}</p>'
            f"<dl>{told}</dl>{edge}</figcaption></figure>"
        )
    return "\n".join(parts)


def _chance(comparison: "Comparison", kind: Kind) -> str:
    """Level of chance of a measure, in brackets."""
    return f" (chance {comparison.chance[kind.name]:.2f})" if kind.name in comparison.chance else ""


def measures(comparison: "Comparison") -> str:
    """The table of measures with the best of each marked, and the meaning of each measure."""
    groups = [(question, list(kinds)) for question, kinds in groupby(comparison.kinds, key=lambda kind: kind.question)]
    tops = (
        "<td></td>"
        + "".join(f'<th scope="colgroup" colspan="{len(kinds)}">{escape(question)}</th>' for question, kinds in groups)
        + '<th scope="colgroup" colspan="2">cost</th>'
    )
    heads = [(comparison.title(kind), kind.name == comparison.by) for kind in comparison.kinds]
    heads += [("time", False), ("memory", False)]
    columns = '<th scope="col">method</th>' + "".join(
        f'<th scope="col" class="number"{_sorted(comparison, ranks)}>'
        f'<button type="button">{escape(title)}</button></th>'
        for title, ranks in heads
    )
    body = []
    quickest = min(comparison.ranked, key=lambda one: one.seconds) if len(comparison.ranked) > 1 else None
    for outcome in comparison.ranked:
        cells = "".join(_cell(comparison, kind, outcome) for kind in comparison.kinds)
        cells += _number(outcome.seconds, _seconds(outcome.seconds), outcome is quickest)
        cells += _number(
            outcome.memory, _memory(outcome), False
        )  # none is marked as best, since reused memory is not counted
        body.append(f'<tr><th scope="row">{escape(outcome.name)}</th>{cells}</tr>')
    words = "".join(
        f"<div><dt>{escape(kind.title)}</dt><dd>{escape(kind.sentence)} "
        f"{'More' if kind.high else 'Less'} is better.</dd></div>"
        for kind in comparison.kinds
    )
    ranking = BY_NAME[comparison.by].title
    return (
        f'<p class="note" id="sampling">{escape(_sampling(comparison))}Methods are ranked by {escape(ranking)}; '
        'the best of each column is marked.</p><div class="wide"><table aria-describedby="sampling">'
        f"<thead><tr>{tops}</tr><tr>{columns}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        f'<dl class="words">{words}</dl>'
    )


def methods(comparison: "Comparison") -> str:
    """Parameters and costs of the methods that ran, and why others did not."""
    rows = []
    for outcome in comparison.ranked:
        method = outcome.candidate.method
        told = ", ".join(f"{name}={value!r}" for name, value in _parameters(outcome).items())
        rows.append((outcome.name, told, method.cost if method else "–", _seconds(outcome.seconds), _memory(outcome)))
    parts = [table(rows, header=("method", "parameters", "cost for n rows and d columns", "time", "memory"))]
    parts.append(
        '<p class="note">Time is that of the fit. Memory is the peak during the fit above the level before it; '
        "memory that the process reuses is not counted.</p>"
    )
    if comparison.warnings:
        parts.append("<h3>Warnings</h3>" + table(comparison.warnings))
    if comparison.failed:
        parts.append("<h3>Methods that failed</h3>" + table(comparison.failed))
    if comparison.left_out:
        parts.append("<h3>Methods left out</h3>" + table(comparison.left_out))
        parts.append(paragraph("Methods that are named explicitly always run."))
    return "\n".join(parts)


def _parameters(outcome: "Outcome") -> dict[str, Any]:
    """Parameters that affect the map."""
    hidden = ("n_jobs", "verbose", "callback", "callback_every")
    params = outcome.candidate.model.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in hidden and value is not None}


def _sampling(comparison: "Comparison") -> str:
    """What was sampled, and its standard error."""
    found = comparison.ranked[0].found
    rows = "all rows" if found.sampled is None else f"{found.sampled:,} of the {comparison.facts.rows:,} rows"
    pairs = "" if found.pairs is None else f", distances on {found.pairs:,} pairs of rows"
    worst = max((error for outcome in comparison.ranked for error in outcome.found.errors.values()), default=0.0)
    drawn = f", a random sample: standard errors are at most {worst:.1g}" if rows != "all rows" or pairs else ""
    return f"Measured on {rows}{pairs}{drawn}. "


def _sorted(comparison: "Comparison", ranks: bool) -> str:
    down = BY_NAME[comparison.by].high
    return f' aria-sort="{"descending" if down else "ascending"}"' if ranks else ""


def _cell(comparison: "Comparison", kind: Kind, outcome: "Outcome") -> str:
    value = comparison.values(kind).get(outcome.name)
    if value is None:
        return '<td class="number">–</td>'
    return _number(value, _value(comparison, kind, outcome), outcome.name == comparison.leader(kind))


def _value(comparison: "Comparison", kind: Kind, outcome: "Outcome") -> str:
    value = comparison.values(kind).get(outcome.name)
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def _number(value: float, words: str, best: bool) -> str:
    mark = ' <span aria-label="best">★</span>' if best else ""
    return f'<td class="number{" best" if best else ""}" data-value="{float(value)!r}">{escape(words)}{mark}</td>'


def _memory(outcome: "Outcome") -> str:
    """Peak memory; less than what sampling of the process can tell has no figure."""
    return human(outcome.memory) if outcome.memory >= _TOLD else f"< {human(_TOLD)}"


def _seconds(seconds: float) -> str:
    return (
        f"{1000 * seconds:.0f} ms" if seconds < 0.995 else f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
    )
