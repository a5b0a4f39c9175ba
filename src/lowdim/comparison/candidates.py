"""Methods of a comparison: those requested, or those that suit the data by their entries in the registry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lowdim.data import options
from lowdim.methods import registry
from lowdim.methods.base import learns_from_labels
from lowdim.work import memory

Methods = Sequence[str] | Mapping[str, Any] | None


@dataclass(frozen=True)
class Candidate:
    """A method to be fitted, with its name in the comparison."""

    name: str
    model: Any  # unfitted
    method: registry.Method | None  # None for an estimator of the caller's
    given: dict[str, Any]  # parameters that differ from the defaults of a comparison

    @property
    def title(self) -> str:
        """Class of the model."""
        return type(self.model).__name__

    @property
    def named(self) -> bool:
        """Whether the caller gave a name of the registry, not an estimator."""
        return self.method is not None and self.method.name == self.name

    @property
    def supervised(self) -> bool:
        """Whether it cannot do without labels."""
        return self.method is not None and self.method.supervised

    @property
    def learns_from_labels(self) -> bool:
        """Whether labels change its map, so that scores by labels need held-out rows."""
        return self.supervised or learns_from_labels(self.model)


@dataclass(frozen=True)
class Ground:
    """Properties of the data that decide which methods are included."""

    n: int
    d: int
    sparse: bool
    classes: int  # distinct labels; 0 without labels that name classes
    unlabelled: int = 0  # rows without a label, where others have one
    mixed: bool = False  # whether the table has columns of other kinds than numbers


def enlist(
    methods: Methods,
    ground: Ground,
    n_components: int,
    parameters: Mapping[str, Mapping[str, Any]],
    common: dict[str, Any],
) -> tuple[list[Candidate], dict[str, str]]:
    """Candidates in the requested order, and why each of the others was left out.

    ``parameters`` are by method; ``common`` are passed to every method that has them.
    """
    if isinstance(methods, str):
        methods = [methods]
    if isinstance(methods, Mapping):
        candidates = [_given(str(name), model, parameters.get(name, {})) for name, model in methods.items()]
        left_out: dict[str, str] = {}
    elif methods is None:
        reasons = {method.name: unsuited(method, ground) for method in registry.METHODS}
        left_out = {name: reason for name, reason in reasons.items() if reason}
        named = [method for method in registry.METHODS if not reasons[method.name]]
        candidates = [_named(method, n_components, parameters, common) for method in named]
    else:
        named = list(dict.fromkeys(registry.find(name) for name in methods))
        left_out = {}
        candidates = [_named(method, n_components, parameters, common) for method in named]
    if not candidates:
        raise ValueError("compare: at least one method is needed; got none. Name some, as in methods=['pca', 'tsne'].")
    names = [candidate.name for candidate in candidates]
    by_name = not isinstance(methods, Mapping)  # estimators have the caller's names
    strange = [name for name in parameters if (registry.find(name).name if by_name else name) not in names]
    if strange:
        raise ValueError(
            f"compare: parameters must be for methods of the comparison ({', '.join(names)}); got some for "
            f"{', '.join(strange)}. Add them to methods, or drop their parameters."
        )
    for candidate in candidates:
        if candidate.supervised and ground.unlabelled:
            raise ValueError(
                f"compare: {candidate.title} learns from the labels of all rows; {ground.unlabelled:,} have none. Drop "
                f"those rows, or leave {candidate.name!r} out."
            )
        if candidate.supervised and not ground.classes:
            raise ValueError(
                f"compare: {candidate.title} learns from labels that name classes; got none. Pass y, or leave "
                f"{candidate.name!r} out."
            )
    return candidates, left_out


def unsuited(method: registry.Method, ground: Ground) -> str:
    """Why a method is not included by default; empty if it is."""
    if not method.default_rows:
        return f"{method.apart}; name it explicitly to include it"
    if method.takes_table and not ground.mixed:
        return "is for tables with columns of other kinds than numbers"
    if method.supervised and ground.unlabelled:
        return f"learns from labels, which {ground.unlabelled:,} rows lack"
    if method.supervised and ground.classes < 2:
        return "learns from labels that name two classes or more"
    if ground.n > method.default_rows:
        return f"takes long beyond {method.default_rows:,} rows"
    needed, free = method.memory(ground.n, ground.d), memory.available()
    if needed > free:
        return f"needs {memory.human(needed)} of memory; {memory.human(free)} is available"
    return "does not accept sparse data" if ground.sparse and not method.load()._sparse else ""


def _named(
    method: registry.Method, k: int, parameters: Mapping[str, Mapping[str, Any]], common: dict[str, Any]
) -> Candidate:
    given: dict[str, Any] = {}
    for name, values in parameters.items():
        if registry.find(name) is method:
            given |= values
    # Methods with few components return all of them; the comparison uses the first ones.
    model = method.build(given, **common | {"n_components": k if method.components is not None else None})
    return Candidate(method.name, model, method, given)


def _given(name: str, model: Any, parameters: Mapping[str, Any]) -> Candidate:
    if not hasattr(model, "fit_transform") or isinstance(model, type):
        raise TypeError(
            f"compare: methods must be names, or a mapping of names to estimators; got {model!r} for {name!r}. "
            "Pass for example {'t-SNE 5': TSNE(perplexity=5)}."
        )
    from sklearn.base import clone

    method = next((m for m in registry.METHODS if m.class_name == type(model).__name__), None)
    model, title = clone(model), type(model).__name__
    if parameters:
        if not hasattr(model, "set_params"):
            raise TypeError(
                f"compare: parameters for {name!r} need an estimator with set_params; got a {title}. Set them on it "
                "before, and drop them here."
            )
        options.demand_known(title, parameters, list(model.get_params()))
        model.set_params(**parameters)
    return Candidate(name, model, method, dict(parameters))
