"""The table of backends: libraries whose arrays estimators take besides NumPy's, and who implements the operations.

``backends.torch`` and ``backends.dask`` register their functions with ``@TORCH.implements(operation)`` and
``@DASK.implements(operation)``; each is imported as a whole when the first array of its library arrives.
"""

from lowdim.work.dispatch import Backend, register

TORCH = register("torch", Backend("a torch tensor", "numpy(force=True)", "lowdim.backends.torch"))
DASK = register(
    "dask",
    Backend(
        "a Dask array or DataFrame",
        "compute()",
        "lowdim.backends.dask",
        advice="Take some of its rows, lowdim.data.sample(X, n, random_state=0): a model fitted on those transforms "
        "all rows by transform.",
        distributed=True,
    ),
)
register("cupy", Backend("a cupy array", "get()"))
for _library in ("jax", "jaxlib"):
    register(_library, Backend("a jax array", "__array__()"))
