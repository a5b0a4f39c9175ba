"""Analysis of a map and a selection: neighbours, distortion, counts, and the columns that distinguish the selection."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.explorer.column_summaries import Column
from lowdim.explorer.map_quality import judge
from lowdim.explorer.message_format import Message
from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import Session
from lowdim.methods.prepared_table import takes_table
from lowdim.quality import islands
from lowdim.quality import reliability as quality_of_rows
from lowdim.relate.moment_states import ColumnMoments
from lowdim.relate.moments import column_moments
from lowdim.relate.neighbors import nearest
from lowdim.work.rows import take

_WIDER = 2  # times k: a neighbour within so many nearest is not counted as lost
_MOST_NEIGHBOURS = 1000
_MOST_ASKED = 100_000  # rows named in one request
_COUNTED = 20  # categories counted in each column
_CATEGORIES = 1000  # categories up to which a column is counted
_MOST_REFITS = 20
_CLEAR = 0.4  # share of neighbours kept from which neighbours on the map are mostly neighbours in the data
_TRIED = 200  # texts that tell sentences from names
_FEWEST_NAMED = 20  # rows of a map from which its islands have names
_EXPLAINED = 4096  # columns up to which a row's position is explained
_ROUNDING = 1e-12  # of means
_TELLING = 20  # columns that distinguish the selection


def row_numbers(given: Any, n: int) -> NDArray[np.intp]:
    """Validated row numbers of a request."""
    whole = isinstance(given, list) and all(isinstance(i, int) and 0 <= i < n for i in given)
    if not whole or len(given) > _MOST_ASKED:
        raise ValueError(f"a list of at most {_MOST_ASKED:,} row numbers from 0 to {n - 1} is needed.")
    return np.array(given, np.intp)


def search(session: Session, text: Any, column: Any) -> NDArray[np.bool_]:
    """Rows (n,) that hold ``text`` in a column, or in any column of text or categories."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError("search: some text is needed.")
    if column is not None:
        return session.column(column).matches(text.strip())
    found = np.zeros(session.n, bool)
    for one in [*session.labels.values(), *session.columns.values()]:
        if one.kind != "number":
            found |= one.matches(text.strip())
    return found


def neighbours(session: Session, row: Any, k: Any, number: Any) -> Message:
    """The nearest rows of a row in the data, and which of them are its nearest on the map."""
    n = session.n
    if not isinstance(row, int) or not 0 <= row < n:
        raise ValueError(f"neighbours: a row from 0 to {n - 1} is needed; got {row!r}.")
    k = _count(k, n)
    distances = session.distances(row)
    index = _smallest(distances, k, row)
    distance = distances[index]
    kept = np.zeros(len(index), np.uint8)
    one = None if number is None else session.map(number)
    if one is not None and one.Y is not None:
        Y = one.positions()
        if not np.isnan(Y[row]).any():
            there = np.nan_to_num(((Y - Y[row]) ** 2).sum(axis=1), nan=np.inf)
            near = [i for i in _smallest(there, k, row) if there[i] < np.inf]
            kept = np.isin(index, near).astype(np.uint8)
    arrays: dict[str, NDArray] = {
        "index": index.astype(np.uint32),
        "distance": distance.astype(np.float32),
        "kept": kept,
    }
    return Message("neighbours", None, {"row": row, "map": number}, arrays)


def _smallest(values: NDArray, k: int, but: int) -> NDArray[np.intp]:
    """Indices of the ``k`` smallest values without the one at ``but``, in ascending order; ties by index."""
    edge = np.partition(values, k)[k]  # one more than needed: the row itself is among them
    some = np.flatnonzero(values <= edge)
    some = some[some != but]
    return some[np.argsort(values[some], kind="stable")][:k]


def distortion(session: Session, number: Any, k: Any) -> Message:
    """Share of false and of missing neighbours of each row, in the newest frame of a map."""
    one = session.map(number)
    if one.Y is None:
        raise ValueError(f"map {one.number} has no positions yet. Wait for its first frame.")
    k, Y, frame = _count(k, len(one.Y)), one.Y, one.frame
    wide = min(_WIDER * k, len(Y) - 1)
    data = (session.near(wide) if one.rows is None else nearest(session.rows[one.rows], wide)).indices
    there = nearest(np.ascontiguousarray(Y), wide).indices
    shares = {"false": _outside(there[:, :k], data), "missing": _outside(data[:, :k], there)}
    arrays = {name: _spread(share, one) for name, share in shares.items()}
    return Message("distortion", None, {"map": one.number, "frame": frame, "k": k}, arrays)


def doubts(session: Session, number: Any, refits: Any) -> Message:
    """Reliability of each row in the newest frame of a map, which is kept with it."""
    message = doubted(session, number, refits)
    session.map(number).dubious = np.nan_to_num(message.arrays["dubious"]) > 0
    return message


def doubted(session: Session, number: Any, refits: Any) -> Message:
    """Reliability of each row in the newest frame of a map; with refits of samples also how much its places move."""
    one = session.map(number)
    if one.Y is None:
        raise ValueError(f"map {one.number} has no positions yet. Wait for its first frame.")
    if not isinstance(refits, int) or not 0 <= refits <= _MOST_REFITS:
        raise ValueError(f"reliability: a number of refits from 0 to {_MOST_REFITS} is needed; got {refits!r}.")
    if refits and one.fitted is None:
        raise ValueError(f"map {one.number} is not finished: samples can be fitted after it. Wait for it, or stop it.")
    if refits:
        X = session.made.rows_for(one.fitted)
        X = X if one.rows is None else X[one.rows] if takes_table(one.fitted) else take(X, one.rows)
        y = session.targets if one.rows is None or session.targets is None else np.asarray(session.targets)[one.rows]
        found = quality_of_rows(one.fitted, X, y, refits=refits)
    else:
        rows = session.rows if one.rows is None else session.rows[one.rows]
        found = quality_of_rows(Frame(np.ascontiguousarray(one.Y)), rows)
    dubious = np.zeros(len(found.score), np.float32)
    dubious[found.dubious] = 1
    arrays = {"score": _spread(found.score.astype(np.float32), one), "dubious": _spread(dubious, one)}
    if found.stability is not None:
        arrays["moves"] = _spread((1 - found.stability).astype(np.float32), one)
    fields = {"map": one.number, "frame": one.frame, "count": len(found.dubious), "refits": found.refits}
    return Message("reliability", None, fields, arrays)


def explained(session: Session, row: Any, number: Any) -> Message:
    """Columns that move a row on a finished map most, and the way each moves it for one standard deviation."""
    one = session.map(number)
    if not isinstance(row, int) or not 0 <= row < session.n:
        raise ValueError(f"explain: a row from 0 to {session.n - 1} is needed; got {row!r}.")
    fields: dict[str, Any] = {"row": row, "map": one.number, "columns": []}
    inside = one.fitted is not None and (one.rows is None or row in one.rows)
    if inside and hasattr(one.fitted, "explain") and session.X.shape[1] <= _EXPLAINED:
        rows = session.X
        scale = np.sqrt(session.moments.variance)
        found = one.fitted.explain(rows[[row]], scale=scale)
        if found.resolved[0]:
            names, far = session.made.names, found.sensitivity[0]
            order = np.argsort(-far, kind="stable")[:_TELLING]
            motion = found.jacobian[0] * found.scale
            fields["columns"] = [
                {
                    "column": str(names[j]),
                    "share": float(far[j] / (far.sum() or 1.0)),
                    "value": float(rows[row, j]),
                    "mean": float(session.moments.mean[j]),
                    "toward": [float(v) for v in np.pad(motion[:, j], (0, max(0, one.dims - len(motion))))],
                }
                for j in order
                if far[j] > 0
            ]
    return Message("explain", None, fields)


def names(session: Session, number: Any, column: Any) -> Message:
    """Names of the islands of a map: from a column of texts, the categories of ``column``, or the features."""
    one = session.map(number)
    Y = one.positions()
    there = np.flatnonzero(~np.isnan(Y).any(axis=1))
    if Y.shape[1] < 2 or len(there) < _FEWEST_NAMED:
        return Message("names", None, {"map": one.number, "frame": one.frame, "names": []})
    texts = next((each for each in _listed(session) if each.kind == "text" and _in_sentences(each)), None)
    known = session.column(column) if isinstance(column, str) and column else None
    about: Any = take(session.features, there)
    called: list[str] | None = [name for name, each in session.columns.items() if each.is_feature]
    if (known is not None and known.kind == "category") or texts is not None:
        chosen = known if known is not None and known.kind == "category" else texts
        assert chosen is not None
        about, called = np.array(chosen.raw(there), dtype=object), None
    found = islands(Y[there], about, names=called, levels=3)
    told = [
        {"name": each.name, "at": list(each.position), "level": each.level, "rows": len(each.rows)} for each in found
    ]
    return Message("names", None, {"map": one.number, "frame": one.frame, "names": told})


def _in_sentences(column: Column) -> bool:
    """Whether the texts of a column have three words or more, unlike names of rows."""
    return float(np.mean([len(text.split()) for text in column.texts(np.arange(min(_TRIED, len(column))))])) >= 3


class Frame(NamedTuple):
    """Positions of a map that may not be finished."""

    embedding_: NDArray[np.float32]


def _outside(few: NDArray[np.int32], many: NDArray[np.int32]) -> NDArray[np.float32]:
    """Share of ``few`` (n, k) that are not among ``many`` (n, m), row by row."""
    n = len(few)
    first = np.arange(n, dtype=np.int64)[:, None] * n
    inside = np.isin((first + few).ravel(), (first + many).ravel(), assume_unique=True)
    return (1 - inside.reshape(few.shape).mean(axis=1)).astype(np.float32)


def _spread(values: NDArray[np.float32], one: Map) -> NDArray[np.float32]:
    """Values of the rows of a map as values of all rows, NaN for the others."""
    if one.rows is None:
        return values
    full = np.full(one.n, np.nan, np.float32)
    full[one.rows] = values
    return full


def _count(k: Any, n: int) -> int:
    if not isinstance(k, int) or not 1 <= k <= _MOST_NEIGHBOURS:
        raise ValueError(f"a number of neighbours from 1 to {_MOST_NEIGHBOURS} is needed; got {k!r}.")
    return min(k, n - 1)


def describe(session: Session, selected: NDArray[np.bool_]) -> Message:
    """Description of a selection: counts by category, distinguishing columns, and its quality in each map."""
    inside = int(selected.sum())
    fields: dict[str, Any] = {"count": inside, "counts": [], "telling": [], "quality": []}
    if inside:
        categories = [one for one in _listed(session) if one.kind == "category" and len(one.categories) <= _CATEGORIES]
        fields["counts"] = [entry for one in categories for entry in _counts(one, selected)]
        if inside < session.n:
            fields["telling"] = telling(session, selected)
        fields["quality"] = [q for one in list(session.maps.values()) if (q := quality(session, one, selected))]
        fields["sentence"] = _sentence(session, selected, fields["quality"])
    return Message("select", None, fields)


def _sentence(session: Session, selected: NDArray[np.bool_], judged: list[dict[str, Any]]) -> str:
    """What the selection is, and how far its place on the newest map can be believed."""
    share = selected.mean()
    text = f"{int(selected.sum()):,} of {session.n:,} rows ({share:.1%})"
    if not judged:
        return f"{text}; no map of them is finished."
    last = judged[-1]
    kept = last["neighbors_kept"]
    text += f". {session.map(last['map']).title} keeps {kept:.0%} of their nearest rows in the data"
    text += "" if kept >= _CLEAR else ": near rows there need not be near in the data"
    dubious = session.map(last["map"]).dubious
    if dubious is not None:
        text += f"; {int((dubious & selected).sum()):,} are at dubious places"
    return f"{text}."


def _listed(session: Session) -> list[Column]:
    return [*session.labels.values(), *session.columns.values()]


def _counts(column: Column, selected: NDArray[np.bool_]) -> list[dict[str, Any]]:
    size = len(column.categories) + 1
    inside, whole = (np.bincount(column.codes[rows] + 1, minlength=size) for rows in (selected, slice(None)))
    order = [code for code in np.argsort(-inside, kind="stable")[:_COUNTED] if inside[code]]
    return [
        {
            "column": column.name,
            "category": None if code == 0 else column.categories[code - 1],
            "count": int(inside[code]),
            "of": int(whole[code]),
        }
        for code in order
    ]


def telling(session: Session, selected: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Columns ranked by how well they distinguish the selection from the rest.

    The score is the correlation of a number, or Cramér's V of a category, with being selected: 0 to 1 for both.
    """
    found = _telling_features(session, selected)
    known = {one["column"] for one in found}
    for column in _listed(session):
        if column.name in known:
            continue
        if column.kind == "category" and 1 < len(column.categories) <= _CATEGORIES:
            found.append(_telling_category(column, selected))
        elif column.kind == "number" and not column.is_feature:
            there = ~np.isnan(column.numbers)
            if there.any():
                values = column.numbers[there, None].astype(np.float64)
                found += _telling_numbers(values, column_moments(values), [column.name], selected[there])
    found = [one for one in found if one["score"] > 0]
    return sorted(found, key=lambda one: (-one["score"], one["column"]))[:_TELLING]


def _telling_features(session: Session, selected: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Scores of all features at once."""
    names = [name for name, column in session.columns.items() if column.is_feature]
    return _telling_numbers(session.features, session.spread, names, selected) if names else []


def _telling_numbers(
    X: Any, whole: ColumnMoments, names: list[str], selected: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    n, inside = len(selected), int(selected.sum())
    if inside in (0, n):
        return []
    mean = column_moments(X, selected.astype(np.float64)).mean
    rest = (n * whole.mean - inside * mean) / (n - inside)
    rest[np.abs(rest) < _ROUNDING * np.abs(mean)] = 0.0
    between = inside * (n - inside) / n**2 * (mean - rest) ** 2
    scores = np.sqrt(np.divide(between, whole.variance, out=np.zeros_like(between), where=whole.variance > 0))
    order = np.argsort(-scores, kind="stable")[:_TELLING]
    return [
        {
            "column": names[j],
            "score": min(1.0, float(scores[j])),
            "kind": "number",
            "inside": float(mean[j]),
            "outside": float(rest[j]),
        }
        for j in order
    ]


def _telling_category(column: Column, selected: NDArray[np.bool_]) -> dict[str, Any]:
    there = column.codes >= 0
    size = len(column.categories)
    counts = np.array(
        [np.bincount(column.codes[there & rows], minlength=size) for rows in (selected, ~selected)], float
    )
    n, whole = counts.sum(), counts.sum(axis=1)
    if not whole.all():
        return {"column": column.name, "score": 0.0, "kind": "category", "inside": "", "outside": ""}
    expected = np.outer(whole, counts.sum(axis=0)) / n
    chi = np.divide((counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0).sum()
    shares = counts / whole[:, None]
    most = int(np.argmax(shares[0] - shares[1]))
    texts = [f"{share[most]:.0%} {column.categories[most]}" for share in shares]
    score = float(np.sqrt(chi / n))
    return {"column": column.name, "score": score, "kind": "category", "inside": texts[0], "outside": texts[1]}


def quality(session: Session, one: Map, selected: NDArray[np.bool_]) -> dict[str, Any] | None:
    """Quality of a map for the selected rows: trustworthiness and the share of neighbours kept."""
    Y = one.Y
    if Y is None:
        return None
    inside = np.flatnonzero(selected if one.rows is None else selected[one.rows])
    found = judge(session.rows if one.rows is None else session.rows[one.rows], Y, inside)
    return {"map": one.number, **found} if found else None
