"""The tables of docs/coming_from.md: every parameter and fitted attribute of a peer's class, and what it is here.

``python docs/_site/peer_names.py`` writes them again from the signatures of both sides; peers that are not installed
keep their tables. A name of a peer that is neither ours nor explained in ``PAIRS`` is an error.
"""

import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "coming_from.md"
START, END = "<!-- names:start -->", "<!-- names:end -->"
NEVER_CHANGED = "the rows given are never changed"


class Pair(NamedTuple):
    """A class of a peer and ours, with the names that differ: what to write instead, or why there is no such name."""

    peer: str
    ours: str
    renamed: dict[str, str] = {}
    absent: dict[str, str] = {}
    notes: dict[str, str] = {}  # of names that both have

    @property
    def label(self) -> str:
        """What a reader imports."""
        return re.sub(r"^sklearn\.", "", self.peer)


_SOLVED = "chosen by the eigensolver, which reports `residual_`"
_FEWER = '`"auto"`: `n_neighbors_` is the number used'
_SEARCH = "searches are exact, and chosen by the data"
_LABELS = {"tqdm_kwds": "`verbose=1` shows progress bars", "transform_seed": "placing new rows uses no random numbers"}
_UMAP = {
    "low_memory": "memory is estimated before it is allocated",
    "transform_queue_size": "`neighbor_search`",
    "a": "computed from `min_dist` and `spread`: `a_`",
    "b": "computed from `min_dist` and `spread`: `b_`",
    "angular_rp_forest": '`metric="cosine"` needs no option',
    "target_metric_kwds": "its metrics have no parameters",
    "unique": "equal rows always have the same position",
    "output_metric": "maps are Euclidean",
    "output_metric_kwds": "maps are Euclidean",
    "transform_mode": "the estimator returns a map; `graph_` has the graph",
    "disconnection_distance": "components of the graph are arranged by the distances of their means",
    "output_dens": "`densmap=True` gives `rad_orig_` and `rad_emb_`; of any map: `quality.density_preservation`",
    **_LABELS,
}
_FACTORS = {
    "n_iter": "solved directly",
    "random_state": "solved directly",
    "engine": "solved directly",
    "copy": NEVER_CHANGED,
    "check_input": "always checked",
    "one_hot": "columns of numbers or of text are read as they are",
    "one_hot_prefix_sep": "`levels()` has the column and the level",
    "one_hot_columns_to_drop": "not available",
}
_PLS = "`PLSRegression` predicts"
PAIRS = (
    Pair(
        "sklearn.decomposition.PCA",
        "PCA",
        absent={
            "copy": NEVER_CHANGED,
            "iterated_power": "the block Krylov solver stops by its residual",
            "n_oversamples": "set by the solver",
            "power_iteration_normalizer": "set by the solver",
        },
        notes={
            "n_components": 'also `"elbow"`; a proportion with every solver',
            "tol": 'of EM, under `missing="em"`; that of the eigensolver is set',
            "svd_solver": 'scikit-learn\'s values, and `"gram"`, `"streaming"`; `solver_` is the one used',
        },
    ),
    Pair(
        "sklearn.decomposition.IncrementalPCA",
        "PCA",
        {"n_samples_seen_": "n_samples_"},
        {
            "copy": NEVER_CHANGED,
            "batch_size": '`partial_fit` takes chunks of any size; `svd_solver="streaming"` reads a memory map',
            "batch_size_": "as `batch_size`",
            "var_": "`get_covariance().diagonal()`",
        },
    ),
    Pair(
        "sklearn.decomposition.KernelPCA",
        "KernelPCA",
        {"X_fit_": "landmarks_"},
        {
            "kernel_params": "pass a callable as `kernel`",
            "max_iter": _SOLVED,
            "iterated_power": _SOLVED,
            "remove_zero_eig": "components without variance are left out",
            "copy_X": NEVER_CHANGED,
            "X_transformed_fit_": "`fit_transform` returns them",
        },
        {
            "n_components": "all of them are seldom wanted",
            "gamma": '`"scale"` is 1/(n_features · variance); scikit-learn\'s None is 1/n_features',
            "kernel": "scikit-learn's names",
            "alpha": "relative to the mean diagonal of the kernel matrix; scikit-learn's is absolute",
            "tol": "share of the trace that a low-rank `approximation` may miss",
            "eigen_solver": 'scikit-learn\'s values, and `"krylov"`, `"matrix_free"`',
        },
    ),
    Pair(
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "LDA",
        {"scalings_": "components_", "xbar_": "mean_"},
        {
            "store_covariance": "not kept",
            "covariance_": "not kept",
            "covariance_estimator": "`shrinkage`, with every solver",
        },
        {
            "solver": "names other algorithms with the same results",
            "priors": '`"empirical"`, `"uniform"` or an array; the covariance is weighted by them, as by '
            '`solver="eigen"`',
            "scalings_": "as rows",
        },
    ),
    *(
        Pair(
            f"sklearn.cross_decomposition.{name}",
            name,
            {},
            {
                "max_iter": "singular pairs are computed by LAPACK",
                "tol": "as `max_iter`",
                "n_iter_": "as `max_iter`",
                "algorithm": "as `max_iter`",
                "copy": NEVER_CHANGED,
                **({} if name == "PLSRegression" else {"coef_": _PLS, "intercept_": _PLS}),
                **(
                    {"x_scores_": "`transform(X)`", "y_scores_": "`transform(X, y)`"} if name == "PLSRegression" else {}
                ),
            },
        )
        for name in ("PLSRegression", "PLSCanonical")
    ),
    Pair(
        "sklearn.decomposition.NMF",
        "NMF",
        absent={
            "alpha_W": "not available",
            "alpha_H": "not available",
            "l1_ratio": "not available",
            "shuffle": "sweeps go in order",
        },
        notes={
            "solver": '`"cd"` means `"hals"`',
            "tol": "of the loss, not of the violation",
            "components_": "each of length 1, in the order of what they carry",
        },
    ),
    Pair(
        "sklearn.decomposition.FastICA",
        "FastICA",
        renamed={"fun_args": "alpha"},
        absent={
            "whiten": "sources always have variance 1",
            "w_init": "drawn by `random_state`",
            "whiten_solver": "chosen by the shape, as by `PCA`",
            "whitening_": "not kept: `components_` holds the product with it",
        },
        notes={"components_": "in the order of the variance they add"},
    ),
    Pair(
        "sklearn.decomposition.FactorAnalysis",
        "FactorAnalysis",
        absent={
            "copy": NEVER_CHANGED,
            "noise_variance_init": "ones",
            "svd_method": "eigenvectors of the covariance",
            "iterated_power": "eigenvectors of the covariance",
            "random_state": "uses no random numbers",
        },
        notes={"rotation": '`"promax"` too'},
    ),
    Pair(
        "sklearn.decomposition.SparsePCA",
        "SparsePCA",
        absent={
            "method": "coordinate descent",
            "U_init": "begins at principal directions",
            "V_init": "begins at principal directions",
            "random_state": "uses no random numbers",
            "error_": "`explained_variance_ratio_`",
        },
        notes={
            "alpha": "a share of the penalty that leaves no loading",
            "ridge_alpha": "in units of the mean variance",
        },
    ),
    Pair(
        "sklearn.neighbors.NeighborhoodComponentsAnalysis",
        "NCA",
        absent={
            "warm_start": "not available",
            "callback": "not available",
            "random_state_": "not kept",
        },
    ),
    Pair(
        "sklearn.decomposition.TruncatedSVD",
        "TruncatedSVD",
        {"algorithm": "svd_solver"},
        {
            "n_iter": "the block Krylov solver stops by its residual",
            "n_oversamples": "set by the solver",
            "power_iteration_normalizer": "set by the solver",
            "tol": "set by the solver",
        },
    ),
    *(
        Pair(
            f"sklearn.random_projection.{kind}RandomProjection",
            f"{kind}RandomProjection",
            {},
            {
                "compute_inverse_components": "`np.linalg.pinv` of the components",
                "inverse_components_": "as `compute_inverse_components`",
                "dense_output": "results are dense",
            },
            {"n_components": '`"auto"` as in scikit-learn, where it is the default'},
        )
        for kind in ("Gaussian", "Sparse")
    ),
    Pair(
        "sklearn.cross_decomposition.CCA",
        "CCA",
        {
            "x_weights_": "components_",
            "y_weights_": "y_components_",
            "x_rotations_": "components_",
            "y_rotations_": "y_components_",
        },
        {
            "scale": "correlations do not depend on the scale of a column",
            "max_iter": "closed form",
            "tol": "closed form",
            "copy": NEVER_CHANGED,
            "n_iter_": "closed form",
            "x_loadings_": "correlate the scores with the columns",
            "y_loadings_": "correlate the scores with the columns",
            "coef_": "a regression on the scores",
            "intercept_": "a regression on the scores",
        },
        {"n_components": "None keeps as many as there are"},
    ),
    Pair(
        "sklearn.manifold.TSNE",
        "TSNE",
        absent={
            "n_iter_without_progress": "stops where 50 iterations lower the divergence by less than 1e-5 of it",
            "min_grad_norm": "as `n_iter_without_progress`",
        },
        notes={
            "perplexity": '`"auto"` is 30, or less for few rows; a list averages several',
            "max_iter": "early exaggeration included",
            "method": '`"auto"`, `"exact"`, `"barnes_hut"`, `"fft"`',
            "learning_rate": '`"auto"` depends on the phase: `learning_rate_`',
        },
    ),
    Pair(
        "sklearn.manifold.Isomap",
        "Isomap",
        {"kernel_pca_": "eigenvalues_"},
        {
            "eigen_solver": _SOLVED,
            "tol": _SOLVED,
            "max_iter": _SOLVED,
            "path_method": "chosen by the size of the graph",
            "neighbors_algorithm": _SEARCH,
            "p": '`metric="minkowski", metric_params={"p": p}`',
            "nbrs_": "`parts.nearest` finds neighbours",
        },
        {"n_neighbors": _FEWER, "metric": "Euclidean on both sides"},
    ),
    Pair(
        "sklearn.manifold.LocallyLinearEmbedding",
        "LLE",
        absent={
            "eigen_solver": _SOLVED,
            "tol": _SOLVED,
            "max_iter": _SOLVED,
            "hessian_tol": "relative to the rounding",
            "modified_tol": "relative to the rounding",
            "neighbors_algorithm": _SEARCH,
            "nbrs_": "`parts.nearest` finds neighbours",
        },
        notes={"n_neighbors": _FEWER},
    ),
    Pair(
        "sklearn.manifold.SpectralEmbedding",
        "LaplacianEigenmaps",
        absent={
            "affinity": "neighbours by `n_neighbors` or `radius`, all pairs by `n_neighbors=None`, or "
            '`metric="precomputed"`',
            "eigen_solver": _SOLVED,
            "eigen_tol": _SOLVED,
        },
        notes={"gamma": '`"median"`, `"self_tuning"` or a number', "n_neighbors": _FEWER},
    ),
    Pair(
        "sklearn.manifold.MDS",
        "MDS",
        {"metric_mds": "kind", "eps": "tol", "normalized_stress": "normalized"},
        {
            "dissimilarity": '`metric="precomputed"`',
            "dissimilarity_matrix_": "`sklearn.metrics.pairwise_distances` computes it",
        },
        {
            "metric_mds": '`"metric"`, `"nonmetric"` or `"classical"`',
            "n_init": 'random starts; the default start is `init="classical"`, which needs one',
            "init": '`"classical"`, `"random"` or an array',
            "eps": "relative on both sides",
        },
    ),
    Pair(
        "sklearn.feature_selection.SequentialFeatureSelector",
        "SequentialFeatureSelector",
        notes={
            "estimator": "None is a linear discriminant, or least squares for a number",
            "tol": '`"auto"`: as long as the score improves',
            "direction": "with `floating=True`, steps may be undone",
        },
    ),
    Pair(
        "openTSNE.TSNE",
        "TSNE",
        {
            "n_iter": "max_iter",
            "theta": "angle",
            "initialization": "init",
            "neighbors": "neighbor_search",
            "negative_gradient_method": "method",
            "callbacks": "callback",
            "callbacks_every_iters": "callback_every",
        },
        {
            "n_interpolation_points": "the grid's error is fixed, and reported as `force_error_`",
            "min_num_intervals": "as `n_interpolation_points`",
            "ints_in_interval": "as `n_interpolation_points`",
            "initial_momentum": "set by the phase",
            "final_momentum": "set by the phase",
            "max_grad_norm": "steps are bounded",
            "max_step_norm": "steps are bounded",
            "knn_kwargs": "`metric_params`",
        },
        {
            "perplexity": '`"auto"` is 30, or less for few rows',
            "n_iter": "early exaggeration included: openTSNE's 250 + 500 are 750",
            "early_exaggeration": "12 on both sides",
            "exaggeration": "1 is none on both sides",
            "initialization": '`"pca"`, `"spectral"`, `"random"` or an array',
            "neighbors": '`"auto"`, `"exact"`, `"approximate"`; recall is measured',
            "negative_gradient_method": '`"fft"`, `"barnes_hut"`, `"exact"`',
            "callbacks": "returns True to stop",
            "learning_rate": '`"auto"` depends on the phase: `learning_rate_`',
            "n_jobs": "None is all cores",
        },
    ),
    Pair(
        "umap.UMAP",
        "UMAP",
        {"metric_kwds": "metric_params"},
        {
            **_UMAP,
            "force_approximation_algorithm": '`neighbor_search="approximate"`',
            "precomputed_knn": '`metric="precomputed"` with a sparse graph, as of `KNeighborsTransformer`',
        },
        {
            "n_neighbors": '`"auto"` is 15, or less for few rows',
            "n_epochs": '`"auto"` is 500 up to 10,000 rows, and 200 above, as there',
            "learning_rate": '`"auto"` is 2: with 1, 200 epochs do not reach the lowest loss of 70,000 rows',
            "repulsion_strength": "umap-learn's unit; [why 2](maths/umap.md)",
            "target_weight": "labels are used only above 0; a warning says so",
            "random_state": "same bits on all cores",
            "n_jobs": "None is all cores",
        },
    ),
    Pair(
        "pacmap.PaCMAP",
        "PaCMAP",
        {
            "distance": "metric",
            "num_iters": "max_iter",
            "intermediate": "callback",
            "intermediate_snapshots": "callback_every",
            "knn_backend": "neighbor_search",
        },
        {
            "lr": "1 on both sides",
            "pair_neighbors": "pairs are drawn by `random_state`",
            "pair_MN": "pairs are drawn by `random_state`",
            "pair_FP": "pairs are drawn by `random_state`",
            "apply_pca": "more than 100 columns are reduced to 100, as there",
            "save_tree": "every model places new rows",
        },
        {
            "n_neighbors": '`"auto"` is 10, or less for few rows',
            "num_iters": "all phases together, in the proportions of the paper",
        },
    ),
    Pair(
        "pacmap.LocalMAP",
        "PaCMAP",
        {
            "distance": "metric",
            "num_iters": "max_iter",
            "intermediate": "callback",
            "intermediate_snapshots": "callback_every",
            "knn_backend": "neighbor_search",
        },
        {
            "lr": "1 on both sides",
            "pair_neighbors": "pairs are drawn by `random_state`",
            "pair_MN": "pairs are drawn by `random_state`",
            "pair_FP": "pairs are drawn by `random_state`",
            "apply_pca": "more than 100 columns are reduced to 100, as there",
            "save_tree": "every model places new rows",
        },
        {
            "n_neighbors": '`"auto"` is 10, or less for few rows',
            "num_iters": "all phases together, in the proportions of the paper",
            "low_dist_thres": "None is PaCMAP, 10 LocalMAP",
        },
    ),
    Pair(
        "prince.FAMD",
        "FAMD",
        absent={
            "column_coordinates_": '`columns("correlations")` of numbers; `levels()`, the means of their rows, as in '
            "FactoMineR",
            "column_contributions_": '`columns("contributions")`, `levels("contributions")`',
            "variable_coordinates_": "`columns()`: r² and η²",
            "variable_contributions_": '`columns("contributions")`',
            **{name: note for name, note in _FACTORS.items() if not name.startswith("one_hot")},
            "rescale_with_mean": "always, as the method says",
            "rescale_with_std": "always, as the method says",
            "handle_unknown": "a level that fit did not see lies at the mean, with a warning",
            "categorical_columns": '`plan={"code": "category"}`; whole numbers are numbers otherwise',
            "num_cols_": "`plan_`",
            "cat_cols_": "`plan_`",
            "num_scaler_": "`plan_`",
            "one_hot_columns_": "`levels()`",
            "categories_": "`levels()`",
        },
    ),
    Pair(
        "prince.MCA",
        "MCA",
        absent=_FACTORS,
        notes={"correction": "Benzécri's shares are of all inertias above 1/Q, not of those that are kept"},
    ),
)


def sections(pairs: Iterable[Pair] = PAIRS) -> Iterator[tuple[Pair, str]]:
    """Pairs whose peer is installed, and their text."""
    for pair in pairs:
        names = peer_names(pair.peer)
        if names is not None:
            yield pair, "\n".join(_section(pair, *names))


def peer_names(path: str) -> tuple[dict[str, object], list[str]] | None:
    """Parameters with their defaults, and documented fitted attributes of a peer's class; None if not installed."""
    module, _, name = path.rpartition(".")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cls = getattr(import_module(module), name)
    except ImportError:
        return None
    parameters = {key: value.default for key, value in inspect.signature(cls).parameters.items()}
    documented = re.split(r"^Attributes\n-+\n", inspect.getdoc(cls) or "", flags=re.M)[1:]
    listed = re.split(r"^[A-Z][\w ]+\n-+\n", documented[0], flags=re.M)[0] if documented else ""
    return parameters, re.findall(r"^(\w+_)\s*:", listed, re.M)


def _section(pair: Pair, parameters: dict[str, object], attributes: list[str]) -> Iterator[str]:
    here = names_of(pair.ours)
    same, rows = [], []
    for name in [*parameters, *attributes]:
        note = pair.absent.get(name) or pair.notes.get(name, "")
        if name in pair.absent:
            rows.append(f"| `{name}` | – | {note} |")
        elif name in pair.renamed:
            rows.append(f"| `{name}` | `{pair.renamed[name]}` | {note} |")
        elif name not in here:
            raise LookupError(f"{pair.peer}: {name} is neither a name of {pair.ours} nor explained")
        elif name in parameters and not _alike(parameters[name], here[name]):
            rows.append(f"| `{name}={parameters[name]!r}` | `{name}={here[name]!r}` | {note} |")
        elif note:
            rows.append(f"| `{name}` | same | {note} |")
        else:
            same.append(f"`{name}`")
    yield f"**`{pair.label}`** of {release(pair)} is `{pair.ours}`.\n"
    yield f"The same, defaults included: {', '.join(same)}.\n"
    if rows:
        yield from (f"| {pair.label} | `{pair.ours}` | |", "|---|---|---|", *rows, "")


@cache
def names_of(name: str) -> dict[str, object]:
    """Parameters of our class with their defaults, and attributes of a fitted one."""
    import numpy as np
    import pandas as pd

    import lowdim

    cls = getattr(lowdim, name)
    found = {key: value.default for key, value in inspect.signature(cls).parameters.items()}
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 4)).astype(np.float32), columns=list("abcd"))
    model = cls(cv=2) if "estimator" in found else cls(n_components=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(
            X.abs() if name == "NMF" else X,
            X[["a", "b"]] if name in ("CCA", "PLSRegression", "PLSCanonical") else np.arange(30) % 2,
        )
    return {key: None for key in dir(model) if key.endswith("_") and not key.startswith("_")} | found


def _alike(theirs: object, ours: object) -> bool:
    return theirs == ours or (theirs is inspect.Parameter.empty) or {theirs, ours} == {False}


def release(pair: Pair) -> str:
    """Peer with the installed version of its package."""
    names = {"sklearn": "scikit-learn", "umap": "umap-learn"}
    root = pair.peer.partition(".")[0]
    return f"{names.get(root, root)} {version(names.get(root, root))}"


def written(page: str) -> str:
    """The page with the tables of the peers that are installed written again."""
    head, rest = page.split(START)
    before, tail = rest.split(END)
    kept = {
        part.partition("**`")[2].partition("`**")[0]: part for part in re.split(r"(?=^\*\*`)", before, flags=re.M)[1:]
    }
    kept |= {pair.label: text + "\n" for pair, text in sections()}
    text = "\n".join(kept[pair.label].rstrip("\n") + "\n" for pair in PAIRS if pair.label in kept)
    return f"{head}{START}\n\n{text}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE.name)
