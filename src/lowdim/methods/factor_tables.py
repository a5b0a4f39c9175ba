"""What the components of a factor analysis say of the columns of its table, and of the levels of its categories.

All follows from the covariances ``S V`` of the prepared columns with the components: the mean of the rows of level k,
of share ``p_k``, is ``(S V)_k / √p_k``, and the correlation of a number is ``(S V)_j / √λ``.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.data.column_recipes import LEVELS, Recipe
from lowdim.methods.table_reducer import TableReducer

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
_QUANTITIES = ("coordinates", "contributions", "cos2", "correlations")


class FactorTables(TableReducer):
    """The tables of a fitted factor analysis."""

    components_: Floats
    n_samples_: int
    _passive: NDArray[np.int64]
    _values: Floats  # eigenvalues, whatever the factor of the coordinates
    _covariances: Floats
    _variances: Floats
    _distances: Floats  # squared lengths of the rows of S, in its active columns

    def columns(self, quantity: str = "coordinates") -> "pl.DataFrame":
        """What the components say of each column of the table.

        Parameters
        ----------
        quantity : {"coordinates", "contributions", "cos2", "correlations"}
            Coordinates: the squared correlation of a number with the component, or the correlation ratio η² of a
            category. Contributions: shares of the component's inertia, which supplementary columns do not have. cos²:
            the squared coordinate divided by the column's number of directions. Correlations: of numbers alone.

        Returns
        -------
        DataFrame of polars
            ``column``, ``active`` and one column for each component.
        """
        rows: list[tuple[Any, ...]] = []
        self._demand_quantity(quantity, _QUANTITIES)
        contributions = self._contributions()
        for name, one, active, where in self._each_recipe():
            group = one.action in LEVELS
            r = self._correlations(where)
            if quantity == "correlations":
                if not group and len(one.suffixes) == 1:
                    rows.append((name, active, *r[0]))
                continue
            values = self._inertia(one, where) if group or len(one.suffixes) > 1 else np.square(r[0])
            if quantity == "contributions":
                if not active:
                    continue
                values = contributions[where].sum(axis=0)
            elif quantity == "cos2":
                directions = len(one.suffixes) - (one.action in ("onehot", "classes"))
                values = np.square(values) / max(1, directions)
            rows.append((name, active, *values))
        return self._frame(["column", "active"], rows)

    def levels(self, quantity: str = "coordinates") -> "pl.DataFrame":
        """What the components say of each level of the categories.

        Parameters
        ----------
        quantity : {"coordinates", "contributions", "cos2", "v_test"}
            Coordinates: as the method defines them. Contributions: shares of the component's inertia, which levels of
            supplementary columns do not have. cos²: of the level's position. v-test: the position in standard
            deviations of a random choice of as many rows; beyond ±1.96 for one level in twenty by chance.

        Returns
        -------
        DataFrame of polars
            ``column``, ``level``, ``active`` and one column for each component.
        """
        self._demand_quantity(quantity, ("coordinates", "contributions", "cos2", "v_test"))
        contributions = self._contributions()
        rows: list[tuple[Any, ...]] = []
        n = self.n_samples_
        for name, one, active, where in self._each_recipe():
            if one.action not in LEVELS or (quantity == "contributions" and not active):
                continue
            p, count = one.shares[:, None], len(one.shares)
            part = slice(where.start, where.start + count)
            means, spans = self._means_of_levels(one, part)
            standard = np.divide(means, np.sqrt(self._values), out=np.zeros_like(means), where=self._values > 0)
            values = self._placed(means, standard)
            if quantity == "contributions":
                values = contributions[part]
            elif quantity == "cos2":
                values = self._level_cos2(means, standard, spans, p)
            elif quantity == "v_test":
                values = standard * np.sqrt((n - 1) * p / (1 - p))
            labels = [*one.levels, "(rare)"][:count] if one.pooled else one.levels
            rows += [(name, label, active, *row) for label, row in zip(labels, values, strict=True)]
        return self._frame(["column", "level", "active"], rows)

    def _placed(self, means: Floats, standard: Floats) -> Floats:
        """Coordinates of levels, from the means of their rows."""
        return means

    def _level_cos2(self, means: Floats, standard: Floats, spans: Floats, p: Floats) -> Floats:
        return np.divide(np.square(means), spans[:, None], out=np.zeros_like(means), where=spans[:, None] > 0)

    def _means_of_levels(self, one: Recipe, part: slice) -> tuple[Floats, Floats]:
        """Mean of ``Z V`` over the rows of each level, and its squared distance from the centre in all directions."""
        p = one.shares
        unit = one.weight * np.sqrt(p) if one.action != "options" else one.weight / one.scale * np.sqrt(p / (1 - p))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._covariances[part] / unit[:, None], self._distances[part] / np.square(unit)

    def _correlations(self, where: slice) -> Floats:
        """Correlations of prepared columns with the components."""
        scale = np.sqrt(self._variances[where, None] * self._values)
        found = self._covariances[where]
        return np.divide(found, scale, out=np.zeros_like(found), where=scale > 0)

    def _inertia(self, one: Recipe, where: slice) -> Floats:
        """Correlation ratio of a column with the components."""
        squares = np.square(self._covariances[where]).sum(axis=0) / max(one.weight, 1e-300) ** 2
        return np.divide(squares, self._values, out=np.zeros_like(squares), where=self._values > 0)

    def _contributions(self) -> Floats:
        """Contributions of all prepared columns, 0 for those of supplementary ones."""
        made = np.zeros_like(self._covariances)
        made[self._are_active()] = np.square(self.components_.T)
        return made

    def _each_recipe(self) -> Iterator[tuple[str, Recipe, bool, slice]]:
        """Columns that are used: name, recipe, whether it is active, and where its prepared columns are."""
        check_is_fitted(self)
        passive, end = set(self._passive.tolist()), 0
        for j, (name, one) in enumerate(zip(self._names_in(None), self._made, strict=True)):
            width = len(one.suffixes)
            if width:
                yield name, one, j not in passive, slice(end, end + width)
            end += width

    def _frame(self, keys: list[str], rows: list[tuple[Any, ...]]) -> "pl.DataFrame":
        import polars as pl

        schema: dict[str, Any] = {key: pl.Boolean if key == "active" else pl.String for key in keys}
        schema |= {str(name): pl.Float64 for name in self.get_feature_names_out()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _are_active(self) -> NDArray[np.bool_]:
        """Which prepared columns are active."""
        passive = set(self._passive.tolist())
        return np.array([j not in passive for j, one in enumerate(self._made) for _ in one.suffixes], dtype=bool)

    def _demand_quantity(self, quantity: str, known: tuple[str, ...]) -> None:
        check_is_fitted(self)
        if quantity not in known:
            raise ValueError(
                f"{self._name}: quantity must be one of {', '.join(known)}; got {quantity!r}. Choose one of them."
            )
