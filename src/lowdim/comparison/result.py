"""Result of a comparison: embeddings, measures, costs, and a summary."""

import html
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.comparison.candidates import Candidate
from lowdim.comparison.data_summary import Facts
from lowdim.comparison.measures import BY_NAME, KINDS, Found, Kind, best
from lowdim.data.categories import Categories, Values
from lowdim.methods.linear import LinearReducer
from lowdim.methods.prepared_table import PreparedTable
from lowdim.solve.procrustes import motion

if TYPE_CHECKING:
    import polars as pl

    from lowdim.quality.reliability import Reliability


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of one method: an embedding, its measures and its cost."""

    candidate: Candidate
    embedding: np.ndarray
    found: Found
    seconds: float
    memory: int  # peak memory in bytes, above that before
    warnings: tuple[str, ...]  # warnings of the method about the data or the fit

    @property
    def name(self) -> str:
        """Name in the comparison."""
        return self.candidate.name


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods side by side on one data set; returned by :func:`lowdim.compare`.

    Attributes
    ----------
    table : polars DataFrame
        One row per method, best first: its measures, its seconds and its memory in megabytes.
    best : str
        The method that ranks first.
    embeddings : dict of str to arrays (n_samples, n_components)
        The maps.
    models : dict of str to estimators
        The fitted methods.
    failed, left_out : dict of str to str
        Methods without an embedding, and the reason: those that failed, and those that did not suit the data.
    warnings : dict of str to str
        Warnings of the methods.
    verdict : str
        Summary in words.
    facts : Facts
        The data at a glance.
    turned : dict of str to arrays (n_samples, n_components)
        The maps, rotated and reflected so that rows are in the same corner of each.
    chance : dict of str to float
        What each score by labels is on a map that has nothing to do with them.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lowdim.compare(X, y, methods=["pca", "lda"])
    Comparison of pca, lda on 150 × 4 rows and columns; best by rnx_auc: pca
    """

    X: Any
    labels: Categories | Values | None
    prepared: PreparedTable  # the table that the rows come from
    facts: Facts
    outcomes: list[Outcome]
    failed: dict[str, str]
    left_out: dict[str, str]
    by: str
    random_state: int
    n_components: int
    image_shape: tuple[int, int] | None
    chance: dict[str, float]

    @property
    def scale(self) -> bool:
        """Whether each column was divided by its standard deviation."""
        return self.prepared.scale

    def __repr__(self) -> str:
        names = ", ".join(outcome.name for outcome in self.ranked)
        shape = f"{self.facts.rows:,} × {self.facts.columns:,} rows and columns"
        return f"Comparison of {names} on {shape}; best by {self.by}: {self.best}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.verdict)}</p>{self.table._repr_html_()}"

    @cached_property
    def ranked(self) -> list[Outcome]:
        """Outcomes, best first."""
        kind = BY_NAME[self.by]
        values = self.values(kind)
        worst = -np.inf if kind.high else np.inf
        return sorted(self.outcomes, key=lambda outcome: values.get(outcome.name, worst), reverse=kind.high)

    @cached_property
    def kinds(self) -> list[Kind]:
        """Measures that at least one map has."""
        return [kind for kind in KINDS if self.values(kind)]

    def values(self, kind: Kind) -> dict[str, float]:
        """One measure, by method."""
        found = {outcome.name: outcome.found.values for outcome in self.outcomes}
        return {name: values[kind.name] for name, values in found.items() if kind.name in values}

    @property
    def best(self) -> str:
        """Name of the method that ranks first."""
        return self.ranked[0].name

    @property
    def embeddings(self) -> dict[str, np.ndarray]:
        """Maps by method, best first."""
        return {outcome.name: outcome.embedding for outcome in self.ranked}

    @cached_property
    def turned(self) -> dict[str, np.ndarray]:
        """Maps by method, best first, turned so that rows are in the same corner of each.

        They are rotated, reflected and shifted onto the map of PCA, or else the best, which keeps all distances. Maps
        whose columns are directions of the data, as those of PCA and LDA, stay as they are.
        """
        fixed = {one.name for one in self.ranked if isinstance(one.candidate.model, LinearReducer)}
        onto = self.embeddings.get("pca", self.ranked[0].embedding)
        apart = {name for name, Y in self.embeddings.items() if Y.shape[1] != onto.shape[1]}
        return {
            name: Y if name in fixed | apart else motion(Y, onto, scaled=False).of(Y).astype(Y.dtype)
            for name, Y in self.embeddings.items()
        }

    @property
    def models(self) -> dict[str, Any]:
        """Fitted methods, best first, each after the steps that prepared the data."""
        return {outcome.name: self.prepared.whole(outcome.candidate.model) for outcome in self.ranked}

    @property
    def warnings(self) -> dict[str, str]:
        """Warnings of the methods."""
        return {outcome.name: " ".join(outcome.warnings) for outcome in self.ranked if outcome.warnings}

    @cached_property
    def table(self) -> "pl.DataFrame":
        """Measures and costs, one row per method, best first."""
        import polars as pl

        columns: dict[str, list[Any]] = {"method": [outcome.name for outcome in self.ranked]}
        for kind in self.kinds:
            values = self.values(kind)
            columns[kind.name] = [
                float(v) if (v := values.get(name)) is not None else None for name in columns["method"]
            ]
        columns["seconds"] = [outcome.seconds for outcome in self.ranked]
        columns["megabytes"] = [outcome.memory / 2**20 for outcome in self.ranked]
        return pl.DataFrame(columns)

    @cached_property
    def reliability(self) -> "dict[str, Reliability]":
        """Which rows of each map not to believe, by method; empty for fewer than 50 rows."""
        from lowdim.quality.fitted_map import FEWEST
        from lowdim.quality.reliability import reliability_of_maps

        if self.facts.rows < FEWEST:
            return {}
        return reliability_of_maps(self.X, self.embeddings, self.random_state)

    @cached_property
    def verdict(self) -> str:
        """Summary in words."""
        from lowdim.comparison.verdict import tell

        return tell(self)

    def title(self, kind: Kind) -> str:
        """Title of a measure, with its level of chance if it has one."""
        return f"{kind.title} (chance {self.chance[kind.name]:.2f})" if kind.name in self.chance else kind.title

    def leader(self, kind: Kind) -> str | None:
        """Name of the method that is best by one measure."""
        return best(kind, self.values(kind))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        ids: Any = None,
        commands: list[str] | None = None,
    ) -> None:
        """Write everything to one self-contained HTML page.

        Parameters
        ----------
        path : str or path-like
            The file; it is written whole or not at all.
        title : str, optional
            Heading of the page.
        ids : array of shape (n_samples,), optional
            Identifier of each row, shown with it; those of the table by default.
        commands : list of str, optional
            Commands that reproduce the page; Python code by default.
        """
        from lowdim.show.report import write

        write(self, path, title=title, ids=ids, commands=commands)
