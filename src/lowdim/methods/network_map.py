"""Base class of parametric maps: a network from rows to positions, which learns a map of neighbours.

The map without a network is fitted first. The network imitates it, then lowers its loss over the same graph
(:mod:`lowdim.solve.map_training`); only the network is kept.
"""

import math
from abc import abstractmethod
from itertools import pairwise
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.map_guide import Guide, guide, landmark_count
from lowdim.data import options
from lowdim.methods.base import METRIC_RULES, fitting
from lowdim.methods.neighbor_embedding import NeighborEmbedding
from lowdim.methods.network_reducer import NETWORK_RULES, NetworkReducer, shapes_that_fit
from lowdim.persist import fields
from lowdim.relate.moments import column_moments
from lowdim.solve import training
from lowdim.solve.descent import Reached
from lowdim.solve.map_training import BatchLoss, MapPlan, Pattern, TrainedMap, train_map
from lowdim.solve.network import ACTIVATIONS, Activations, Layer, apply, initial
from lowdim.work import memory
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.random import seed_of
from lowdim.work.rows import cast, own

_STEPS, _FEWEST, _MOST = 6_500, 10, 300  # of training, and epochs
_IMITATING = 0.7  # share of the epochs
_BATCH, _RATE = 256, 2e-3
RULES = {
    "n_components": options.integer(1),
    **METRIC_RULES,
    "neighbor_search": options.one_of("auto", "exact", "approximate"),
    **NETWORK_RULES,
    "dropout": options.real(0, 1, closed="left"),
    "activation": options.one_of(*(name for name in ACTIVATIONS if name != "linear")),
    "decoder": options.flag,
    "reconstruction_weight": options.real(0, 1e6, closed="left"),
}
TEXTS = {
    "metric": """metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. The network itself reads the rows as they are.
    metric_params : dict or None
        Parameters of the metric: ``{"p": 3}`` for Minkowski, ``{"VI": V}`` for Mahalanobis (default: inverse
        covariance).""",
    "network": """hidden : tuple of int
        Widths of the hidden layers of the network; a decoder has the same in reverse.
    activation : {"relu", "tanh", "sigmoid", "elu"}
        Activation of the hidden layers.
    max_epochs : int or "auto"
        Passes over the rows: 70 % imitate the map, the others lower its loss. "auto" makes 6,500 steps, in 10 to 300
        epochs.
    batch_size : int or "auto"
        Rows per step; "auto" is 256.
    learning_rate : float or "auto"
        Initial learning rate, which decays to 0 along a cosine, and starts again at a quarter after imitation; "auto"
        is 0.002.
    dropout : float in [0, 1)
        Share of the values of hidden layers that are left out at random in each step, so that the network relies on no
        single one: new rows are placed better, in particular if there are few rows.
    decoder : bool
        Also learn a network from positions to rows, for ``inverse_transform``.
    reconstruction_weight : float
        Weight of the decoder's error, as a share of the variance of the rows, beside the loss of the map. At 0 the
        decoder leaves the map as it is.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to train; None is where the rows are: the GPU for a CUDA tensor, the CPU for everything else.
    random_state : int, Generator, RandomState or None
        Seed of the random numbers; the same seed gives the same bits.
    n_jobs : int or None
        Number of threads of all but training, which takes one on a CPU; None uses all cores available to the process.
        The map has the same bits for any number.
    verbose : int
        1 shows progress bars with the loss and the time left.""",
    "learnt": """embedding_ : array (n_samples, n_components)
        Positions of the rows by the network, the same as ``transform`` gives.
    weights_, biases_ : lists of float32 arrays
        Layers from the rows to the map; weights are (outputs, inputs). The outputs of the last but one are shares of
        landmarks (softmax), whose positions are the columns of the last.
    decoder_weights_, decoder_biases_ : lists of float32 arrays
        Layers from the map to the rows; empty without ``decoder``.
    reconstruction_loss_ : float or None
        Squared error of the decoder in the last epoch, as a share of the variance of the rows.
    loss_curve_ : array
        Mean loss of the batches of each epoch after imitation, per edge.
    n_epochs_ : int
        Epochs trained.
    timings_ : dict
        Seconds per stage.
    mean_, scale_ : arrays (n_features,)
        Mean of each feature, and the number that all are divided by.""",
}


class ParametricMap(NetworkReducer):
    """A network that learns a map of neighbours; a subclass names the map and its loss."""

    _sparse = True
    _scale_matters = True
    metric: str
    hidden: tuple[int, ...]
    activation: str
    max_epochs: int | str
    batch_size: int | str
    learning_rate: float | str
    dropout: float
    decoder: bool
    reconstruction_weight: float
    device: str | None
    random_state: Any
    n_components: int
    embedding_: NDArray
    weights_: list[NDArray]
    biases_: list[NDArray]
    decoder_weights_: list[NDArray]
    decoder_biases_: list[NDArray]

    @abstractmethod
    def _map(self) -> NeighborEmbedding:
        """The map without a network, not fitted."""

    @abstractmethod
    def _batch_loss(self, fitted: NeighborEmbedding, n: int) -> BatchLoss:
        """Loss of a batch of the map of n rows."""

    @abstractmethod
    def _keep_loss(self, reached: Reached) -> None:
        """Store the loss of the map of the network."""

    def _state(self) -> dict[str, fields.Field]:
        layers = fields.each(fields.freely(fields.array("w", "v", kind="f4")))
        biases = fields.each(fields.freely(fields.array("v", kind="f4")))
        return {
            **super()._state(),
            "embedding_": fields.array("n", "k"),
            "weights_": layers,
            "biases_": biases,
            "decoder_weights_": layers,
            "decoder_biases_": biases,
            "reconstruction_loss_": fields.nothing | fields.number(0),
            "loss_curve_": fields.array("t"),
            "n_epochs_": fields.count(low=1),
            "timings_": fields.mapping(fields.number(0)),
            "_activation": fields.text(*ACTIVATIONS),
        }

    def _made(self, cls: Any) -> Any:
        """The map of ``cls`` with the parameters that it shares with this object, apart from those of the network.

        Its errors have the name of this object.
        """
        shared = set(cls._get_param_names()) & set(self._get_param_names()) - {"learning_rate"}
        return type(cls.__name__, (cls,), {"_name": self._name})(**{name: getattr(self, name) for name in shared})

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map of ``X``, and train the network.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse.
        y : array (n_samples,), optional
            Labels of the rows, for methods that use them.

        Returns
        -------
        self
            This object.
        """
        self._learn(X, y)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn the map, and return the positions of the rows.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        self._learn(X, y)
        return own(self.embedding_)

    def _learn(self, X: Any, y: Any) -> None:
        self._demand_possible()
        X = self._take(X, reset=True, sparse=True, minimum=2)
        n, d = X.shape
        device, plan, self.timings_ = training.find_device(self.device, X), self._plan(n), {}
        self._ask_memory(n, d)
        start = perf_counter()
        M, fitted = column_moments(X), self._map()
        self._standardize(M, each=False)
        fitted.random_state = plan.seed
        relations = fitted._learn(X, y)
        graph, Y = tuple(to_numpy(part) for part in relations), to_numpy(cast(fitted.embedding_, np.float32))
        fitted._rows = None  # the network replaces them
        self.timings_["map"], start = perf_counter() - start, perf_counter()
        found, unit = guide(Y), float(Y.std()) or 1.0
        rows = training.TrainingRows(X, self.mean_, self.scale_, device)
        trained = self._trained(rows, found, graph, Y, unit, self._batch_loss(fitted, n), plan)
        self._keep(trained, Y.mean(0), unit)
        self.n_epochs_ = plan.imitating + plan.lowering
        layers, activations, less = self._applied_encoder()
        self.embedding_ = apply(layers, X, activations, less=less)
        self.timings_["network"], start = perf_counter() - start, perf_counter()
        loss = fitted._loss(n, plan.seed, again=True)
        self._keep_loss(loss.at(relations, cast(self.embedding_, np.float32)))
        self.timings_["loss"] = perf_counter() - start

    def _trained(
        self, rows: Any, found: Guide, graph: Any, Y: NDArray, unit: float, loss: BatchLoss, plan: MapPlan
    ) -> TrainedMap:
        """The network trained; its outputs are ``(y − ȳ)/unit``."""
        middle, (m, k) = Y.mean(0), found.landmarks.shape
        layers = initial([rows.d, *self.hidden, m], plan.seed)
        landmarks = ((found.landmarks - middle) / unit).T
        layers.append(Layer(np.ascontiguousarray(landmarks), np.zeros(k, np.float32)))
        decoder = initial([k, *self.hidden[::-1], rows.d], plan.seed, len(layers)) if self.decoder else []
        pattern = Pattern(found.order, found.near, found.shares, ((Y - middle) / unit).astype(np.float32))
        activations = self._between(len(layers), self.activation)
        try:
            return train_map(layers, activations, decoder, rows, pattern, graph, loss, unit, self._spread, plan)
        except training.DivergenceError as error:
            raise ValueError(
                f"{self._name}: the loss must stay finite; in epoch {error.args[0]} it was not, with "
                f"learning_rate={plan.learning_rate:g}. Lower it, for example to "
                f"{min(_RATE, plan.learning_rate / 10):g}."
            ) from None

    def _keep(self, trained: TrainedMap, middle: NDArray, unit: float) -> None:
        """Store the network, with outputs in the unit of the map, and the decoder, with inputs in it."""
        *layers, (W, b) = trained.layers
        layers.append(Layer((W * unit).astype(np.float32), (b * unit + middle).astype(np.float32)))
        self.weights_, self.biases_ = map(list, zip(*layers, strict=True))
        self.decoder_weights_, self.decoder_biases_, self.reconstruction_loss_ = [], [], None
        if trained.decoder:
            (W, b), *others = trained.decoder
            first = Layer((W / unit).astype(np.float32), (b - W @ middle / unit).astype(np.float32))
            self.decoder_weights_, self.decoder_biases_ = map(list, zip(first, *others, strict=True))
            self.reconstruction_loss_ = trained.error
        self.loss_curve_, self._activation = np.array(trained.losses), self.activation

    def _demand_possible(self) -> None:
        if self.metric == "precomputed":
            raise ValueError(
                f"{self._name}: a network needs rows of features; got metric='precomputed'. Pass rows, or fit "
                f"{self._name.removeprefix('Parametric')}."
            )
        if self.reconstruction_weight and not self.decoder:
            raise ValueError(
                f"{self._name}: reconstruction_weight needs a decoder; got {self.reconstruction_weight:g} with "
                "decoder=False. Pass decoder=True, or leave it out."
            )

    def _plan(self, n: int) -> MapPlan:
        batch_size = min(n, _BATCH if self.batch_size == "auto" else int(self.batch_size))
        epochs = min(_MOST, max(_FEWEST, math.ceil(_STEPS / math.ceil(n / batch_size))))
        epochs = epochs if self.max_epochs == "auto" else int(self.max_epochs)
        lowering = max(1, round((1 - _IMITATING) * epochs))
        return MapPlan(
            imitating=epochs - lowering,
            lowering=lowering,
            batch_size=batch_size,
            learning_rate=_RATE if self.learning_rate == "auto" else float(self.learning_rate),
            dropout=float(self.dropout),
            reconstruction_weight=float(self.reconstruction_weight),
            seed=seed_of(self.random_state),
        )

    def _ask_memory(self, n: int, d: int) -> None:
        """The map, then the layers with gradients and moments, rows of a batch with their outputs, and pairs of it."""
        self._map()._ask_memory(n, d)
        m, batch_size = landmark_count(n), self._plan(n).batch_size
        widths = [d, *self.hidden, m]
        n_weights = sum((before + 1) * after for before, after in pairwise(widths))
        n_weights *= 2 if self.decoder else 1
        memory.require(
            24.0 * n_weights + 24.0 * batch_size * sum(widths) + 20.0 * batch_size**2 + 128.0 * n,
            f"{self._name}: {n_weights:,} weights, in batches of {batch_size:,} rows,",
            "Lower hidden or batch_size.",
        )

    @staticmethod
    def _between(n_layers: int, activation: str) -> list[str]:
        return [activation] * (n_layers - 2) + ["softmax"]

    def _encoding(self) -> tuple[list[Layer], Activations]:
        layers = [Layer(W, b) for W, b in zip(self.weights_, self.biases_, strict=True)]
        return layers, self._between(len(layers), self._activation)

    def _decoding(self) -> tuple[list[Layer], Activations]:
        if not self.decoder_weights_:
            raise ValueError(
                f"{self._name}: inverse_transform needs a model fitted with decoder=True; this one was not. Fit it "
                "again."
            )
        layers = [Layer(W, b) for W, b in zip(self.decoder_weights_, self.decoder_biases_, strict=True)]
        return layers, self._activation

    def _check_state(self) -> None:
        super()._check_state()
        counts = [len(part) for part in (self.weights_, self.biases_, self.decoder_weights_, self.decoder_biases_)]
        if counts[0] != counts[1] or counts[2] != counts[3]:
            raise ValueError(f"weights and biases must be as many; got {counts}")
        layers, d = self._encoding()[0], len(self.mean_)
        back = [Layer(W, b) for W, b in zip(self.decoder_weights_, self.decoder_biases_, strict=True)]
        k = self.embedding_.shape[1]
        ends = len(layers) >= 2 and len(layers[-1].bias) == k and (not back or len(back[-1].bias) == d)
        if len(self.scale_) != d or not ends or not (shapes_that_fit(layers, d) and shapes_that_fit(back, k)):
            raise ValueError("weights_ and biases_ have shapes that do not follow each other")
