"""State of an explorer: the rows, further columns, the maps and the labels, independent of the web."""

from collections import deque
from collections.abc import Callable
from functools import cached_property
from itertools import count
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.comparison.candidates import Ground
from lowdim.data import options
from lowdim.explorer.column_summaries import Column, Labels
from lowdim.explorer.forms import forms, offered, takes_start
from lowdim.explorer.map_quality import judge
from lowdim.explorer.running_fits import Map
from lowdim.methods import registry
from lowdim.methods.prepared_table import PreparedTable
from lowdim.relate.moment_states import ColumnMoments
from lowdim.relate.moments import column_moments
from lowdim.relate.neighbors import Neighbors, nearest
from lowdim.relate.pairwise import pairwise
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.rows import searchable

MOST_LISTED = 1000  # columns that the page lists; others can be requested by name
MOST_FITS, MOST_WAITING = 4, 12  # fits at a time, and those that wait for their turn
_APPROXIMATE = 20_000  # rows above which neighbours in the data are searched approximately
_JUDGED = 100_000  # rows up to which the quality of every map is measured
_LAID_OUT = 2e8  # values of the data up to which principal components are shown until a descent begins
_NOISE = 1e-2  # of a dimension that the initial layout lacks, relative to its spread

Listener = Callable[[str, Any], None]  # event and its subject


class Session:
    """Rows ``X`` as the methods take them, columns as the page shows them, maps and labels.

    ``made`` is the prepared table that the rows come from; ``features`` are its numbers, from which the feature columns
    are taken.
    """

    def __init__(
        self, made: PreparedTable, columns: dict[str, Column], *, title: str = "data", colour: str | None = None,
        identity: str | None = None,
    ) -> None:  # fmt: skip
        made.demand_scaled()
        self.made, self.X, self.columns, self.title = made, made.X, columns, title
        self.targets, self.image_shape = made.table.labels, made.table.image_shape
        self.colour, self.identity = colour, identity
        self.features = made.X if made.table.mixed else made.table.X
        self.n = int(made.X.shape[0])
        self.labels: dict[str, Labels] = {}
        self.unsaved = False  # labels that were neither exported nor written
        self.maps: dict[int, Map] = {}
        self.sequence: list[int] = []  # numbers of maps in a row, which a slider moves through
        self._numbers = count(1)
        self._queue: deque[tuple[Map, Callable[[], None]]] = deque()
        self._running = 0
        self._listeners: list[Listener] = []
        self._lock, self._searching = RLock(), RLock()

    # Listeners

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` on every change; returns a function that ends this."""
        with self._lock:
            self._listeners.append(listener)

        def leave() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return leave

    def tell(self, what: str, whom: Any) -> None:
        """Notify all listeners."""
        for listener in list(self._listeners):
            listener(what, whom)

    def close(self) -> None:
        """Stop all fits."""
        with self._lock:
            self._queue.clear()
        for one in list(self.maps.values()):
            one.stop()

    # Columns

    def column(self, name: Any) -> Column:
        """Column of that name, labels among them."""
        found = self.labels.get(name) or self.columns.get(name) if isinstance(name, str) else None
        if found is None:
            raise ValueError(f"there is no column {name!r}. Choose one that the page lists.")
        return found

    def listed(self) -> list[Column]:
        """Columns that the page lists."""
        return [*self.labels.values(), *list(self.columns.values())[:MOST_LISTED]]

    def label(self, column: Any, name: Any, rows: NDArray[np.bool_]) -> Labels:
        """Give rows the label ``name`` in a column of labels, which is created if there is none."""
        if not isinstance(column, str) or not column.strip() or len(column) > 200:
            raise ValueError(f"label: a column needs a name of 1 to 200 characters; got {str(column)[:40]!r}.")
        if name is not None and (not isinstance(name, str) or not name.strip() or len(name) > 1000):
            raise ValueError(f"label: a label must have 1 to 1000 characters; got {str(name)[:40]!r}.")
        if column in self.columns:
            raise ValueError(f"label: the data have a column {column!r}, which cannot be changed. Choose another name.")
        with self._lock:
            labels = self.labels.setdefault(column, Labels(column, self.n))
            labels.put(rows, name)
            self.unsaved = True
        self.tell("columns", None)
        return labels

    def relabel(self, column: str, codes: NDArray[np.intp], names: dict[int, str]) -> Labels:
        """Replace a column of labels by groups of rows; codes without a name are no label."""
        if column in self.columns:
            raise ValueError(f"label: the data have a column {column!r}, which cannot be changed.")
        labels = Labels(column, self.n)
        for code, name in names.items():
            labels.put(codes == code, name)
        with self._lock:
            self.labels[column] = labels
            self.unsaved = True
        self.tell("columns", None)
        return labels

    # Maps

    @cached_property
    def ground(self) -> Ground:
        """Properties of the rows that decide which methods are offered."""
        classes = 0
        if self.targets is not None:
            column = Column("", self.targets)
            classes = 0 if column.kind == "number" or column.missing else len(column.categories)
        return Ground(self.n, int(self.X.shape[1]), sparse.issparse(self.X), classes, mixed=self.made.table.mixed)

    @cached_property
    def methods(self) -> list[dict[str, Any]]:
        """Methods that the page offers."""
        return forms(self.ground)

    def map(self, number: Any) -> Map:
        """Map of that number."""
        found = self.maps.get(number) if isinstance(number, int) else None
        if found is None:
            raise ValueError(f"there is no map {number!r}. It may have been dropped in another tab.")
        return found

    def fit(
        self, method: Any, parameters: Any, dims: Any = 2, rows: NDArray[np.bool_] | None = None, start: Any = None,
        *, pins: NDArray[np.bool_] | None = None,
    ) -> Map:  # fmt: skip
        """Start a map of all rows or of those in the mask ``rows``, optionally from the layout of another map.

        ``pins`` are rows that stay where they are in that layout; the model keeps them as its anchors.
        """
        chosen = registry.find(method)
        if not offered(chosen, self.ground):
            raise ValueError(f"{chosen.class_name} cannot map these data. Choose a method that the page lists.")
        if not isinstance(dims, int) or not 1 <= dims <= 3:
            raise ValueError(f"fit: a map must have 1, 2 or 3 dimensions; got {dims!r}. Choose 2 or 3.")
        if not isinstance(parameters, dict):
            raise ValueError(f"fit: parameters must be given by name; got {parameters!r}.")
        where = None if rows is None or rows.all() else np.flatnonzero(rows)
        if where is not None and len(where) < 3:
            raise ValueError(f"fit: a map needs at least 3 rows; {len(where)} are selected. Select more.")
        source = None if start is None else self.map(start)
        model = self._model(chosen, parameters, dims)
        if source is not None:
            self._begin_at(model, source, where, dims)
        if pins is not None and source is not None:
            model.set_params(anchors=source.positions().astype(np.float64), anchor_weight=pins.astype(np.float64))
        with self._lock:
            if (
                self._running >= MOST_FITS
                and sum(one.status == "waiting" for one in self.maps.values()) >= MOST_WAITING
            ):
                raise ValueError(
                    f"fit: at most {MOST_FITS} fits run and {MOST_WAITING} wait for their turn. Stop one, or wait."
                )
            made = Map(
                next(self._numbers), chosen.name, chosen.class_name, model, dict(parameters), dims, self.n, where,
                self._map_changed, lambda Y: self._judged(Y, where),
            )  # fmt: skip
            made.pinned, made.relaxed = pins, pins is not None
            self.maps[made.number] = made
            layout = self._layout_for(model, source, where, dims)
            self._queue.append((made, lambda: made.start(lambda model: self._fitted(model, where, dims), layout)))
        self.tell("maps", None)
        self._advance()
        return made

    def keep(self, model: Any, Y: NDArray[np.float32], where: NDArray[np.intp] | None, title: str) -> Map:
        """Add a map that was computed elsewhere, of all rows or of those in ``where``."""
        made = Map(
            next(self._numbers), registry.find(type(model).__name__).name, title, model, {}, Y.shape[1], self.n, where,
            self._map_changed, lambda Y: self._judged(Y, where),
        )  # fmt: skip
        made.fitted, made.status, made.Y, made.frame = model, "done", Y, 1
        self.maps[made.number] = made
        return made

    def _advance(self) -> None:
        """Start fits that wait, as many as may run."""
        with self._lock:
            while self._queue and self._running < MOST_FITS:
                one, begin = self._queue.popleft()
                if one.status == "waiting":  # not stopped meanwhile
                    self._running += 1
                    begin()

    def drop(self, number: Any) -> None:
        """Stop a map and remove it."""
        self.map(number).stop()
        with self._lock:
            self.maps.pop(number, None)
        self.tell("dropped", number)
        self.tell("maps", None)

    def _model(self, chosen: registry.Method, parameters: dict[str, Any], dims: int) -> Any:
        """Unfitted model with the parameters of a form."""
        form = next(one for one in self.methods if one["name"] == chosen.name)
        options.demand_known(chosen.class_name, parameters, [one["name"] for one in form["parameters"]])
        given = {
            one["name"]: _cast(one, parameters[one["name"]]) for one in form["parameters"] if one["name"] in parameters
        }
        model = chosen.build(given, n_components=dims if chosen.components is not None else None, random_state=0)
        model._check_parameters()
        return model

    def _begin_at(self, model: Any, source: Map, where: NDArray[np.intp] | None, dims: int) -> None:
        """Start the model from the layout of the map ``source``, which is stopped if it is still running."""
        if not takes_start(type(model)):
            raise ValueError(
                f"{type(model).__name__} cannot start from another map. Choose an iterative method, such as tsne."
            )
        Y = source.positions() if where is None else source.positions()[where]
        if np.isnan(Y).any():
            raise ValueError(
                f"map {source.number} lacks {int(np.isnan(Y[:, 0]).sum()):,} of the rows. Start from a map of them all."
            )
        source.stop()
        if Y.shape[1] != dims:
            lacking = np.random.default_rng(0).normal(size=(len(Y), max(0, dims - Y.shape[1]))) * _NOISE * Y.std()
            Y = np.hstack([Y[:, :dims], lacking.astype(np.float32)])
        elif type(model) is type(source.model) and "warm_start" in model.get_params(deep=False):
            # The same loss continues at the same scale, without the phases of an initial layout.
            model.set_params(warm_start=True)
            model.embedding_ = Y.astype(float_dtype(self.X.dtype))
            model.n_iter_, model.loss_iterations_, model.loss_curve_ = 0, np.empty(0, np.int64), np.empty(0)
            return
        model.set_params(init=Y.astype(np.float64))

    def _layout_for(
        self, model: Any, source: Map | None, where: NDArray[np.intp] | None, dims: int
    ) -> Callable[[], NDArray] | None:
        """What is shown until the descent begins: the layout it starts from, or principal components; else None."""
        if "callback" not in model.get_params(deep=False):
            return None
        if source is not None:
            given = source.positions()[slice(None) if where is None else where, :dims]
            return lambda: self._in_dims(given, dims)
        same = (
            one for one in self.maps.values() if one.method == "pca" and one.status == "done" and not one.parameters
        )
        known = next((one for one in same if one.rows is None and one.dims >= dims), None)
        if known is not None:
            given = known.positions()[slice(None) if where is None else where, :dims]
            return lambda: given
        if self.X.shape[0] * self.X.shape[1] > _LAID_OUT:
            return None
        X = self.X if where is None else self.X[where]
        first = registry.find("pca").build({}, n_components=min(dims, *X.shape), random_state=0)
        return lambda: self._in_dims(first.fit_transform(X), dims)

    @staticmethod
    def _in_dims(Y: NDArray, dims: int) -> NDArray:
        """Positions in ``dims`` dimensions, zero in those that they lack."""
        return np.hstack([Y[:, :dims], np.zeros((len(Y), max(0, dims - Y.shape[1])), Y.dtype)])

    def _fitted(self, model: Any, where: NDArray[np.intp] | None, dims: int) -> NDArray:
        Y = np.asarray(self.made.fit(model, where, labels=bool(self.ground.classes)))
        if "warm_start" in model.get_params(deep=False):
            model.set_params(warm_start=False)
        if "init" in model.get_params(deep=False) and not isinstance(model.init, str):
            model.set_params(init=type(model)().init)  # a layout of this session does not belong in a model file
        return self._in_dims(Y, dims)  # LDA of two classes has one direction

    def _judged(self, Y: NDArray, where: NDArray[np.intp] | None) -> dict[str, float]:
        """Quality of a map, if it can be computed quickly."""
        if len(Y) > _JUDGED:
            return {}
        return judge(self.rows if where is None else self.rows[where], Y, np.arange(len(Y)))

    def _map_changed(self, one: Map, what: str) -> None:
        if what == "judged":  # its thread has nothing left to do
            with self._lock:
                self._running -= 1
            self._advance()
        self.tell(what, one)

    @cached_property
    def spread(self) -> ColumnMoments:
        """Mean and variance of the features."""
        return column_moments(self.features)

    @cached_property
    def moments(self) -> ColumnMoments:
        """Mean and variance of the columns that the methods take."""
        return self.spread if self.features is self.X else column_moments(self.X)

    @cached_property
    def brightness(self) -> tuple[float, float]:
        """Smallest and largest value of the features, for images."""
        return float(self.features.min()), float(self.features.max())

    # Neighbours in the data

    @cached_property
    def rows(self) -> Any:
        """The rows as the search for neighbours takes them."""
        dtype = float_dtype(self.X.dtype)
        if isinstance(self.X, np.ndarray) and self.X.dtype != dtype:
            memory.require(
                float(dtype.itemsize) * self.X.size, "explore: the rows as floats", "Explore fewer rows or columns."
            )
        return searchable(self.X, dtype)

    def distances(self, row: int) -> NDArray:
        """Distances (n,) of all rows to one of them."""
        dtype = float_dtype(self.X.dtype)
        if sparse.issparse(self.X):
            return pairwise(self.rows, "euclidean", self.rows[[row]])[0]
        out = np.empty(self.n, dtype)  # for one row by one pass: a search would first copy all rows
        for rows, block in row_blocks(self.X, dtype, less=self.X[row].astype(dtype)):
            out[rows] = np.einsum("ij,ij->i", block, block)
        return np.sqrt(out)

    def near(self, k: int) -> Neighbors:
        """The ``k`` nearest rows of each row in the data; searched once for the largest ``k`` requested."""
        with self._searching:
            known: Neighbors | None = getattr(self, "_near", None)
            if known is None or known.indices.shape[1] < k:
                how = "approximate" if self.n > _APPROXIMATE and not sparse.issparse(self.X) else "exact"
                known = nearest(self.rows, min(k, self.n - 1), how=how)
                self._near = known
        return known._replace(indices=known.indices[:, :k], distances=known.distances[:, :k])


def _cast(field: dict[str, Any], value: Any) -> Any:
    """Value of a form as the parameter takes it: an integral float may be a count."""
    if field["kind"] == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
