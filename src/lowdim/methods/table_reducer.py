"""Base class of methods that take a table: columns of numbers, text and dates, each treated by its kind."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.data import preparation, validation
from lowdim.data.arrow import from_arrow
from lowdim.data.column_recipes import Recipe, check_recipe
from lowdim.data.compat import check_feature_names, check_feature_names_in, check_n_features
from lowdim.data.table_columns import Columns, columns_of
from lowdim.methods.base import Reducer, applying
from lowdim.persist import fields
from lowdim.work import dispatch

if TYPE_CHECKING:
    import polars as pl


class TableReducer(Reducer):
    """A method that learns a recipe for each column of a table (``_recipes``), and applies them to new rows.

    A subclass has the parameter ``missing``.
    """

    _any_columns = True
    _no_onnx: ClassVar[str | None] = "columns of text are read by lowdim"
    _recipes: list[dict[str, Any]]
    _rows_left_out: int
    missing: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _take_table(self, X: Any, *, reset: bool, minimum: int = 1) -> Columns:
        """Validated columns, noted (``reset``, in fit) or compared with those of fit."""
        X = from_arrow(X)
        dispatch.require_supported(X, self._name)
        table = columns_of(X, self._name, minimum=minimum)
        with validation.advising():
            check_feature_names(self, X, reset=reset)
            check_n_features(self, table.X, reset=reset)
        if hasattr(self, "feature_names_in_"):
            table.names = [str(name) for name in self.feature_names_in_]
        return table

    @property
    def _made(self) -> list[Recipe]:
        """Recipes as objects."""
        return [Recipe(**state) for state in self._recipes]

    def _applied(self) -> list[Recipe]:
        """Recipes as new rows are prepared by them."""
        return self._made

    @applying
    def complete(self, X: Any) -> NDArray[np.bool_]:
        """Which rows have no missing value in the columns used, except values that are filled.

        Parameters
        ----------
        X : of the same columns as in ``fit``
            The rows.

        Returns
        -------
        array (n_samples,) of bool
            The rows that ``missing="drop"`` keeps.
        """
        read = enumerate(self._applied())
        unfilled = [j for j, one in read if one.action != "drop" and one.missing in ("error", "drop")]
        return ~preparation.rows_with_gaps(self._take_table(X, reset=False), unfilled)

    @property
    def plan_(self) -> "pl.DataFrame":
        """What each column holds, what was done to it and why."""
        import polars as pl

        check_is_fitted(self)
        names = self._names_in(None)
        rows = [
            (name, r.kind, r.done, r.why, r.gaps, len(r.suffixes)) for name, r in zip(names, self._made, strict=True)
        ]
        return pl.DataFrame(rows, schema=["column", "kind", "done", "why", "missing", "columns"], orient="row")

    def describe(self) -> list[str]:
        """What was done to the table, in one line per kind of column.

        Returns
        -------
        list of str
            Such as "3 categorical columns one-hot encoded to 11".

        Examples
        --------
        >>> import lowdim
        >>> lowdim.Prepare("ranks").fit([[1, 7], [5, 7], [3, 7]]).describe()
        ['1 number column replaced by ranks', '1 constant column left out: x1']
        """
        check_is_fitted(self)
        return preparation.describe(self._made, self._names_in(None), self._rows_left_out)

    def sources(self) -> list[int]:
        """Position in the table of the column that each prepared column comes from.

        Returns
        -------
        list of int
            One position per prepared column; those of a category share one.
        """
        check_is_fitted(self)
        return [j for j, recipe in enumerate(self._applied()) for _ in recipe.suffixes]

    def _names_in(self, input_features: Any) -> list[str]:
        return [str(name) for name in check_feature_names_in(self, input_features)]

    @classmethod
    def _params_from_file(cls, params: dict[str, Any]) -> dict[str, Any]:
        """A file that states no rules was written by version 1 of them; another fit uses them again."""
        return {"rules": 1} | params

    def _state(self) -> dict[str, fields.Field]:
        recipe = fields.tested(check_recipe)
        return {"_recipes": fields.each(recipe, "d"), "_rows_left_out": fields.count()}
