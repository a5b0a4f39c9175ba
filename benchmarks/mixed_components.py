"""FAMD and MCA beside FactoMineR and ca (in R) and prince, on FactoMineR's own examples.

    python -m benchmarks.mixed_components

needs R with the packages FactoMineR and ca, and prince. It prints the largest difference of each quantity, in units of
its largest value; signs of components are free.
"""

import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import lowdim

R = """
suppressMessages(library(FactoMineR)); dir <- commandArgs(TRUE)[1]
wr <- function(x, name) write.table(format(as.matrix(x), digits = 17, scientific = TRUE), quote = FALSE, sep = ",",
  file.path(dir, paste0(name, ".csv")), row.names = FALSE, col.names = FALSE)
cols <- function(r, k) {  # of the rows, the columns and the levels
  wr(r$eig[, 1], paste0(k, "_eig")); wr(r$ind$coord, paste0(k, "_rows")); wr(r$ind$cos2, paste0(k, "_row_cos2"))
  wr(r$ind$contrib, paste0(k, "_row_contributions"))
  if (!is.null(r$ind.sup)) { wr(r$ind.sup$coord, paste0(k, "_new")); wr(r$ind.sup$cos2, paste0(k, "_new_cos2")) }
  if (!is.null(r$quali.sup)) { wr(r$quali.sup$coord, paste0(k, "_sup")); wr(r$quali.sup$cos2, paste0(k, "_sup_cos2"))
    wr(r$quali.sup$v.test, paste0(k, "_sup_v")); wr(r$quali.sup$eta2, paste0(k, "_sup_eta2")) }
  if (!is.null(r$quanti.sup)) wr(r$quanti.sup$coord, paste0(k, "_sup_correlations")) }
levs <- function(r, v, k) { wr(v$coord, paste0(k, "_levels")); wr(v$cos2, paste0(k, "_level_cos2"))
  wr(v$contrib, paste0(k, "_level_contributions")); wr(v$v.test, paste0(k, "_level_v")) }
data(wine); w <- wine[, c(1, 2, 16, 22, 29, 28, 30, 31)]; write.csv(w, file.path(dir, "wine.csv"), row.names = FALSE)
r <- FAMD(w, ncp = 4, graph = FALSE); cols(r, "wine"); levs(r, r$quali.var, "wine")
wr(r$var$coord, "wine_columns"); wr(r$var$cos2, "wine_column_cos2"); wr(r$var$contrib, "wine_column_contributions")
wr(r$quanti.var$coord, "wine_correlations")
cols(FAMD(w, ncp = 4, graph = FALSE, sup.var = c(1, 8), ind.sup = 1:3), "winesup")
data(tea); write.csv(tea, file.path(dir, "tea.csv"), row.names = FALSE)
r <- MCA(tea, ncp = 5, quanti.sup = 19, quali.sup = 20:36, graph = FALSE); cols(r, "tea"); levs(r, r$var, "tea")
wr(r$var$eta2, "tea_columns")
data(poison); write.csv(poison, file.path(dir, "poison.csv"), row.names = FALSE)
cols(MCA(poison, ncp = 4, quanti.sup = 1:2, quali.sup = 3:4, ind.sup = 50:55, graph = FALSE), "poison")
m <- ca::mjca(tea[, 1:18], lambda = "adjusted"); wr(cbind(m$sv^2, m$inertia.e), "tea_greenacre")
"""


def main() -> None:
    """Run R, then lowdim and prince, and print the differences."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reference.R").write_text(R)
        subprocess.run(["Rscript", str(folder / "reference.R"), str(folder)], check=True)
        tables = {name: pl.read_csv(folder / f"{name}.csv") for name in ("wine", "tea", "poison")}
        _wine(folder, tables["wine"])
        _surveys(folder, tables["tea"], tables["poison"])
    _prince(tables["wine"], tables["tea"])


def _wine(folder: Path, table: pl.DataFrame) -> None:
    model = lowdim.FAMD(4).fit(table)
    _rows(folder, "wine", model, table)
    _levels(folder, "wine", model)
    _show("wine: columns", model.columns(), folder / "wine_columns.csv", order=_numbers_first(model))
    _show("wine: cos2 of columns", model.columns("cos2"), folder / "wine_column_cos2.csv", order=_numbers_first(model))
    shares = model.columns("contributions"), folder / "wine_column_contributions.csv"
    _show("wine: contributions of columns", *shares, 0.01, order=_numbers_first(model))
    _show("wine: correlations", model.columns("correlations"), folder / "wine_correlations.csv")
    model = lowdim.FAMD(4, supplementary=["Label", "Typical"]).fit(table[3:])
    _rows(folder, "winesup", model, table[3:], table[:3])
    _supplementary(folder, "winesup", model)


def _surveys(folder: Path, tea: pl.DataFrame, poison: pl.DataFrame) -> None:
    model = lowdim.MCA(5, supplementary=tea.columns[18:]).fit(tea)
    _rows(folder, "tea", model, tea)
    _levels(folder, "tea", model)
    _show("tea: columns", model.columns().filter(pl.col("active")), folder / "tea_columns.csv")
    _supplementary(folder, "tea", model)
    model = lowdim.MCA(4, supplementary=poison.columns[:4]).fit(poison[:49])
    _rows(folder, "poison", model, poison[:49], poison[49:])
    _supplementary(folder, "poison", model)
    reference = np.loadtxt(folder / "tea_greenacre.csv", delimiter=",")[:3]
    model = lowdim.MCA(3, correction="greenacre").fit(tea[:, :18])
    _print("tea: Greenacre's eigenvalues (ca)", model.eigenvalues_, reference[:, 0])
    _print("tea: Greenacre's shares (ca)", model.explained_variance_ratio_, reference[:, 1])


def _prince(wine: pl.DataFrame, tea: pl.DataFrame) -> None:
    import prince

    frame = wine.to_pandas()
    peer = prince.FAMD(n_components=4).fit(frame)
    model = lowdim.FAMD(4).fit(frame)
    _print("wine: eigenvalues (prince)", model.eigenvalues_, peer.eigenvalues_)
    _print("wine: rows (prince)", model.transform(frame), peer.row_coordinates(frame).to_numpy())
    frame = tea[:, :18].to_pandas()
    for correction in (None, "greenacre"):
        peer = prince.MCA(n_components=4, correction=correction, engine="scipy").fit(frame)
        model = lowdim.MCA(4, correction=correction).fit(frame)
        _print(f"tea: eigenvalues (prince, {correction})", model.eigenvalues_, peer.eigenvalues_)
        shares = 100 * model.explained_variance_ratio_
        _print(f"tea: shares (prince, {correction})", shares, peer.percentage_of_variance_)
    _print("tea: rows (prince)", model.transform(frame), peer.row_coordinates(frame).to_numpy())


def _rows(folder: Path, name: str, model: Any, table: pl.DataFrame, new: pl.DataFrame | None = None) -> None:
    k = len(model.eigenvalues_)
    _print(f"{name}: eigenvalues", model.eigenvalues_, np.loadtxt(folder / f"{name}_eig.csv")[:k])
    _show(f"{name}: rows", model.transform(table), folder / f"{name}_rows.csv")
    _show(f"{name}: cos2 of rows", model.row_cos2(table), folder / f"{name}_row_cos2.csv")
    _show(
        f"{name}: contributions of rows", model.row_contributions(table), folder / f"{name}_row_contributions.csv", 0.01
    )
    if new is not None:
        _show(f"{name}: new rows", model.transform(new), folder / f"{name}_new.csv")
        _show(f"{name}: cos2 of new rows", model.row_cos2(new), folder / f"{name}_new_cos2.csv")


def _levels(folder: Path, name: str, model: Any) -> None:
    active = pl.col("active")
    _show(f"{name}: levels", model.levels().filter(active), folder / f"{name}_levels.csv")
    _show(f"{name}: cos2 of levels", model.levels("cos2").filter(active), folder / f"{name}_level_cos2.csv")
    shares = model.levels("contributions"), folder / f"{name}_level_contributions.csv"
    _show(f"{name}: contributions of levels", *shares, 0.01)
    _show(f"{name}: v-test of levels", model.levels("v_test").filter(active), folder / f"{name}_level_v.csv")


def _supplementary(folder: Path, name: str, model: Any) -> None:
    passive = ~pl.col("active")
    for what, file in (("coordinates", "sup"), ("cos2", "sup_cos2"), ("v_test", "sup_v")):
        _show(f"{name}: {what} of other levels", model.levels(what).filter(passive), folder / f"{name}_{file}.csv")
    found = model.columns().filter(passive)
    numbers = model.columns("correlations")["column"].to_list()
    _show(f"{name}: eta2 of others", found.filter(~pl.col("column").is_in(numbers)), folder / f"{name}_sup_eta2.csv")
    others = model.columns("correlations").filter(passive)
    _show(f"{name}: correlations of others", others, folder / f"{name}_sup_correlations.csv")


def _numbers_first(model: Any) -> list[int]:
    names, numbers = model.columns()["column"].to_list(), model.columns("correlations")["column"].to_list()
    return [names.index(name) for name in numbers] + [j for j, name in enumerate(names) if name not in numbers]


def _show(what: str, found: Any, path: Path, unit: float = 1.0, order: list[int] | None = None) -> None:
    """Print the largest difference from a table of R, in ``unit``; rows of levels may be in another order."""
    reference = np.atleast_2d(np.loadtxt(path, delimiter=",")) * unit
    values = found.select(pl.col(pl.Float64)).to_numpy() if isinstance(found, pl.DataFrame) else np.asarray(found)
    _print(what, values if order is None else values[order], reference)


def _print(what: str, found: Any, reference: Any) -> None:
    found, reference = np.abs(found), np.abs(reference)
    if found.shape != reference.shape:
        print(f"{what:45s} {found.shape} | {reference.shape}")
        return
    if found.ndim == 2:  # rows by their values, since levels are in another order
        found, reference = (A[np.lexsort(A.round(9).T)] for A in (found, reference))
    print(f"{what:45s} {np.abs(found - reference).max() / np.abs(reference).max():.1e}")


if __name__ == "__main__":
    main()
