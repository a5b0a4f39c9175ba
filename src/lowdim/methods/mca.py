"""Multiple correspondence analysis: principal components of categories.

With the indicators of all levels scaled as in factor analysis of mixed data and divided by √Q, Q the number of columns,
the components are those of correspondence analysis of the table of indicators (Greenacre 2007, chapter 18).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.data import column_kinds
from lowdim.data.column_plans import Wish
from lowdim.data.options import integer, none, one_of
from lowdim.methods.factor_tables import Floats
from lowdim.methods.mixed_components import MixedComponents


class MCA(MixedComponents):
    """Multiple correspondence analysis.

    It takes a table, each column of which is a category. Whole numbers of at most 12 values are levels; other numbers,
    and dates, are cut into ``bins`` classes of similar size. Coordinates of levels are principal coordinates: the
    mean of their rows, divided by the square root of the eigenvalue.

    Parameters
    ----------
    n_components : int
        Number of components.
    correction : {None, "benzecri", "greenacre"}
        Correction of the eigenvalues, which the coding makes too small in proportion: by Benzécri (1979), in shares of
        those that are above 1/Q; or by Greenacre (1993), in shares of the average inertia of pairs of different
        columns. Coordinates are not changed.
    supplementary : list of str, optional
        Columns that do not influence the components; :meth:`columns` and :meth:`levels` place them afterwards.
        Numbers among them stay numbers. Supplementary rows are those that :meth:`transform` is given.
    bins : int
        Number of classes that numbers are cut into.
    missing : {"error", "mean", "median", "drop"}
        Missing values: refused; replaced by the mean of each level's column, which is neutral; filled by the most
        frequent level; or their rows are left out.
    max_levels : int
        Maximum number of levels of a column; with more, the rarest are pooled.
    on_unusable : {"error", "drop"}
        Columns that cannot be used: refused, all in one message; or left out with a warning.
    rules : int
        Version of the rules for kinds, as in :class:`lowdim.Prepare`.
    plan : dict or None
        Settings for single columns, as in :class:`lowdim.Prepare`: a kind, an order of levels, or a dictionary.
    n_jobs : int or None
        Number of threads; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Principal inertias, corrected if ``correction`` says so.
    explained_variance_ratio_ : array (n_components,)
        Their shares.
    total_inertia_ : float
        J / Q − 1 for J levels of Q columns, not corrected.
    components_ : array (n_components, n_columns)
        Directions in the space of the prepared active columns.
    mean_ : array (n_columns,)
        Means of the prepared active columns: 0 up to rounding, unless missing values were filled by medians.
    n_samples_ : int
        Rows of the fit that were used.

    Examples
    --------
    >>> import lowdim, polars as pl
    >>> table = pl.DataFrame({"sky": ["sun", "rain", "sun", "fog"], "wind": ["no", "yes", "no", "yes"]})
    >>> mca = lowdim.MCA(2).fit(table)
    >>> mca.eigenvalues_.round(3).tolist(), round(mca.total_inertia_, 3)
    ([1.0, 0.5], 1.5)
    >>> mca.levels("contributions").select("level", pl.col("mca0").round(3)).row(2)
    ('sun', 0.25)
    """

    _instead = dict.fromkeys(("yes/no", "ordinal", "code", "number", "date"), "category")
    _rules = MixedComponents._rules | {"correction": none | one_of("benzecri", "greenacre"), "bins": integer(2)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        correction: str | None = None,
        supplementary: Any = None,
        bins: int = 4,
        missing: str = "error",
        max_levels: int = 50,
        on_unusable: str = "error",
        rules: int = column_kinds.RULES,
        plan: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _n_classes(self) -> int:
        return int(self.bins)

    def _wishes(self, names: list[str]) -> list[Wish]:
        passive = set(self._passive.tolist())
        kept = tuple((kind, other) for kind, other in self._instead.items() if kind not in ("number", "date"))
        asked = super()._wishes(names)
        for j, one in enumerate(asked):
            if j in passive:
                asked[j] = replace(one, instead=kept)
            else:  # whatever a plan for another method says
                kind = {"number": "", "date": ""}.get(one.kind, self._instead.get(one.kind, one.kind))
                asked[j] = replace(one, kind=kind, categories="onehot")
        return asked

    def _factor(self) -> float:
        return float(1.0 / np.sqrt(self._count_active()))

    @property
    def _all_values(self) -> bool:
        return self.correction == "benzecri"

    def _keep_eigenvalues(self, values: Floats, k: int, squares: float) -> None:
        super()._keep_eigenvalues(values, k, squares)
        if self.correction is None:
            return
        Q = self._count_active()
        if Q < 2:
            raise ValueError(
                f"MCA: correction={self.correction!r} needs two active columns; got {Q}. Pass correction=None."
            )
        above = np.where(values > 1 / Q, values, 1 / Q)
        corrected = np.square(Q / (Q - 1) * (above - 1 / Q))
        total = float(corrected.sum())
        if self.correction == "greenacre":
            total = Q / (Q - 1) * (squares - self.total_inertia_ / Q)
        self.eigenvalues_ = corrected[:k]
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(k)

    def _placed(self, means: Floats, standard: Floats) -> Floats:
        return standard

    def _level_cos2(self, means: Floats, standard: Floats, spans: Floats, p: Floats) -> Floats:
        return np.square(standard) / (1 / p - 1)
