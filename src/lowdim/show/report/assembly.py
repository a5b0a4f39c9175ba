"""Assembly of the page from its parts."""

import json
import platform
import re
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim import __version__
from lowdim.data.categories import MOST_NAMED, Categories, fold_rare
from lowdim.methods.prepared_table import Preparation
from lowdim.quality import islands
from lowdim.show import style
from lowdim.show.computing import COMPUTED, PAGE_BYTES, computing, packed_module
from lowdim.show.report import charts, encoded_maps
from lowdim.show.report.html_pieces import code, table
from lowdim.show.report.html_tables import cards, glance, measures, methods
from lowdim.work.random import stream

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison
    from lowdim.quality.reliability import Reliability

_POINTS = 90  # of each curve
_BELIEVED = 0.4  # strength of the colour of the worst row that is not dubious
_NO_LABEL = 65_535
_MISPLACED = 0.5  # distortion from which a point has the strongest colour
_DOUBTED = 20_000  # rows up to which the reliability of each is shown
_FEWEST_NAMED, _NAMED = 20, 24  # rows of a map from which it has names, and names on it
_OWN_BYTES = 400_000  # of a page besides its data, about
# What a report uses of the modules that pages of the explorer compute with.
_COMPUTING = (
    "refusal", "slidesFor", "valueAt", "stepOf", "engineOfPage", "heldScores", "newScores", "STAGES", "Stopped",
)  # fmt: skip
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def compose(
    comparison: "Comparison",
    *,
    title: str | None,
    ids: Any,
    commands: list[str] | None,
) -> str:
    """The text of the page."""
    room = files("lowdim.show.report")
    rows = shown_rows(comparison)
    n = comparison.facts.rows
    data = _data(comparison, rows, ids)
    why = _let_compute(comparison, data, rows)
    computes = not why
    return Template((room / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(title or f"{len(comparison.ranked)} maps of {n:,} rows"),
        version=__version__,
        style=Template((room / "page.css").read_text(encoding="utf-8")).substitute(palette=_palette()),
        verdict=escape(comparison.verdict),
        glance=glance(comparison),
        maps_text=escape(_maps_text(comparison, rows, data["pictures"]) + _computing_text(why, data)),
        cards=cards(comparison, {entry["name"]: entry["beyond"] for entry in data["methods"]}, _dubious(comparison)),
        measures=measures(comparison),
        curves=_curves(comparison),
        facts=_facts(comparison),
        methods=methods(comparison),
        again=_again(comparison, commands),
        footer=escape(_footer()),
        # '<' would let a name in the data end the script
        data=json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        script=_script(computes=computes),
        allowed=" 'wasm-unsafe-eval'; worker-src blob:" if computes else "",
        engine=f'<script type="text/plain" id="engine">{packed_module()}</script>\n' if computes else "",
    )


def shown_rows(comparison: "Comparison") -> np.ndarray | None:
    """Rows that the maps show, None for all: those that were measured, and others drawn at random."""
    n = comparison.facts.rows
    maps = len(comparison.ranked)
    return None if encoded_maps.bits_for(n, maps) else np.sort(_in_order(comparison)[: encoded_maps.most_rows(maps)])


def _in_order(comparison: "Comparison") -> np.ndarray:
    """All rows, those that were measured first, the others in random order."""
    order = stream(comparison.random_state, "rows of a page").permutation(comparison.facts.rows)
    found = comparison.ranked[0].found
    return order if found.rows is None else np.concatenate([found.rows, order[~np.isin(order, found.rows)]])


def _data(comparison: "Comparison", rows: np.ndarray | None, ids: Any) -> dict[str, Any]:
    """Data of the script."""
    n = comparison.facts.rows
    shown = np.arange(n) if rows is None else rows
    bits = encoded_maps.bits_for(len(shown), len(comparison.ranked))
    place = np.full(n, -1)
    place[shown] = np.arange(len(shown))  # of a row among those shown
    found_rows = comparison.ranked[0].found.rows
    measured = None if found_rows is None else place[found_rows]
    doubted = comparison.reliability if n <= _DOUBTED else {}
    described = []
    for outcome in comparison.ranked:
        Y = comparison.turned[outcome.name][shown]
        points, beyond = encoded_maps.coordinates(Y)
        misplaced = np.asarray(outcome.found.distortion)[slice(None) if measured is None else measured >= 0]
        described.append(
            {
                "name": outcome.name,
                "xy": encoded_maps.packed(points, bits),
                "beyond": beyond,
                "unit": _unit(Y, points),
                "islands": _islands(comparison, Y, points, shown),
                "misplaced": encoded_maps.text(encoded_maps.bytes_of(misplaced, 0.0, _MISPLACED)),
                "doubts": _doubts(doubted[outcome.name], shown) if doubted else None,
            }
        )
    data = {
        "shown": len(shown),
        "rows": None if rows is None else encoded_maps.text(rows.astype(np.int32)),
        "bits": bits,
        "measured": None if measured is None else encoded_maps.text(measured[measured >= 0].astype(np.int32)),
        "labels": _labels(comparison, shown),
        "ids": None if ids is None else [str(value) for value in np.asarray(ids, dtype=object)[shown]],
        "pictures": None,
        "methods": described,
        "misplaced": _MISPLACED,
    }
    if comparison.image_shape is not None:
        room = (encoded_maps.PAGE_BYTES - len(json.dumps(data))) * 3 // 4
        order = place[_in_order(comparison)]
        data["pictures"] = encoded_maps.pictures(
            comparison.prepared.table.X[shown], comparison.image_shape, order[order >= 0], room
        )
    return data


def _dubious(comparison: "Comparison") -> dict[str, int]:
    """Number of dubious rows of each map."""
    if comparison.facts.rows > _DOUBTED:
        return {}
    return {name: len(found.dubious) for name, found in comparison.reliability.items()}


def _doubts(found: "Reliability", shown: np.ndarray) -> str:
    """How little each place can be believed, in bytes; those of dubious rows are 254, of others at most 0.4 of it."""
    values = _BELIEVED * found.score
    values[found.dubious] = 1.0
    return encoded_maps.text(encoded_maps.bytes_of(values[shown], 0.0, 1.0))


def _islands(comparison: "Comparison", Y: Any, points: Any, shown: Any) -> list[dict[str, Any]]:
    """Names on a map, of classes or of the columns that differ most, with places in the coordinates of the page."""
    if Y.shape[1] < 2 or len(Y) < _FEWEST_NAMED:
        return []
    about, called = comparison.prepared.X[shown], list(comparison.prepared.names)
    if isinstance(labels := comparison.labels, Categories):
        about = np.array([*labels.names, "other", None], dtype=object)[labels.codes[shown]]
    found = islands(Y[:, :2], about, names=called, levels=1, most=_NAMED)
    return [{"name": one.name, "at": np.median(points[one.rows], axis=0).round().tolist()} for one in found]


def _unit(Y: np.ndarray, points: np.ndarray) -> float:
    """Length of the map that one step of the coordinates stands for."""
    steps = np.ptp(points.astype(np.float64), axis=0).max()
    return float(np.ptp(Y[:, :2], axis=0).max() / max(1.0, steps))


def _let_compute(comparison: "Comparison", data: dict[str, Any], rows: np.ndarray | None) -> str:
    """Add what the page needs to compute maps again, or return the reason why it does not."""
    methods = [_computed(outcome, comparison.n_components) for outcome in comparison.ranked]
    if not any(methods):
        return "none"
    if rows is not None:
        return f"it shows {len(rows):,} of {comparison.facts.rows:,} rows"
    found = computing(comparison.X, comparison.prepared, PAGE_BYTES - len(json.dumps(data)) - _OWN_BYTES)
    if isinstance(found, str):
        return found
    arrays = {"scores": encoded_maps.text(found.scores)}
    if found.axes is not None:
        arrays["axes"] = encoded_maps.text(found.axes)
    data["compute"] = found.fields | arrays | {"methods": methods}
    return ""


def _computed(outcome: Any, n_components: int) -> dict[str, Any] | None:
    """Method and parameters of a map that a page can compute again, or None."""
    method = outcome.candidate.method
    given = outcome.candidate.given
    if method is None or method.name == "pca" or n_components != 2:
        return None
    known = COMPUTED.get(method.name)
    if known is None or any(name not in known or not isinstance(one, int | float) for name, one in given.items()):
        return None
    return {"method": method.name, "parameters": given}


def _computing_text(why: str, data: dict[str, Any]) -> str:
    """Words on what the page computes, or why it does not."""
    if why == "none":
        return ""
    if why:
        return f" This page computes no maps again: {why}."
    compute = data["compute"]
    words = " The sliders compute a map again in this page, with nothing sent anywhere: on "
    words += f"{compute['k']} principal scores of each row, {compute['held']:.0%} of the variance."
    return words if compute["fresh"] else f"{words} New rows cannot be placed here: {compute['refusedNew']}."


def _labels(comparison: "Comparison", chosen: Any) -> dict[str, Any] | None:
    labels = comparison.labels
    if labels is None:
        return None
    if isinstance(labels, Categories):
        few = fold_rare(labels.codes, labels.names, labels.title, MOST_NAMED)
        codes = np.where(few.codes < 0, _NO_LABEL, few.codes)[chosen].astype(np.uint16)
        return {
            "title": labels.title,
            "names": list(few.names),
            "hidden": few.hidden,
            "codes": encoded_maps.text(codes),
        }
    known = labels.values[np.isfinite(labels.values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    values = encoded_maps.text(encoded_maps.bytes_of(labels.values[chosen], low, high))
    return {"title": labels.title, "low": low, "high": high, "values": values}


def _script(*, computes: bool) -> str:
    """The renderer of the explorer and the scripts of the page, as one script."""
    shared = files("lowdim") / "explorer" / "static"
    own = files("lowdim.show.report")
    parts = [shared / name for name in ("shaders.js", "gl.js", "colours.js")] + [
        own / name for name in ("maps.js", "page.js")
    ]
    text = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    if computes:
        names = ("dom.js", "engine_worker.js", "engine.js", "columns.js", "csv.js", "computing.js")
        modules = "\n".join((shared / name).read_text(encoding="utf-8") for name in names)
        # in a scope of their own: their names are not those of the page
        held = f"const computing = (() => {{\n{modules}\nreturn {{ {', '.join(_COMPUTING)} }};\n}})();\n"
        text = held + text + "\n" + (own / "recompute.js").read_text(encoding="utf-8")
    return '"use strict";\n' + re.sub(r"^(import .*\n|export )", "", text, flags=re.MULTILINE)


def _palette() -> str:
    """Colours of classes and curves, in light and dark mode."""
    pairs = zip(style.PALETTE, style.NIGHT, strict=True)
    return "\n".join(f"  --c{i}: light-dark({day}, {night});" for i, (day, night) in enumerate(pairs))


def _maps_text(comparison: "Comparison", rows: np.ndarray | None, pictures: dict[str, Any] | None) -> str:
    words = "Each point is a row. Point at one to find it in every map"
    if pictures is not None:
        words += ", with its image" if pictures["rows"] is None else ", with its image for some of them"
    words += ". "
    words += "Click to keep it selected, drag to select an area, use the arrow keys to move from point to point. "
    if comparison.n_components > 2:
        words += f"The first two of {comparison.n_components} components are drawn. "
    if rows is not None:
        words += f"The maps show {len(rows):,} of the {comparison.facts.rows:,} rows, a random sample; "
        words += "the methods were fitted to all of them. "
    return words + "Axes have no units, so none are drawn."


def _curves(comparison: "Comparison") -> str:
    named = []
    for outcome in comparison.ranked:
        curve = outcome.found.curve
        sizes = np.unique(np.geomspace(1, len(curve), _POINTS).round().astype(int))
        named.append((outcome.name, sizes.astype(np.float64), curve[sizes - 1]))
    chart = charts.curves(
        named,
        title="R_NX for every size of neighbourhood, by method: "
        + ", ".join(outcome.name for outcome in comparison.ranked),
        across="neighbours, K",
        up="R_NX: neighbours kept beyond chance",
    )
    words = (
        "Share of the K nearest neighbours that a map keeps, corrected for chance: 1 is all, 0 what a random map "
        "keeps. High on the left means that close neighbours are preserved; high on the right, the global structure."
    )
    return f"<p>{words}</p>\n{chart}"


def _facts(comparison: "Comparison") -> str:
    facts = comparison.facts
    told = {
        "shape": f"{facts.rows:,} rows × {facts.columns:,} columns",
        "type": facts.kind,
        "missing values": "; ".join(comparison.prepared.gaps) or "none",
        "constant columns": f"{facts.constant:,}" if facts.constant else "none",
    }
    if facts.spread is not None:
        told["standard deviations"] = f"from {facts.spread[0]:.3g} to {facts.spread[1]:.3g}"
        told["standard deviations"] += ", after scaling to 1" if comparison.scale else ""
    if comparison.labels is not None:
        kind = f"{facts.classes} classes" if facts.classes else "a quantity, or classes not given for every row"
        told["labels"] = f"{comparison.labels.title}: {kind}" if comparison.labels.title else kind
    for name, value in facts.dimension.items():
        told[f"intrinsic dimension, {name}"] = f"{value:.1f}"
    parts = [table(told)]
    if prepared := comparison.prepared.done:
        parts.append("<h3>Preparation</h3>")
        parts.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in prepared) + "</ul>")
    if len(facts.shares):
        parts.append("<h3>Variance explained by the principal components</h3>")
        parts.append(charts.scree(facts.shares, facts.enough, facts.corner, whole=facts.whole))
    return "\n".join(parts)


def _again(comparison: "Comparison", commands: list[str] | None) -> str:
    return code("\n".join(_python(comparison) if commands is None else commands))


def _python(comparison: "Comparison") -> list[str]:
    """Code that reproduces the page from X and y."""
    candidates = [outcome.candidate for outcome in comparison.outcomes]
    given = {one.name: one.given for one in candidates if one.given}
    arguments = ["X"] if comparison.labels is None else ["X, y"]
    if all(one.named for one in candidates):
        arguments.append(f"methods={[one.name for one in candidates]}")
    else:  # estimators given by the caller
        models = ", ".join(f"{one.name!r}: {' '.join(repr(one.model).split())}" for one in candidates)
        arguments.append(f"methods={{{models}}}")
    defaults = {"n_components": 2, "parameters": {}, "by": "rnx_auc", "image_shape": None, **vars(Preparation())}
    told = {**vars(comparison), "parameters": given, **vars(comparison.prepared.asked)}
    arguments += [f"{name}={told[name]!r}" for name in defaults if told[name] != defaults[name]]
    arguments.append(f"random_state={comparison.random_state}")
    return [
        "import lowdim",
        "",
        "comparison = lowdim.compare(",
        *(f"    {argument}," for argument in arguments),
        ")",
        'comparison.report("report.html")',
    ]


def _footer() -> str:
    parts = [f"lowdim {__version__}", f"Python {platform.python_version()}"]
    parts += [f"{package} {version(package)}" for package in _PACKAGES]
    today = datetime.now(UTC)  # "%-d" is unknown to Windows
    parts += [f"{platform.system()} {platform.machine()}", f"{today.day} {today:%B %Y}"]
    return " · ".join(parts)
