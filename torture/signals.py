"""Ctrl-C at a random moment of a fit: KeyboardInterrupt comes soon, and the model is as it was before."""

import inspect
import os
import signal
import threading
import time
import warnings

import numpy as np

from lowdim.methods import registry
from torture import draws
from torture.inputs import METHODS
from torture.judge import Failure

_SOON = 3.0  # seconds; a machine at work on other things needs some slack


def run(rng: np.random.Generator, only: str = "") -> str:
    """One interrupted fit."""
    method = registry.find(only or draws.pick(rng, METHODS))
    cls = method.load()
    n, d = int(draws.pick(rng, [500, 1500, 2500])), int(draws.pick(rng, [3, 50, 300]))
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    model = cls(**{"random_state": 0} if "random_state" in inspect.signature(cls).parameters else {})
    pressed: list[float] = []
    done = False

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(float(rng.uniform(0.0, 2.0)), press)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            timer.start()
            model.fit(X, y)
            done = True
            timer.cancel()
            timer.join()
        except KeyboardInterrupt:
            if done:
                return "finished first"
            took = time.monotonic() - pressed[0]
            if took > _SOON:
                raise Failure("late", f"{method.name}, {n} × {d}: {took:.1f} s after Ctrl-C") from None
            if set(vars(model)) != set(model.get_params()):
                raise Failure("changed object", f"{method.name} kept attributes") from None
            return "interrupted"
    return "finished first"
