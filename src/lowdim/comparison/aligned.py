"""A row of maps that can be compared: each is drawn to its neighbours in the sequence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.data.shared_rows import partners
from lowdim.methods import registry
from lowdim.methods.anchoring import Anchored, Drawn
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.progress import stage


@dataclass(frozen=True, eq=False)
class Aligned:
    """Maps of a sequence of tables; returned by :func:`lowdim.aligned`.

    Attributes
    ----------
    models : list of estimators
        The fitted models, which transform and save.
    embeddings : list of arrays (n_samples, n_components)
        Their maps.
    relations : list of arrays
        For each row of a table but the first, the row of the table before that it is; −1 for none.
    displacement : list of float
        For each map but the first, the median distance of shared rows from where they were in the map before, as a
        share of that map's width.
    """

    models: list[Any]
    relations: list[NDArray[np.int64]] = field(repr=False)

    @property
    def embeddings(self) -> list[NDArray]:
        """The maps."""
        return [model.embedding_ for model in self.models]

    @property
    def displacement(self) -> list[float]:
        """How far shared rows move from map to map."""
        maps = [np.asarray(to_numpy(Y), np.float64) for Y in self.embeddings]
        found = []
        for before, after, other in zip(maps, maps[1:], self.relations, strict=False):
            apart = np.linalg.norm(after[other >= 0] - before[other[other >= 0]], axis=1)
            found.append(float(np.median(apart) / (np.ptp(before, axis=0).max() or 1.0)))
        return found

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[NDArray]:
        return iter(self.embeddings)

    def __getitem__(self, number: int) -> NDArray:
        return self.embeddings[number]

    def tracks(self) -> NDArray[np.int64]:
        """Number (n_tracks, n_maps) of each row that is followed through the sequence in every map, −1 where absent.

        Returns
        -------
        array (n_tracks, n_maps)
            A line for each row of the first map, and for each row that is not in the map before.
        """
        lines = np.arange(len(self.models[0].embedding_))[:, None]
        for model, other in zip(self.models[1:], self.relations, strict=True):
            n = len(model.embedding_)
            at = np.full(len(lines), -1)
            place = np.full(int(lines[:, -1].max(initial=-1)) + 2, -1)
            place[lines[:, -1]] = np.arange(len(lines))
            rows = np.flatnonzero(other >= 0)
            at[place[other[rows]]] = rows
            new = np.flatnonzero(other < 0)
            fresh = np.full((len(new), lines.shape[1] + 1), -1)
            fresh[:, -1] = new
            lines = np.concatenate([np.column_stack([lines, at]), fresh])
            assert (lines[:, -1] >= 0).sum() == n
        return lines

    def save(self, folder: Any) -> list[Path]:
        """Write the models to ``folder``, as map-1.lowdim and so on.

        Parameters
        ----------
        folder : str or path-like
            Made if it does not exist.

        Returns
        -------
        list of Path
            The files.
        """
        where = Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        files = [where / f"map-{number}.lowdim" for number in range(1, len(self.models) + 1)]
        for model, file in zip(self.models, files, strict=True):
            model.save(file)
        return files


def aligned(
    tables: Sequence[Any],
    relations: Any = None,
    method: Any = "umap",
    *,
    weight: float = 0.3,
    sweeps: int = 1,
    random_state: Any = 0,
    **params: Any,
) -> Aligned:
    """Fit maps of several tables that lie alike: days, layers of a network, samples of one population.

    Each map is drawn to those before and after it in the sequence (:doc:`anchors </grow>`): the maps lower the sum of
    their losses and of the distances of shared rows from map to map. The first pass goes through the sequence, each map
    starting from the one before; each sweep then goes back, or forth again, with both neighbours as anchors.

    Parameters
    ----------
    tables : sequence of arrays, sparse arrays or data frames
        The rows of each map; numbers of rows and columns may differ.
    relations : list, optional
        For each table but the first, which of its rows are rows of the table before: an array with the number of that
        row, −1 for none; a pair of arrays, rows of the table and of the one before; or a dict from rows of the table
        before to rows of the table, as in umap-learn. By default by the labels of data frames, row by row where
        tables have as many rows.
    method : str or estimator
        "umap", "tsne", "sne", "pacmap" or "mds", or an unfitted estimator.
    weight : float in [0, 1)
        Weight λ of the anchors; larger values move shared rows less.
    sweeps : int
        Passes over the sequence after the first.
    random_state : int
        Seed, the same for all maps.
    **params
        Parameters of the method.

    Returns
    -------
    Aligned
        The models, their maps and how far shared rows move.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> maps = lowdim.aligned([X[:100], X[20:120], X[50:]], [
    ...     (range(80), range(20, 100)), (range(70), range(30, 100))], n_epochs=50)
    >>> len(maps), maps[2].shape, max(maps.displacement) < 0.2
    (3, (100, 2), True)
    """
    model = _model(method, params)
    if len(tables) < 2:
        raise ValueError(f"aligned: two tables or more are needed; got {len(tables)}. Fit a single one by its method.")
    if not (isinstance(weight, int | float) and 0 <= weight < 1):
        raise ValueError(f"aligned: weight must be a number from 0 to below 1; got {weight!r}. 0 ignores the others.")
    if not isinstance(sweeps, int) or sweeps < 0:
        raise ValueError(f"aligned: sweeps must be an integer of 0 or more; got {sweeps!r}. Pass 1, for example.")
    if relations is not None and len(relations) != len(tables) - 1:
        raise ValueError(
            f"aligned: relations must be one less than the tables ({len(tables) - 1}); got {len(relations)}. Pass one "
            "for each table but the first."
        )
    given = [None] * (len(tables) - 1) if relations is None else list(relations)
    found = [_related(tables[t], tables[t + 1], one, t + 2) for t, one in enumerate(given)]
    models: list[Any] = [clone(model).set_params(random_state=random_state) for _ in tables]
    order = [*range(len(tables)), *(t for s in range(sweeps) for t in (range(len(tables))[:: -1 if s % 2 == 0 else 1]))]
    known = model.get_params(deep=False)
    with stage("maps", total=len(order)) as tick:
        for done, t in enumerate(order):
            again = done >= len(tables)
            drawn = _drawn(models, found, t, weight, later=again)
            if "warm_start" in known:
                models[t].set_params(warm_start=again)
            if drawn is None:
                models[t].fit(tables[t])
            else:
                models[t]._fit_drawn(tables[t], drawn)
            tick(done + 1)
    if "warm_start" in known:
        for one in models:
            one.set_params(warm_start=model.warm_start)
    return Aligned(models, found)


def _model(method: Any, params: dict[str, Any]) -> Any:
    """Unfitted estimator."""
    known = registry.find(method) if isinstance(method, str) else None
    kind = type(method) if known is None else known.load()
    if not issubclass(kind, Anchored):
        raise ValueError(
            f"aligned: a method with anchors is needed; got {kind.__name__}. Pass 'umap', 'tsne', 'sne', 'pacmap' or "
            "'mds'; lowdim.procrustes brings maps of other methods together."
        )
    model = clone(method).set_params(**params) if known is None else known.build({"n_components": 2} | params)
    if model.anchors is not None:
        raise ValueError("aligned: the maps are each other's anchors; got a method with anchors=. Leave them out.")
    return model


def _related(before: Any, X: Any, given: Any, number: int) -> NDArray[np.int64]:
    """For each row of a table the row of the table before that it is."""
    name, n, m = f"aligned: table {number}", int(X.shape[0]), int(before.shape[0])
    if given is None:
        if hasattr(before, "iloc") and hasattr(X, "iloc"):
            given = before.index
        elif n == m:
            return np.arange(n)
        else:
            raise ValueError(
                f"{name}: relations are needed where tables have different numbers of rows; got {m} and {n}. Pass "
                "which rows are the same."
            )
    if isinstance(given, Mapping):
        given = (np.array(list(given.values())), np.array(list(given)))
    if isinstance(given, tuple):
        given = tuple(np.asarray(part) for part in given)
    return partners(given, X, n, m, name)


def _drawn(
    models: list[Any], relations: list[NDArray[np.int64]], t: int, weight: float, *, later: bool
) -> Drawn | None:
    """What map ``t`` is drawn to: the mean of the maps beside it where both have a row, with twice the weight."""
    n = len(relations[t - 1]) if t else len(models[0].embedding_) if later else 0
    sums: Any = 0.0
    count = np.zeros(n)
    sides = []
    if t:
        sides.append((np.arange(n), relations[t - 1], models[t - 1]))
    if later and t + 1 < len(models):
        other = relations[t]
        rows = np.full(n, -1)
        rows[other[other >= 0]] = np.flatnonzero(other >= 0)
        sides.append((np.arange(n), rows, models[t + 1]))
    for rows, other, model in sides:
        Y = np.asarray(to_numpy(model.embedding_), np.float64)
        there = other >= 0
        one = np.zeros((n, Y.shape[1]))
        one[rows[there]] = Y[other[there]]
        sums = sums + one
        count[rows[there]] += 1
    if not count.any() or weight == 0:
        return None
    odds = count * weight / (1 - weight)
    places = sums / np.maximum(count, 1)[:, None]
    return Drawn(places, count > 0, odds / (1 + odds))
