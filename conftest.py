"""Examples in docstrings that need an optional package are skipped where it is not installed, with the reason."""

from importlib.util import find_spec

import pytest

# Modules for tensors need both to be imported at all; their tests say so in tests/torch_backend.
collect_ignore_glob = [] if find_spec("torch") and find_spec("triton") else ["src/lowdim/backends/torch/*"]
if not find_spec("dask"):  # and tests/dask_backend says so for Dask
    collect_ignore_glob += ["src/lowdim/backends/dask/*"]
_NEEDS = {
    "lowdim.methods.autoencoder.Autoencoder": "torch",
    "lowdim.methods.parametric.ParametricTSNE": "torch",
    "lowdim.methods.parametric.ParametricUMAP": "torch",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what cannot run here."""
    for item in items:
        package = _NEEDS.get(item.name)
        if package and find_spec(package) is None:
            item.add_marker(pytest.mark.skip(reason=f"{package} is not installed: pip install 'lowdim[{package}]'"))
