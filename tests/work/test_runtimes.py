"""lowdim beside libraries that bring thread runtimes of their own."""

import json
import subprocess
import sys

import pytest

CODE = """
import json
import torch, numpy as np, sklearn.cluster, lowdim
from threadpoolctl import threadpool_info

X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
clusters = sklearn.cluster.KMeans(3, n_init=2, random_state=0).fit(X)
product = torch.from_numpy(X) @ torch.from_numpy(X).T
before = {pool["filepath"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
Y = lowdim.TSNE(max_iter=60, random_state=0).fit_transform(X)
after = {pool["filepath"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
again = sklearn.cluster.KMeans(3, n_init=2, random_state=0).fit(X)
same = (clusters.labels_ == again.labels_).all() and torch.equal(product, torch.from_numpy(X) @ torch.from_numpy(X).T)
print(json.dumps({"brought": sorted(after - before), "same": bool(same), "map": Y[:3].tolist()}))
"""


def test_torch_scikit_learn_and_lowdim_fit_in_one_process():
    pytest.importorskip("torch")
    import numpy as np

    from lowdim import TSNE

    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["brought"] == []
    assert found["same"]
    X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    np.testing.assert_array_equal(found["map"], TSNE(max_iter=60, random_state=0).fit_transform(X)[:3])


def test_the_native_module_links_no_openmp():
    from lowdim import _native

    with open(_native.__file__, "rb") as file:
        content = file.read()
    assert b"libgomp" not in content
    assert b"libomp" not in content
