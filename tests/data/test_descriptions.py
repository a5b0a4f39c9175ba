"""Texts that docstrings share arrive in them whether or not the compiler stripped their indentation."""

import inspect

import pytest

import lowdim
from lowdim import quality
from lowdim.data.descriptions import described

RAW = """What it does.

    Parameters
    ----------
    {k}
    more : str
        {not a name} and {k} stay.
    """
FILLED = """What it does.

Parameters
----------
k : int
    Number.
l : int
    Another, with

        an example.
more : str
    {not a name} and {k} stay."""
TEXT = """k : int
        Number.
    l : int
        Another, with

            an example."""


@pytest.mark.parametrize("doc", [RAW, inspect.cleandoc(RAW)], ids=["indented", "stripped"])
def test_shared_texts_are_put_in(doc):
    target = described({}, k=TEXT)(type("Target", (), {"__doc__": doc}))
    assert inspect.getdoc(target) == FILLED


@pytest.mark.parametrize("name", ["TSNE", "UMAP", "SNE", "PaCMAP"])
def test_no_placeholder_is_left_in_maps(name):
    doc = inspect.getdoc(getattr(lowdim, name))
    assert "\nmetric : str or callable\n    Distance" in doc
    assert not [line for line in doc.splitlines() if line.strip().startswith("{") and line.strip().endswith("}")]


def test_no_placeholder_is_left_in_measures():
    assert "\nsample : None, int" in inspect.getdoc(quality.trustworthiness)
