"""Base class of factor analyses of tables: principal components of columns that are scaled by their kind.

With ``Z`` (n, D) the prepared columns, ``Zᵀ Z / n = S`` and ``S V = V Λ``, the coordinates of the rows are
``F = c Z V`` and the eigenvalues ``c² Λ``; ``c`` is 1, and ``1/√Q`` in correspondence analysis of Q columns.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.data import column_plans, options, preparation, restoring, validation
from lowdim.data.column_kinds import RULES
from lowdim.data.column_recipes import Recipe
from lowdim.data.compat import output_of
from lowdim.data.file_errors import listing
from lowdim.data.sizes import demand_components
from lowdim.data.table_columns import Columns
from lowdim.methods import registry
from lowdim.methods.base import applying, fitting
from lowdim.methods.factor_tables import FactorTables, Floats
from lowdim.persist import fields
from lowdim.relate.moment_states import Moments
from lowdim.relate.moments import moments
from lowdim.solve.component_count import completed
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.products import multiply


class _Spectrum(NamedTuple):
    """Eigenvalues and directions (rows) of the active columns, and what concerns all: means, ``S V``, ``‖S_j‖²``."""

    values: Floats
    vectors: Floats
    means: Floats
    variances: Floats
    covariances: Floats
    distances: Floats
    squares: float  # sum of the squares of all eigenvalues


class MixedComponents(FactorTables):
    """A method that computes principal components of the columns of a table, each scaled by its kind.

    ``_instead`` are kinds that are taken as others, ``_classes`` into how many classes numbers are cut that are taken
    as categories, 0 for none.
    """

    _instead: dict[str, str]
    _rules = {
        **{name: column_plans.RULES[name] for name in ("missing", "max_levels", "rules")},
        "n_components": options.integer(1),
        "supplementary": options.none
        | options.Rule(lambda value: isinstance(value, str | list | tuple | np.ndarray), "a list of columns"),
        "on_unusable": options.one_of("error", "drop"),
        "plan": options.none | options.Rule(lambda value: isinstance(value, dict), "a dictionary of columns"),
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }
    eigenvalues_: Floats
    explained_variance_ratio_: Floats
    mean_: Floats
    total_inertia_: float
    supplementary: Any
    n_components: int
    max_levels: int
    rules: int
    on_unusable: str
    plan: Any

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "components_": fields.array("k", "p"),
            "mean_": fields.array("p"),
            "eigenvalues_": fields.array("k", low=0),
            "explained_variance_ratio_": fields.array("k", low=0),
            "total_inertia_": fields.number(0),
            "n_samples_": fields.count(low=1),
            "_passive": fields.indices("s", below="d", kind="i8", rising=True),
            "_values": fields.array("k", low=0),
            "_covariances": fields.array("c", "k"),
            "_variances": fields.array("c", low=0),
            "_distances": fields.array("c", low=0),
        }

    # Fitting

    @fitting
    def fit(self, X: Any, y: Any = None) -> "MixedComponents":
        """Learn the scales and levels of the columns, and their components.

        Parameters
        ----------
        X : DataFrame of pandas or polars, array or list of rows
            The table.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        self._fit(self._take_table(X, reset=True, minimum=2))
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the components, and return the coordinates of the rows.

        Parameters
        ----------
        X : DataFrame of pandas or polars, array or list of rows
            The table.
        y : ignored
            For pipelines.

        Returns
        -------
        array (n_samples, n_components)
            The coordinates; with ``missing="drop"`` those of rows without missing values.
        """
        table = self._take_table(X, reset=True, minimum=2)
        self._fit(table)
        return self._coordinates(table, X)

    def _fit(self, table: Columns) -> None:
        self._passive = self._supplementary_places(table.names)
        with self._in_its_name():
            recipes, self._rows_left_out = preparation.learn(table, self._wishes(table.names), self.on_unusable)
        self._recipes = [asdict(recipe) for recipe in recipes]
        active = self._are_active()
        if not active.any():
            raise ValueError(
                f"{self._name}: at least one active column is needed; the others are constant, identifiers or left "
                "out. Name fewer in supplementary."
            )
        n = table.height - self._rows_left_out
        limit = max(1, min(n - 1, self._directions()))
        what = f"{limit}, the directions of n_features = {table.X.shape[1]} columns in {n:,} rows"
        k = min(self.n_components, limit) if self._takes_fewer else self.n_components
        demand_components(self._name, k, limit, what, "pass more columns or rows")
        self._demand_room(n, len(active), int(active.sum()))
        found = self._of_rows(table, active, k) if active.sum() > n else self._of_moments(table, active, k)
        c = self._factor()
        noise = max(n, len(active)) * np.finfo(np.float64).eps
        values = np.where(found.values <= max(found.values[0], 0.0) * noise, 0.0, found.values)
        vectors = completed(found.vectors[: min(k, int(np.count_nonzero(values[:k])))], k)
        turned = signs(vectors)[:, None]
        self.components_ = vectors * turned
        self.mean_, self._variances = found.means[active], found.variances
        self._values, self._distances = values[:k], found.distances
        self._covariances = np.where(values[:k] > 0, found.covariances[:, :k] * turned[:, 0], 0.0)
        self.total_inertia_ = float(c * c * found.variances[active].sum())
        self.n_samples_ = n
        self._keep_eigenvalues(c * c * values, k, c**4 * found.squares)

    def _keep_eigenvalues(self, values: Floats, k: int, squares: float) -> None:
        """Set the eigenvalues and their shares, of all that were computed and the sum of squares of all there are."""
        self.eigenvalues_ = values[:k]
        self.explained_variance_ratio_ = self.eigenvalues_ / self.total_inertia_

    @property
    def _all_values(self) -> bool:
        """Whether all eigenvalues are needed."""
        return False

    def _supplementary_places(self, names: list[str]) -> NDArray[np.int64]:
        """Positions of the supplementary columns."""
        asked = self.supplementary
        named = [] if asked is None else [asked] if isinstance(asked, str) else list(asked)
        strange = [str(name) for name in named if name not in names]
        if strange:
            close = preparation.near_names(strange[0], names)
            raise ValueError(
                f"{self._name}: supplementary must name columns of the table; got {listing(strange)}. {close}"
            )
        return np.array(sorted({names.index(name) for name in named}), dtype=np.int64)

    def _wishes(self, names: list[str]) -> list[column_plans.Wish]:
        own = {name: getattr(self, name, default) for name, default in _DEFAULTS.items()}
        asked = column_plans.wishes(own, self.plan, names)
        return [replace(one, instead=tuple(self._instead.items()), classes=self._n_classes) for one in asked]

    @property
    def _n_classes(self) -> int:
        return 0

    @contextmanager
    def _in_its_name(self) -> Iterator[None]:
        """Errors of the preparation name this method."""
        try:
            yield
        except ValueError as error:
            raise ValueError(str(error).replace("Prepare: ", f"{self._name}: ", 1)) from None

    def _applied(self) -> list[Recipe]:
        """Recipes that use active columns only."""
        passive = set(self._passive.tolist())
        return [
            replace(one, action="drop", indicator=False) if j in passive else one for j, one in enumerate(self._made)
        ]

    def _directions(self) -> int:
        """Directions of the active columns: one for a number, one less than its levels for a category."""
        return sum(len(one.suffixes) - (one.action in ("onehot", "classes")) for one in self._applied())

    def _count_active(self) -> int:
        return sum(bool(one.suffixes) for one in self._applied())

    def _factor(self) -> float:
        """Factor of the coordinates."""
        return 1.0

    def _ask_memory(self, n: int, d: int) -> None:
        self._demand_room(n, d, d)

    def _demand_room(self, n: int, columns: int, active: int) -> None:
        side = min(n, active)
        needed = 8.0 * (columns**2 + 4.0 * side**2 if active <= n else 3.0 * n * columns + 4.0 * n * n)
        what = f"{self._name}: {columns:,} prepared columns of {n:,} rows"
        needed += 9.5 * min(n, 2**14) * columns  # a block of prepared rows
        memory.require(needed, what, "Lower max_levels, or leave columns out by a plan.")

    def _blocks(self, table: Columns, recipes: list[Recipe]) -> Iterator[tuple[slice, NDArray[Any], NDArray[np.bool_]]]:
        with self._in_its_name():
            yield from preparation.encoded(recipes, table)

    def _of_moments(self, table: Columns, active: NDArray[np.bool_], k: int) -> _Spectrum:
        """Spectrum from the covariances of all prepared columns, which one pass over the rows gives."""
        M: Moments | None = None
        for _, part, lost in self._blocks(table, self._made):
            if lost.all():
                continue
            one = moments(part[~lost] if lost.any() else part)
            M = one if M is None else M.merge(one)
        assert M is not None  # a row is left: learn has seen to it
        S = M.scatter / M.weight
        A = S[np.ix_(active, active)]
        squares = float(np.square(A).sum())
        pairs = eigh_top(A.copy(), len(A) if self._all_values else k)
        SA = S[:, active]
        return _Spectrum(
            pairs.values, pairs.vectors.T, M.mean, np.diag(S).copy(), multiply(SA, pairs.vectors[:, :k]),
            np.square(SA).sum(axis=1), squares,
        )  # fmt: skip

    def _of_rows(self, table: Columns, active: NDArray[np.bool_], k: int) -> _Spectrum:
        """Spectrum from the products of the rows, where they are fewer than the columns."""
        parts = [(part[~lost] if lost.any() else part).copy() for _, part, lost in self._blocks(table, self._made)]
        Z = np.concatenate(parts)
        n, means = len(Z), Z.mean(axis=0)
        Z -= means
        ZA = np.ascontiguousarray(Z[:, active])
        G = multiply(ZA, ZA.T) / n
        pairs = eigh_top(G.copy(), n if self._all_values else k)
        values = np.maximum(pairs.values, 0.0)
        some = values[:k] > values[0] * n * np.finfo(np.float64).eps
        U = pairs.vectors[:, :k][:, some]
        V = np.zeros((k, ZA.shape[1]))
        V[some] = (multiply(ZA.T, U) / np.sqrt(n * values[:k][some])).T
        F = multiply(ZA, V.T)
        distances = np.einsum("ij,ij->j", Z, multiply(G, Z)) / n
        return _Spectrum(
            values, V, means, np.square(Z).mean(axis=0), multiply(Z.T, F) / n, distances, float(np.square(G).sum())
        )

    # New rows

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @applying
    def transform(self, X: Any) -> Any:
        """Coordinates of rows, which may be supplementary ones: they change nothing.

        Parameters
        ----------
        X : of the same columns as in ``fit``
            The rows; supplementary columns are not read.

        Returns
        -------
        array (n_samples, n_components)
            The coordinates; with ``missing="drop"`` those of rows without missing values.
        """
        return self._coordinates(self._take_table(X, reset=False), X)

    def _coordinates(self, table: Columns, X: Any) -> Any:
        """Coordinates of rows; with the index of a pandas DataFrame where some are left out."""
        Y = self._projected(table)[0]
        if len(Y) < table.height and hasattr(X, "iloc") and output_of(self) == "pandas":
            return type(X)(Y, index=X.index[self.complete(X)], columns=self.get_feature_names_out())
        return Y

    def _projected(self, table: Columns) -> tuple[Any, Floats]:
        """Coordinates of rows, and their squared distances from the centre."""
        recipes = self._applied()
        if self.missing != "error":  # set after the fit, it applies to missing values in new rows
            recipes = [replace(one, missing=self.missing) if one.missing == "error" else one for one in recipes]
        Y = np.empty((table.height, len(self.components_)), table.dtype)
        lengths, lost = np.empty(table.height), np.zeros(table.height, dtype=bool)
        c, V = self._factor(), np.ascontiguousarray(self.components_.T)
        for rows, part, gone in self._blocks(table, recipes):
            part -= self.mean_
            Y[rows] = c * multiply(part, V)
            lengths[rows], lost[rows] = c * c * np.square(part).sum(axis=1), gone
        return (Y[~lost], lengths[~lost]) if lost.any() else (Y, lengths)

    @applying
    def inverse_transform(self, Y: Any) -> Any:
        """Table with the numbers, and the most likely levels, at given coordinates.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Coordinates.

        Returns
        -------
        DataFrame of polars, or array
            The active columns; an array where ``fit`` took an array of which it used all columns as numbers.
        """
        Y = validation.scores(Y, self._name, len(self.components_))
        Z = multiply(np.asarray(Y, np.float64) / self._factor(), self.components_) + self.mean_
        names = self._names_in(None)
        columns, end = {}, 0
        for name, one in zip(names, self._applied(), strict=True):
            width = len(one.suffixes)
            if width:
                columns[name] = restoring.column(one, Z[:, end : end + width])
            end += width
        import polars as pl

        frame = pl.DataFrame(columns)
        plain = not hasattr(self, "feature_names_in_") and len(columns) == len(names)
        return frame.to_numpy().astype(Y.dtype) if plain and all(map(_is_number, frame.dtypes)) else frame

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        if method == "inverse_transform":
            raise ValueError(
                f"{self._name}: inverse_transform returns a table, which a Dask array cannot hold. Compute the scores "
                "first, Y.compute()."
            )
        if "drop" in {self.missing, *(one.missing for one in self._applied())}:
            raise ValueError(
                f"{self._name}: missing='drop' would change how many rows each block of a Dask collection has. Use "
                "missing='mean' or 'median', or drop the rows before, X.dropna()."
            )
        return super()._outline(method, dtype)

    @applying
    def row_contributions(self, X: Any) -> Floats:
        """Share of each component's inertia that a row has, if it is one of the rows of the fit.

        Parameters
        ----------
        X : of the same columns as in ``fit``
            The rows.

        Returns
        -------
        array (n_samples, n_components)
            They add up to 1 over the rows of the fit.
        """
        Y = np.asarray(self._projected(self._take_table(X, reset=False))[0], np.float64)
        inertia = self._factor() ** 2 * self._values * self.n_samples_
        return np.divide(np.square(Y), inertia, out=np.zeros_like(Y), where=inertia > 0)

    @applying
    def row_cos2(self, X: Any) -> Floats:
        """Squared cosine between a row and each component: the share of its squared distance from the centre.

        Parameters
        ----------
        X : of the same columns as in ``fit``
            The rows.

        Returns
        -------
        array (n_samples, n_components)
            At most 1 in sum.
        """
        Y, lengths = self._projected(self._take_table(X, reset=False))
        squares, lengths = np.square(np.asarray(Y, np.float64)), lengths[:, None]
        return np.divide(squares, lengths, out=np.zeros_like(squares), where=lengths > 0)

    def as_linear(self, X: Any) -> tuple[Floats, Any]:
        """Prepared active columns of rows, and the PCA that gives their coordinates divided by the factor."""
        recipes = self._applied()
        parts = [part[~lost].copy() for _, part, lost in self._blocks(self._take_table(X, reset=False), recipes)]
        n, Z = self.n_samples_, np.concatenate(parts)
        made = registry.find("pca").load()(len(self.components_))
        made.components_, made.mean_, made.scale_ = self.components_, self.mean_, np.ones_like(self.mean_)
        made.explained_variance_ = self._values * n / (n - 1)
        made.explained_variance_ratio_ = self._values / (self._values.sum() or 1.0)
        made.n_components_, made.n_features_in_, made.noise_variance_ = len(self.components_), Z.shape[1], 0.0
        return Z, made


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric())


_DEFAULTS: dict[str, Any] = {
    "numbers": "standardize",
    "missing": "error",
    "indicators": False,
    "categories": "onehot",
    "max_levels": 50,
    "dates": "number",
    "rules": RULES,
}
