"""Autoencoder: a network with a bottleneck of ``k`` values, trained to reconstruct its input.

Minimises ``Σ ‖z − g(f(z))‖²`` over the weights of an encoder ``f`` and a decoder ``g``, stacks of dense layers (Hinton
and Salakhutdinov 2006), with ``z = (x − m)/s``. The embedding is ``Y = f(Z)``. With one linear layer each, they span
the subspace of PCA (Baldi and Hornik 1989).
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.spectrum import scales
from lowdim.data import options, validation
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.methods.onnx_export import dense_layers
from lowdim.persist import fields
from lowdim.relate.moment_states import ColumnMoments
from lowdim.relate.moments import column_moments
from lowdim.solve import training
from lowdim.solve.network import ACTIVATIONS, Layer, apply, initial
from lowdim.work import memory
from lowdim.work.random import seed_of

_EPOCHS = (20, 500)  # range of "auto"


class Autoencoder(Reducer):
    """Encoder and decoder of dense layers, trained on squared error; needs PyTorch to fit (``lowdim[torch]``).

    Parameters
    ----------
    n_components : int
        Width of the code, at most ``n_features``.
    hidden : tuple of int
        Widths of the layers between the rows and the code; the decoder has the same in reverse. Empty for none.
    activation : {"relu", "tanh", "sigmoid", "elu", "linear"}
        Activation of the hidden layers. The code and the output are always linear, so that with ``hidden=()`` any
        activation gives the same network.
    standardize : bool
        Divide each feature by its standard deviation first (constant features are left unchanged); otherwise all by
        one number, which keeps their proportions.
    max_epochs : int or "auto"
        Maximum number of epochs; ``"auto"`` makes 5,000 steps, without hidden layers 500, in 20 to 500 epochs.
    batch_size : int or "auto"
        Rows per step; ``"auto"`` is 128, without hidden layers up to 4,096, which leave no noise in the subspace.
    learning_rate : float or "auto"
        Initial learning rate, which decays to 0 along a cosine; ``"auto"`` is 0.003, without hidden layers
        ``0.5/√n_features``.
    weight_decay : float
        Share of the learning rate by which weights shrink at each step (biases do not).
    validation_fraction : float in [0, 1)
        Share of the rows held out for early stopping; 0 trains on all rows for all epochs.
    patience : int
        Epochs without improvement on the held-out rows after which training stops; the best epoch is kept.
    tol : float
        Smallest relative improvement that counts as one.
    warm_start : bool
        Continue from the weights, mean and scale of the previous fit, which must have had the same layers. The learning
        rate starts again from its initial value, so two fits are not the same as one of twice the epochs.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to train; None is where the rows are: the GPU for a CUDA tensor, the CPU for everything else.
    random_state : int, Generator, RandomState or None
        Seed of the initial weights, of the order of the rows and of the held-out rows.
    n_jobs : int or None
        Number of threads on a CPU; None uses all cores available to the process. Small networks train on one thread.
    verbose : int
        1 shows the loss and the time left; in a log, the last loss and the time taken.

    Attributes
    ----------
    weights_, biases_ : lists of float32 arrays
        Layers from the rows to the code, then from the code to the rows; weights are (outputs, inputs).
    loss_curve_ : array (n_epochs_,)
        Squared error of each epoch as a share of the variance of the (scaled) rows, averaged over its steps.
    validation_curve_ : array (n_epochs_,)
        The same for the held-out rows, at the end of each epoch; empty without validation.
    n_epochs_ : int
        Epochs trained.
    mean_, scale_ : arrays (n_features,)
        Mean and scale of each feature.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> model = lowdim.Autoencoder(10, hidden=(64,), max_epochs=20, random_state=0).fit(X)
    >>> lost = 1 - lowdim.PCA(10, standardize=True).fit(X).explained_variance_ratio_.sum()
    >>> model.transform(X).shape, bool(model.loss_curve_[-1] < 0.8 * lost)
    ((1797, 10), True)
    """

    weights_: list[NDArray]
    biases_: list[NDArray]
    loss_curve_: NDArray
    _in_batches = True
    _no_onnx = None
    _rules = {
        "n_components": options.integer(1),
        "hidden": options.widths,
        "activation": options.one_of(*ACTIVATIONS),
        "standardize": options.flag,
        "max_epochs": options.integer(1) | options.one_of("auto"),
        "batch_size": options.integer(1) | options.one_of("auto"),
        "learning_rate": options.real(0) | options.one_of("auto"),
        "weight_decay": options.real(0, closed="left"),
        "validation_fraction": options.real(0, 1, closed="left"),
        "patience": options.integer(1),
        "tol": options.real(0, 1, closed="left"),
        "warm_start": options.flag,
        "device": options.none | options.device,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            "mean_": fields.array("d"),
            "scale_": fields.array("d", low=0),
            "weights_": fields.each(fields.freely(fields.array("w", "v", kind="f4"))),
            "biases_": fields.each(fields.freely(fields.array("v", kind="f4"))),
            "loss_curve_": fields.array("t"),
            "validation_curve_": fields.array("u"),
            "n_epochs_": fields.count("t"),
            "_activation": fields.text(*ACTIVATIONS),
            "_spread": fields.number(0),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (128,),
        activation: str = "relu",
        standardize: bool = True,
        max_epochs: int | str = "auto",
        batch_size: int | str = "auto",
        learning_rate: float | str = "auto",
        weight_decay: float = 0.0,
        validation_fraction: float = 0.0,
        patience: int = 10,
        tol: float = 1e-3,
        warm_start: bool = False,
        device: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.standardize = standardize
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.warm_start = warm_start
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "Autoencoder":
        """Train the network on ``X`` (array, DataFrame, memory map, or torch tensor on any device).

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; each epoch reads it a few thousand rows at a time.
        y : ignored
            For pipelines.

        Returns
        -------
        Autoencoder
            This object.
        """
        goes_on = self.warm_start and "weights_" in vars(self)
        X = self._take(X, reset=not goes_on, minimum=2, scan=False)
        n, d = X.shape
        widths = self._widths(d)
        plan = self._plan(n, d, first_epoch=len(self.loss_curve_) if goes_on else 0)
        self._ask_memory(n, d)
        device = training.find_device(self.device, X)
        M = column_moments(X)
        self._demand_finite(X, M.mean)
        if goes_on:
            self._demand_same_layers(widths)
            layers = self._layers()
        else:
            layers = initial(widths, plan.seed)
            self._standardize(M)
            self._activation = self.activation
            self.loss_curve_ = self.validation_curve_ = np.empty(0)
        rows = training.TrainingRows(X, self.mean_, self.scale_, device)
        try:
            trained = training.train(layers, rows, plan, self.activation, self._spread)
        except training.DivergenceError as error:
            (epoch, loss), rate = error.args, plan.learning_rate
            raise ValueError(
                f"Autoencoder: the loss must stay finite; in epoch {epoch} it was {loss:.3g} times the variance, with "
                f"learning_rate={rate:g}. Lower it, for example to {min(3e-3, rate / 10):g}."
            ) from None
        self.weights_ = [layer.weights for layer in trained.layers]
        self.biases_ = [layer.bias for layer in trained.layers]
        self.loss_curve_ = np.append(self.loss_curve_, trained.losses)
        self.validation_curve_ = np.append(self.validation_curve_, trained.held_out)
        self.n_epochs_ = len(self.loss_curve_)
        return self

    @applying
    def transform(self, X: Any) -> Any:
        """Codes of the rows of ``X``, computed where they are; PyTorch is needed for tensors only.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            The codes, float32 for float32 and small integers, float64 otherwise; a tensor for a tensor.
        """
        X = self._take(X, reset=False)
        (W, b), *others = self._layers()[: len(self.weights_) // 2]
        return apply([Layer(W / self.scale_, b), *others], X, self._activation, less=self.mean_)

    @applying
    def inverse_transform(self, Y: Any) -> Any:
        """Reconstructed rows of the codes ``Y``.

        Parameters
        ----------
        Y : of shape (n_samples, n_components)
            Codes.

        Returns
        -------
        array (n_samples, n_features)
            ``m + s g(y)``, in the precision of ``Y``; a tensor for a tensor.
        """
        Y = validation.scores(Y, self._name, self._n_features_out)
        *others, (W, b) = self._layers()[len(self.weights_) // 2 :]
        last = Layer(W * self.scale_[:, None], b * self.scale_ + self.mean_)
        return apply([*others, last], Y, self._activation)

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        half = len(self.weights_) // 2
        if method == "transform":
            (W, b), *others = self._layers()[:half]
            return dense_layers(graph, [Layer(W / self.scale_, b), *others], X, self._activation, less=self.mean_)
        *others, (W, b) = self._layers()[half:]
        last = Layer(W * self.scale_[:, None], b * self.scale_ + self.mean_)
        return dense_layers(graph, [*others, last], X, self._activation)

    @property
    def _n_features_out(self) -> int:
        return len(self.biases_[len(self.biases_) // 2 - 1])

    def _layers(self) -> list[Layer]:
        return [Layer(W, b) for W, b in zip(self.weights_, self.biases_, strict=True)]

    def _widths(self, d: int) -> list[int]:
        """Widths from the rows to the code and back."""
        if self.n_components > d:
            raise ValueError(
                f"Autoencoder: n_components must be at most n_features = {d}; got {self.n_components}. Lower it."
            )
        return [d, *self.hidden, self.n_components, *self.hidden[::-1], d]

    def _standardize(self, M: ColumnMoments) -> None:
        """Set mean and scale, and the variance of the scaled rows."""
        if not np.isfinite(M.variance.sum()):
            raise ValueError(
                "Autoencoder: variances must fit in float64; the squares of these values do not. "
                "Multiply X by a constant that brings it near 1."
            )
        self.mean_, self.scale_ = M.mean, scales(M, M.variance, True)
        if not self.standardize:
            self.scale_ = np.full(len(M.mean), np.sqrt(M.variance.mean()) or 1.0)
        self._spread = float(np.sum(M.variance / self.scale_**2))

    def _plan(self, n: int, d: int, first_epoch: int) -> training.Plan:
        left = n - math.ceil(self.validation_fraction * n)
        if left < 1:
            raise ValueError(
                f"Autoencoder: validation_fraction must leave rows to train on; {self.validation_fraction:g} of {n} "
                "rows leaves none. Lower it."
            )
        steps, batch_size, rate = 5_000, 128, 3e-3
        if (
            not self.hidden
        ):  # then one subspace minimises the error: no gradient noise is needed, and long steps do no harm
            steps, batch_size, rate = 500, max(128, min(4_096, training.WINDOW_BYTES // (4 * d))), 0.5 / math.sqrt(d)
        batch_size = min(left, batch_size if self.batch_size == "auto" else int(self.batch_size))
        fewest, most = _EPOCHS
        epochs = min(most, max(fewest, math.ceil(steps / math.ceil(left / batch_size))))
        return training.Plan(
            max_epochs=epochs if self.max_epochs == "auto" else int(self.max_epochs),
            batch_size=batch_size,
            learning_rate=rate if self.learning_rate == "auto" else float(self.learning_rate),
            weight_decay=self.weight_decay,
            validation_fraction=self.validation_fraction,
            patience=self.patience,
            tol=self.tol,
            seed=seed_of(self.random_state),
            first_epoch=first_epoch,
        )

    def _ask_memory(self, n: int, d: int) -> None:
        """Layers, gradients, moments, first and best layers, rows, outputs of a batch."""
        widths, batch_size = self._widths(d), self._plan(n, d, first_epoch=0).batch_size
        n_weights = sum((before + 1) * after for before, after in pairwise(widths))
        held = d * min(n, max(batch_size, training.WINDOW_BYTES // (4 * d)))
        memory.require(
            24.0 * n_weights + 20.0 * held + 8.0 * batch_size * sum(widths),
            f"Autoencoder: {n_weights:,} weights between layers of {', '.join(map(str, widths))} values, in batches of "
            f"{batch_size:,} rows,",
            "Lower hidden or batch_size.",
        )

    def _demand_same_layers(self, widths: list[int]) -> None:
        before = [W.shape[1] for W in self.weights_] + [len(self.biases_[-1])]
        if before != widths or self._activation != self.activation:
            raise ValueError(
                f"Autoencoder: warm_start=True needs the layers of the previous fit, {before} with "
                f"{self._activation!r}; got {widths} with {self.activation!r}. Set them back, or pass warm_start=False."
            )

    def _check_state(self) -> None:
        super()._check_state()
        # By the layers themselves: the parameters may have been changed since the fit.
        widths = [len(self.mean_), *map(len, self.biases_)]
        found = [part.shape for part in (self.scale_, *self.biases_, *self.weights_)]
        needed = [(width,) for width in widths] + [(after, before) for before, after in pairwise(widths)]
        if found != needed or widths[0] != widths[-1] or len(self.weights_) % 2:
            raise ValueError(f"scale_, biases_ and weights_ have shapes {found}; {needed} are needed")
