"""Factor analysis of mixed data: principal components of numbers and categories together.

Numbers are standardised, and level k of a category, of share ``p_k``, becomes ``(z_k − p_k) / √p_k``, with ``z_k`` its
indicator: in every direction a column has at most variance 1, whatever its kind (Escofier 1979; Pagès 2004).
"""

from typing import Any

from lowdim.data import column_kinds
from lowdim.data.column_recipes import NUMBERS
from lowdim.data.options import one_of
from lowdim.methods.mixed_components import MixedComponents


class FAMD(MixedComponents):
    """Factor analysis of mixed data.

    It takes a table: columns of numbers are standardised, those of text, of yes and no and of ordered answers are
    categories, dates are numbers of days; ``plan_`` says what was decided. With numbers alone it is PCA of the
    correlation matrix.

    Parameters
    ----------
    n_components : int
        Number of components.
    supplementary : list of str, optional
        Columns that do not influence the components; :meth:`columns` and :meth:`levels` place them afterwards.
        Supplementary rows are those that :meth:`transform` is given.
    numbers : {"standardize", "robust", "log1p", "ranks"}
        Scaling of numbers, as in :class:`lowdim.Prepare`.
    missing : {"error", "mean", "median", "drop"}
        Missing values: refused; filled by the mean of the column (a category: by the mean of each level's column);
        filled by the median or the most frequent level; or their rows are left out.
    max_levels : int
        Maximum number of levels of a category; with more, the rarest are pooled.
    dates : {"number", "cyclic", "drop"}
        Days since 1970; these and the sine and cosine of the time of year, week and day; or left out.
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
        Inertia along each component (divisor n).
    explained_variance_ratio_ : array (n_components,)
        Its share of the total.
    total_inertia_ : float
        Numbers, plus levels less one for each category.
    components_ : array (n_components, n_columns)
        Directions in the space of the prepared active columns.
    mean_ : array (n_columns,)
        Means of the prepared active columns: 0 up to rounding, unless missing values were filled by medians.
    n_samples_ : int
        Rows of the fit that were used.

    Examples
    --------
    >>> import lowdim, polars as pl
    >>> table = pl.DataFrame({"height": [1.6, 1.7, 1.8, 1.9], "city": ["Rome", "Oslo", "Rome", "Oslo"]})
    >>> famd = lowdim.FAMD(2).fit(table)
    >>> famd.eigenvalues_.round(3).tolist(), round(famd.total_inertia_, 3)
    ([1.447, 0.553], 2.0)
    >>> famd.levels()["level"].to_list(), famd.transform(table).shape
    (['Oslo', 'Rome'], (4, 2))
    """

    _instead = {"yes/no": "category", "ordinal": "category", "code": "category"}
    _rules = MixedComponents._rules | {
        "numbers": one_of(*(name for name in NUMBERS if name not in ("as_is", "pooled", "gower"))),
        "dates": one_of("number", "cyclic", "drop"),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        supplementary: Any = None,
        numbers: str = "standardize",
        missing: str = "error",
        max_levels: int = 50,
        dates: str = "number",
        on_unusable: str = "error",
        rules: int = column_kinds.RULES,
        plan: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())
