"""
Every method on the same data
=============================

500 digits, coloured by digit, and a swiss roll, coloured along the roll, by every method that produces a map.
"""

import warnings
from importlib.util import find_spec

import matplotlib.pyplot as plt

from lowdim import data, show
from lowdim.methods import registry

# Ranks of features, methods of two views or of tables with text, and networks that learn another method's map.
NO_MAP = {"select", "rank", "cca", "kernel_cca", "pls_canonical", "famd", "mca", "parametric_umap", "parametric_tsne"}
GIVEN = {"kernel_pca": {"gamma": "median"}, "lle": {"method": "ltsa", "n_neighbors": 12}}  # besides the defaults

digits, digit = data.load("digits")
digits, digit = digits[:500], digit[:500]
roll, along = data.load("swissroll", n_samples=1000)
methods = [
    method
    for method in registry.METHODS
    if method.name not in NO_MAP and (not method.needs_torch or find_spec("torch"))
]

warnings.simplefilter("ignore")  # the graph of 500 digits is not connected, of which methods warn
figure, axes = plt.subplots(-(-len(methods) // 3), 6, figsize=(12, 10.5), layout="constrained")
for ax in axes.flat:
    ax.axis("off")
for method, left, right in zip(methods, axes[:, ::2].flat, axes[:, 1::2].flat, strict=False):
    cls, given = method.load(), {"n_components": 2, **GIVEN.get(method.name, {})}
    if "random_state" in cls().get_params():
        given["random_state"] = 0
    left.set_title(cls.__name__, fontsize=11, loc="left")
    left.axis("on")
    show.scatter(cls(**given).fit_transform(digits, digit if method.supervised else None), digit, legend=False, ax=left)
    if method.supervised:
        right.text(0.5, 0.5, "needs classes", ha="center", va="center", color="0.5", fontsize=9)
    else:
        right.axis("on")
        rows = roll - roll.min(axis=0) if method.name == "nmf" else roll  # parts have no negative values
        show.scatter(cls(**given).fit_transform(rows), along, legend=False, ax=right)
for ax in axes.flat:
    ax.set(xlabel="", ylabel="")
plt.show()
