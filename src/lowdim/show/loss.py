"""The loss of an iterative method during the fit: has it converged?"""

from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.style import Floats

LINE, MARK = "#185ac9", "#b2460a"


def loss(model: Any, *, ax: Any = None, log: bool = False) -> Any:
    """Draw the loss trace of a fitted model, or a trace given as an array.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_steps,) or (n_steps, 2)
        Anything with ``loss_curve_``, and ``loss_iterations_`` if the trace skips some. Two columns are the iteration
        and the loss then; one is the loss of each step.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    log : bool
        Whether the loss has a logarithmic axis.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. Where the model has an early exaggeration, its end is marked: before
        it, exaggerated affinities are fitted, not the loss that is drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import show
    >>> ax = show.loss([4.0, 2.5, 2.1, 2.0])
    >>> ax.texts[-1].get_text()
    '2'
    """
    from matplotlib.ticker import MaxNLocator

    steps, values = _trace(model)
    ax = style.new_axes(ax, (6.4, 3.6))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.plot(steps, values, color=LINE, linewidth=1.6, marker="o" if len(steps) <= 40 else "", markersize=3.5)
    early = getattr(model, "early_exaggeration_iter", None)
    if early and steps[0] < early < steps[-1]:
        ax.axvline(early, color=MARK, linewidth=1.0, linestyle=(0, (4, 3)))
        ax.annotate(
            "exaggeration ends", (early, 0.97), (4, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", va="top", color=MARK, fontsize="small",
        )  # fmt: skip
    if log:
        ax.set_yscale("log")
    ax.annotate(
        f"{values[-1]:.4g}", (steps[-1], values[-1]), (0, 6), textcoords="offset points", ha="right",
        color=LINE, fontsize="small", fontweight="bold",
    )  # fmt: skip
    ax.margins(x=0.02, y=0.1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    ax.set_xlabel("epoch" if hasattr(model, "max_epochs") else "iteration", color=style.INK, fontsize="small")
    ax.set_ylabel("loss", color=style.INK, fontsize="small")
    return ax


def _trace(model: Any) -> tuple[Floats, Floats]:
    """Iterations and losses."""
    if hasattr(model, "fit") and not hasattr(model, "loss_curve_"):
        raise ValueError(
            f"loss: the model must be fitted and have loss_curve_; {type(model).__name__} has none. "
            "Call fit first, or pass the losses themselves."
        )
    trace = np.asarray(getattr(model, "loss_curve_", model), dtype=np.float64)
    if trace.ndim == 1:
        at = getattr(model, "loss_iterations_", np.arange(len(trace)))
        trace = np.column_stack([at, trace])
    if trace.ndim != 2 or trace.shape[1] != 2 or not len(trace):
        raise ValueError(
            f"loss: one loss per step, or columns of iteration and loss, are needed; got shape {trace.shape}. "
            "Pass a fitted model or such an array."
        )
    if not np.isfinite(trace).all():
        raise ValueError(
            "loss: losses must be finite; some are NaN or infinity. The fit diverged: lower its learning rate."
        )
    return trace[:, 0], trace[:, 1]
