"""Preparation of tables: numbers, categories, dates and missing values become columns of comparable weight.

A column of numbers is centred and divided by its standard deviation; level k of a category, of share ``p_k``,
becomes ``(z_k − p_k) / √p_k``, where ``z_k`` is 1 in rows of that level and 0 elsewhere. PCA of the result is factor
analysis of mixed data (Pagès 2004): in no direction has a category more variance than one column of numbers.
"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.data import column_kinds, column_plans, options, preparation
from lowdim.data.compat import output_of
from lowdim.data.table_columns import Columns
from lowdim.methods import onnx_table
from lowdim.methods.base import applying, fitting
from lowdim.methods.table_reducer import TableReducer

_plan = options.none | options.Rule(lambda value: isinstance(value, dict), "a dictionary of columns")


class Prepare(TableReducer):
    """Preparation of a table: turns every column into numbers, by its kind.

    The kind of a column is recognised by these rules, in this order; ``plan_`` says what was decided, and why:

    - one value only: ``constant``, left out;
    - booleans, or text of yes and no in one language: ``yes/no``, which become 0 and 1;
    - digits that begin with zeros, such as postcodes: ``code``, treated as a category where the codes recur;
    - numbers, or text that spells numbers ("1.234,5", "$1,200", "73%", "(1,614)"), all in one unit: ``number``;
      integers that number the rows: ``identifier``, left out;
    - dates, or text that spells dates: ``date``, which become days since 1970 (of times with a zone, in UTC);
    - types that order their levels, answers of a known scale ("agree", "never", "XL"), or numbers with words:
      ``ordinal``, which become 0, 1, 2, … in that order;
    - cells that combine a few options ("bus; train"): ``multi-select``, one indicator for each option;
    - text of many words: ``text``; with more than nine in ten values distinct: ``identifier``; both are left out;
    - any other text: ``category``, whose spelling variants ("Rome", "rome ") are merged.

    A column that is mostly, but not entirely, numbers or dates is refused, naming the rows.

    Parameters
    ----------
    numbers : {"standardize", "pooled", "as_is", "robust", "log1p", "ranks", "gower"}
        Scaling of numbers: mean 0 and variance 1; centred and all divided by one number, the root mean square of their
        standard deviations, for columns that share one unit; unchanged; centred by the median and scaled by the
        quartiles; log(1 + x), then standardised; their ranks, scaled to variance 1; or so that Manhattan distances of
        the prepared rows are Gower's distances of the table, for methods with ``metric="manhattan"``. Unless it is
        ``"as_is"`` or ``"gower"``, other kinds are scaled to match: 0 and 1, days and ordinal codes are standardised,
        and the columns of a category are scaled as in factor analysis of mixed data, so that a category weighs like one
        column of numbers.
    missing : {"error", "mean", "median", "drop"}
        Missing values: refused; filled by the mean of the column (a category: by the mean of each of its columns);
        filled by the median (a category: by its most frequent level); or their rows are left out, in ``transform`` too
        (:meth:`complete` says which are kept).
    indicators : bool
        Whether to add an indicator column for each column with filled values.
    categories : {"onehot", "ordinal", "drop"}
        One column for each level; codes 0, 1, 2, … in the order of the type, the plan or the alphabet; or left out. A
        level that ``fit`` did not see is taken as rare where rare ones are pooled, otherwise the row gets the mean of
        each column, with a warning; as an ordinal level it is refused.
    max_levels : int
        Maximum number of columns per category; with more levels, the rarest share one column.
    dates : {"number", "cyclic", "drop"}
        Days since 1970; these and the sine and cosine of the time of year, week and day; or left out.
    on_unusable : {"error", "drop"}
        Columns that cannot be used (mixtures of numbers and text, no value, lists, too many levels): refused, all in
        one message; or left out with a warning.
    rules : int
        Version of the rules for kinds: 2, or 1 for those before units, ordered answers, several options, codes, free
        text and spelling variants were recognised. Plans and model files without a version are of version 1.
    plan : dict or None
        Settings for single columns: a kind (``"number"``, ``"yes/no"``, ``"category"``, ``"ordinal"``,
        ``"multi-select"``, ``"date"``, ``"drop"``), a list of levels in their order, or a dictionary of any of
        ``kind``, ``numbers``, ``missing``, ``indicators``, ``categories``, ``max_levels``, ``dates``, ``order``,
        ``format`` (of dates), ``separator`` (of options), ``merge`` (of spelling variants, with a kind given) and
        ``weight`` (a factor).
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    plan_ : polars DataFrame
        One row per column of the table: column, kind, what was done, why, missing values, columns it became.
    n_features_in_ : int
        Columns seen in ``fit``.

    Examples
    --------
    >>> import lowdim, polars as pl
    >>> table = pl.DataFrame({"height": [1.6, 1.7, 1.8], "city": ["Rome", "Oslo", "Rome"], "own": ["yes", "no", "no"]})
    >>> prepare = lowdim.Prepare().fit(table)
    >>> prepare.get_feature_names_out().tolist()
    ['height', 'city=Oslo', 'city=Rome', 'own']
    >>> prepare.plan_["done"].to_list()
    ['standardised', 'one-hot encoded to 2, scaled as a group', 'coded 0 and 1, standardised']
    """

    _rules = column_plans.RULES | {
        "on_unusable": options.one_of("error", "drop"),
        "plan": _plan,
        "verbose": options.integer(0),
    }
    _no_onnx = None
    n_jobs = None  # polars and NumPy read columns; no kernel of ours runs

    def __init__(
        self,
        numbers: str = "standardize",
        *,
        missing: str = "error",
        indicators: bool = False,
        categories: str = "onehot",
        max_levels: int = 50,
        dates: str = "number",
        on_unusable: str = "error",
        rules: int = column_kinds.RULES,
        plan: dict[str, Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self.numbers = numbers
        self.missing = missing
        self.indicators = indicators
        self.categories = categories
        self.max_levels = max_levels
        self.dates = dates
        self.on_unusable = on_unusable
        self.rules = rules
        self.plan = plan
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "Prepare":
        """Learn what each column holds and what it needs.

        Parameters
        ----------
        X : DataFrame of pandas or polars, array or list of rows
            The table.
        y : ignored
            Present for compatibility with scikit-learn.

        Returns
        -------
        Prepare
            This object.
        """
        self._learn(self._take_table(X, reset=True, minimum=2))
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn what each column needs, and return the prepared table.

        Parameters
        ----------
        X : DataFrame of pandas or polars, array or list of rows
            The table.
        y : ignored
            Present for compatibility with scikit-learn.

        Returns
        -------
        array (n_samples, n_columns)
            The prepared table.
        """
        table = self._take_table(X, reset=True, minimum=2)
        self._learn(table)
        return self._apply(table, X)

    @applying
    def transform(self, X: Any) -> Any:
        """Prepare rows as those of ``fit`` were.

        Parameters
        ----------
        X : of the same columns as in ``fit``
            The rows.

        Returns
        -------
        array (n_samples, n_columns)
            The prepared rows; with ``missing="drop"`` those without missing values.
        """
        return self._apply(self._take_table(X, reset=False), X)

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        if method == "transform" and "drop" in {self.missing, *(one.missing for one in self._made)}:
            raise ValueError(
                "Prepare: missing='drop' would change how many rows each block of a Dask collection has. Use "
                "missing='mean' or 'median', or drop the rows before, X.dropna()."
            )
        return super()._outline(method, dtype)[0], bool if method == "complete" else np.float64

    def _learn(self, table: Columns) -> None:
        defaults = {name: getattr(self, name) for name in column_plans.RULES}
        asked = column_plans.wishes(defaults, self.plan, table.names)
        recipes, left_out = preparation.learn(table, asked, self.on_unusable)
        made = [f"{name}{suffix}" for name, one in zip(table.names, recipes, strict=True) for suffix in one.suffixes]
        if len(set(made)) < len(made):
            twice = max(made, key=made.count)
            raise ValueError(
                f"Prepare: prepared columns need unique names; two would be called {twice!r}, a column "
                "of that name and a level of a category. Rename the column."
            )
        self._recipes = [asdict(recipe) for recipe in recipes]
        self._rows_left_out = left_out

    def _apply(self, table: Columns, X: Any) -> Any:
        """Prepared rows; with the index of a pandas DataFrame."""
        recipes = self._made
        if self.missing != "error":  # set after the fit, it applies to missing values in new rows
            recipes = [replace(one, missing=self.missing) if one.missing == "error" else one for one in recipes]
        out, lost = preparation.encode(recipes, table)
        if not lost.any():
            return out
        if hasattr(X, "iloc") and output_of(self) == "pandas":
            return type(X)(out[~lost], index=X.index[~lost], columns=self.get_feature_names_out())
        return out[~lost]

    def _onnx_inputs(self) -> list[str]:
        return [name for name, one in zip(self._names_in(None), self._made, strict=True) if one.suffixes]

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        return onnx_table.numbers(graph, X, [one for one in self._made if one.suffixes], self._onnx_inputs())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prepared columns.

        Parameters
        ----------
        input_features : list of str, optional
            Names of the columns of the table, where ``fit`` saw none.

        Returns
        -------
        array of str
            The name of the column; of a category with ``=`` and the level.
        """
        check_is_fitted(self)
        pairs = zip(self._names_in(input_features), self._made, strict=True)
        return np.array([f"{name}{suffix}" for name, recipe in pairs for suffix in recipe.suffixes], dtype=object)
