"""Autoencoder: a network with a bottleneck of ``k`` values, trained to reconstruct its input.

Minimises ``Σ ‖z − g(f(z))‖²`` over the weights of an encoder ``f`` and a decoder ``g``, stacks of dense layers (Hinton
and Salakhutdinov 2006), with ``z = (x − m)/s``. The embedding is ``Y = f(Z)``. With one linear layer each, they span
the subspace of PCA (Baldi and Hornik 1989). A variational one (Kingma and Welling 2014) has codes ``N(μ(z), σ²(z))``
instead, and maximises a lower bound of the likelihood of a model that new rows can be drawn from.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.data import options
from lowdim.methods.base import fitting
from lowdim.methods.network_reducer import NETWORK_RULES, NetworkReducer, shapes_that_fit
from lowdim.persist import fields
from lowdim.relate.moments import column_moments
from lowdim.solve import training
from lowdim.solve.network import ACTIVATIONS, Activations, Layer, initial
from lowdim.solve.variational import VariationalTrainer
from lowdim.work import memory
from lowdim.work.random import seed_of, stream

_EPOCHS = (20, 500)  # range of "auto"
_SAMPLING = {"n_samples": options.integer(1), "noise": options.flag}


class Autoencoder(NetworkReducer):
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
    variational : bool
        Codes are distributions ``N(μ, σ²)`` near ``N(0, I)``, from which the decoder draws while it is trained, and
        ``sample`` draws new rows; ``transform`` gives the means. The loss is the negative evidence lower bound (ELBO),
        with a variance of the noise that is learnt, too.
    beta : float
        Factor on the divergence of the codes from ``N(0, I)`` in that loss: 1 is the ELBO, more gives codes that are
        simpler, and reconstructions that are worse.
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
        Layers from the rows to the code, then from the code to the rows; weights are (outputs, inputs). A variational
        encoder ends in the means of the codes and the logarithms of their variances.
    loss_curve_ : array (n_epochs_,)
        Squared error of each epoch as a share of the variance of the (scaled) rows, averaged over its steps; of a
        variational one the negative ELBO, in nats per (scaled) row.
    validation_curve_ : array (n_epochs_,)
        The same for the held-out rows, at the end of each epoch; empty without validation.
    n_epochs_ : int
        Epochs trained.
    noise_variance_ : float
        Variance of the noise of a variational model, beside the (scaled) rows that the decoder gives.
    elbo_curve_ : array (n_epochs_,)
        The evidence lower bound of a variational model, ``-loss_curve_``; with ``beta`` as its factor.
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
    noise_variance_: float
    _rules = NETWORK_RULES | {
        "n_components": options.integer(1),
        "activation": options.one_of(*ACTIVATIONS),
        "standardize": options.flag,
        "variational": options.flag,
        "beta": options.real(0, 1e6, closed="left"),
        "weight_decay": options.real(0, closed="left"),
        "validation_fraction": options.real(0, 1, closed="left"),
        "patience": options.integer(1),
        "tol": options.real(0, 1, closed="left"),
        "warm_start": options.flag,
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "weights_": fields.each(fields.freely(fields.array("w", "v", kind="f4"))),
            "biases_": fields.each(fields.freely(fields.array("v", kind="f4"))),
            "loss_curve_": fields.array("t"),
            "validation_curve_": fields.array("u"),
            "n_epochs_": fields.count("t"),
            "_activation": fields.text(*ACTIVATIONS),
            "noise_variance_": fields.optional(fields.number(0)),  # of variational ones alone
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (128,),
        activation: str = "relu",
        standardize: bool = True,
        variational: bool = False,
        beta: float = 1.0,
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
        self._store(locals())

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
        if self.beta != 1 and not self.variational:
            raise ValueError(
                f"Autoencoder: beta is the weight of a term that only variational=True has; got {self.beta:g} without. "
                "Pass variational=True, or leave beta out."
            )
        goes_on = self.warm_start and "weights_" in vars(self)
        X = self._take(X, reset=not goes_on, minimum=2, scan=False)
        n, d = X.shape
        encoding, decoding = self._widths(d)
        plan = self._plan(n, d, first_epoch=len(self.loss_curve_) if goes_on else 0)
        self._ask_memory(n, d)
        device = training.find_device(self.device, X)
        M = column_moments(X)
        self._demand_finite(X, M.mean)
        if goes_on:
            self._demand_same_layers(encoding, decoding)
            layers = self._layers()
        else:
            layers = initial(encoding, plan.seed) + initial(decoding, plan.seed, len(encoding) - 1)
            self._standardize(M, each=self.standardize)
            self._activation = self.activation
            self.loss_curve_ = self.validation_curve_ = np.empty(0)
            self.__dict__.pop("noise_variance_", None)
        rows = training.TrainingRows(X, self.mean_, self.scale_, device)
        try:
            kind = VariationalTrainer if self.variational else training.Trainer
            trained = training.train(layers, rows, plan, self.activation, self._spread, kind)
        except training.DivergenceError as error:
            (epoch, loss), rate = error.args, plan.learning_rate
            unit = "nats a row" if self.variational else "times the variance"
            raise ValueError(
                f"Autoencoder: the loss must stay finite; in epoch {epoch} it was {loss:.3g} {unit}, with "
                f"learning_rate={rate:g}. Lower it, for example to {min(3e-3, rate / 10):g}."
            ) from None
        self.weights_ = [layer.weights for layer in trained.layers]
        self.biases_ = [layer.bias for layer in trained.layers]
        if trained.noise_variance is not None:
            self.noise_variance_ = trained.noise_variance
        self.loss_curve_ = np.append(self.loss_curve_, trained.losses)
        self.validation_curve_ = np.append(self.validation_curve_, trained.held_out)
        self.n_epochs_ = len(self.loss_curve_)
        return self

    @property
    def elbo_curve_(self) -> NDArray:
        """The evidence lower bound of each epoch, in nats per row."""
        if not hasattr(self, "noise_variance_"):
            raise AttributeError("Autoencoder: elbo_curve_ needs a model fitted with variational=True")
        return -self.loss_curve_

    def sample(self, n_samples: int = 1, *, noise: bool = False, random_state: Any = None) -> NDArray[np.float64]:
        """Draw new rows from a variational model: the decoder's rows of codes from ``N(0, I)``.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        noise : bool
            Add the model's noise, of variance ``noise_variance_`` in scaled rows. Without it the rows are smoother, and
            vary less than the data.
        random_state : int, Generator, RandomState or None
            Seed of the rows.

        Returns
        -------
        array (n_samples, n_features)
            The rows.
        """
        options.check("Autoencoder", {"n_samples": n_samples, "noise": noise}, _SAMPLING)
        check_is_fitted(self)
        if not hasattr(self, "noise_variance_"):
            raise ValueError(
                "Autoencoder: sample needs a model fitted with variational=True; this one was not, so nothing is known "
                "of how its codes are distributed. Fit it again."
            )
        random = stream(seed_of(random_state), "sample")
        X = np.asarray(self._decoded(random.standard_normal((n_samples, self._n_features_out))))
        if noise:
            X += np.sqrt(self.noise_variance_) * self.scale_ * random.standard_normal(X.shape)
        return X

    def _layers(self) -> list[Layer]:
        return [Layer(W, b) for W, b in zip(self.weights_, self.biases_, strict=True)]

    def _encoding(self) -> tuple[list[Layer], Activations]:
        """Layers to the code; of a variational one to its mean."""
        layers = self._layers()
        half = len(layers) // 2
        k = layers[half].weights.shape[1]
        *others, (W, b) = layers[:half]
        return [*others, Layer(W[:k], b[:k])], self._activation

    def _decoding(self) -> tuple[list[Layer], Activations]:
        return self._layers()[len(self.weights_) // 2 :], self._activation

    def _widths(self, d: int) -> tuple[list[int], list[int]]:
        """Widths from the rows to the code, or to its mean and variance, and back."""
        if self.n_components > d:
            raise ValueError(
                f"Autoencoder: n_components must be at most n_features = {d}; got {self.n_components}. Lower it."
            )
        code = self.n_components * (2 if self.variational else 1)
        return [d, *self.hidden, code], [self.n_components, *self.hidden[::-1], d]

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
            beta=float(self.beta),
            noise_variance=getattr(self, "noise_variance_", 1.0) if first_epoch else 1.0,
        )

    def _ask_memory(self, n: int, d: int) -> None:
        """Layers, gradients, moments, first and best layers, rows, outputs of a batch."""
        (encoding, decoding), batch_size = self._widths(d), self._plan(n, d, first_epoch=0).batch_size
        n_weights = sum((before + 1) * after for stack in (encoding, decoding) for before, after in pairwise(stack))
        held = d * min(n, max(batch_size, training.WINDOW_BYTES // (4 * d)))
        widths = [*encoding, *decoding[1:]]
        memory.require(
            24.0 * n_weights + 20.0 * held + 8.0 * batch_size * sum(widths),
            f"Autoencoder: {n_weights:,} weights between layers of {', '.join(map(str, widths))} values, in batches of "
            f"{batch_size:,} rows,",
            "Lower hidden or batch_size.",
        )

    def _demand_same_layers(self, encoding: list[int], decoding: list[int]) -> None:
        half = len(self.weights_) // 2
        stacks = (self.weights_[:half], self.weights_[half:])
        before = [[W.shape[1] for W in weights] + [len(weights[-1])] for weights in stacks]
        if before != [encoding, decoding] or self._activation != self.activation:
            raise ValueError(
                f"Autoencoder: warm_start=True needs the layers of the previous fit, {joined(before)} with "
                f"{self._activation!r}; got {joined([encoding, decoding])} with {self.activation!r}. Set them back, or "
                "pass warm_start=False."
            )

    def _check_state(self) -> None:
        super()._check_state()
        # By the layers themselves: the parameters may have been changed since the fit.
        if len(self.weights_) != len(self.biases_):
            raise ValueError(f"weights_ and biases_ must be as many; got {len(self.weights_)} and {len(self.biases_)}")
        d, layers, half = len(self.mean_), self._layers(), len(self.weights_) // 2
        encoder, decoder = layers[:half], layers[half:]
        sound = len(self.scale_) == d and encoder and len(layers) == 2 * half and decoder[0].weights.ndim == 2
        if sound:
            k = decoder[0].weights.shape[1]
            code = k * (2 if hasattr(self, "noise_variance_") else 1)
            ends = len(encoder[-1].bias) == code and len(decoder[-1].bias) == d
            sound = ends and shapes_that_fit(encoder, d) and shapes_that_fit(decoder, k)
        if not sound:
            found = [part.shape for part in (self.scale_, *self.biases_, *self.weights_)]
            raise ValueError(f"scale_, biases_ and weights_ have shapes {found}, which do not follow each other")


def joined(stacks: list[list[int]]) -> list[int]:
    """Widths of an encoder and a decoder in one list; a code of means and variances counts twice."""
    encoding, decoding = stacks
    return [*encoding, *decoding[encoding[-1] == decoding[0] :]]
