"""Files of arrays into tables: npy (as a memory map), npz and h5ad."""

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.data.file_errors import damaged, listing
from lowdim.data.file_memory import demand_bytes, demand_members
from lowdim.data.table import Table, Wanted, from_arrays, numbered
from lowdim.work.archive_errors import ARCHIVE_ERRORS


def read_npy(path: Path, source: str, wanted: Wanted) -> Table:
    """Table of an npy file, whose array stays a memory map."""
    try:
        X = np.lib.format.open_memmap(path, mode="r")
    except ARCHIVE_ERRORS as error:
        raise damaged(source, ".npy", error, "Save a filled array of numbers with numpy.save.") from None
    return from_arrays(X, numbered(X), {}, wanted, source)


def read_npz(path: Path, source: str, wanted: Wanted) -> Table:
    """Table of the array ``X`` (or the only one) of an npz file, or of a SciPy sparse matrix."""
    try:
        if not zipfile.is_zipfile(path):  # NumPy would take it for a pickle
            raise zipfile.BadZipFile("it is not an archive of arrays")
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            keys = list(arrays.files)
            plain = [key for key in keys if key not in ("y", "ids", "names")]
            key = "X" if "X" in keys else plain[0] if len(plain) == 1 else None
            beside = {"y", "ids", "names", wanted.label, wanted.id} & set(keys) - {key}
            demand_members(path, keys if key is None else [key, *map(str, beside)], source)
            extras: dict[str, NDArray[Any]] = {str(name): arrays[name] for name in beside}
            X = None if key is None else np.asarray(arrays[key])
        if key is None and {"format", "shape"} <= set(keys):
            with open(path, "rb") as file:
                X = sparse.load_npz(file).tocsr()
            X.check_format(full_check=True)
            X.sum_duplicates()
    except (*ARCHIVE_ERRORS, AttributeError) as error:
        advice = "Save arrays of numbers and text with numpy.savez, X and y by name."
        raise damaged(source, ".npz", error, advice) from None
    if X is None:
        raise ValueError(
            f"read: an array called X, or a single array, is needed; {source} has {listing(keys) or 'none'}. "
            "Save the data with numpy.savez(file, X=..., y=...)."
        )
    names = extras.pop("names", None)
    known = names is not None and names.dtype.kind == "U" and names.shape == X.shape[1:]
    return from_arrays(
        X,
        [str(name) for name in names] if known and names is not None else numbered(X),
        extras,
        wanted,
        source,
        label="y" if "y" in extras else None,
        id="ids" if "ids" in extras else None,
    )


def read_h5ad(path: Path, source: str, wanted: Wanted) -> Table:
    """Table of an AnnData file: ``X``, the names of ``var`` and columns of ``obs``."""
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise ImportError(
            f"read: the package h5py is needed for {source}; it is not installed. Install it: pip install h5py."
        ) from None
    try:
        with h5py.File(path, "r") as file:
            X, obs, var = _h5_matrix(file["X"], source), file["obs"], file["var"]
            index = obs.attrs["_index"]
            names = [str(name) for name in _h5_column(var[var.attrs["_index"]])]
            extras = {str(key): _h5_column(obs[key]) for key in {index, wanted.label, wanted.id} & set(obs)}
    except (*ARCHIVE_ERRORS, TypeError, AttributeError) as error:
        raise damaged(source, ".h5ad", error, "Write it again with a recent anndata.") from None
    return from_arrays(X, names, extras, wanted, source, id=index)


def _h5_matrix(node: Any, source: str) -> Any:
    parts = [node] if hasattr(node, "shape") else [node[part] for part in ("data", "indices", "indptr")]
    demand_bytes(sum(float(part.size) * part.dtype.itemsize for part in parts), source)
    if hasattr(node, "shape"):
        return node[:]
    kind = {"csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix}[node.attrs["encoding-type"]]
    X = kind((node["data"][:], node["indices"][:], node["indptr"][:]), shape=tuple(node.attrs["shape"]))
    X.check_format(full_check=True)
    return X.tocsr()


def _h5_column(node: Any) -> NDArray[Any]:
    """A column of obs or var: plain, text, categorical (codes, -1 missing) or nullable (values, mask)."""
    if hasattr(node, "shape"):
        return np.asarray(node.asstr()[:] if node.dtype.kind in "OS" else node[:])
    if "codes" in node:
        values = np.append(_h5_column(node["categories"]).astype(object), [None])
        return np.asarray(values[node["codes"][:]])
    values = node["values"][:].astype(object)
    values[node["mask"][:]] = None
    return np.asarray(values)
