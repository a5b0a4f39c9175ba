"""Fits of several Python threads at once, with the GIL or, where Python has none, without."""

import sys
import sysconfig
import threading

import numpy as np
import pytest

from lowdim import LLE, PCA, TSNE, UMAP, Isomap, KernelPCA, PaCMAP


def fits(X):
    """A map or scores by methods that use every part of the core, by name."""
    models = [
        PCA(3),
        KernelPCA(2),
        Isomap(2, n_neighbors=8),
        LLE(2, n_neighbors=8, random_state=0),
        TSNE(max_iter=60, perplexity=10, random_state=0),
        UMAP(n_neighbors=8, n_epochs=40, random_state=0),
        PaCMAP(max_iter=60, random_state=0),
    ]
    return {type(model).__name__: np.asarray(model.fit_transform(X)) for model in models}


def test_eight_threads_fit_at_once_with_the_bits_of_one(decaying):
    expected = fits(decaying)
    begin, found, errors = threading.Barrier(8), {}, []

    def work(place):
        try:
            begin.wait()
            found[place] = fits(decaying)
        except Exception as error:
            errors.append(error)

    callers = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not errors
    assert len(found) == 8
    for maps in found.values():
        for name, Y in maps.items():  # the last bits of LLE depend on where LAPACK's matrices lie in memory
            np.testing.assert_allclose(Y, expected[name], rtol=0, atol=1e-10 if name == "LLE" else 0, err_msg=name)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_native_module_leaves_the_gil_off():
    assert not sys._is_gil_enabled()
