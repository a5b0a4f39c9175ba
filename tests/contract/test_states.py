"""What a model file may hold is declared by every method, and each number in it is checked when it is loaded."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
from sklearn.utils import get_tags
from test_laws import every_method, make

import lowdim
from lowdim.persist import ModelFileError
from lowdim.persist.fields import SEEN
from lowdim.work.backend_arrays import all_to_numpy

TENSORS = os.environ.get("LOWDIM_LAWS")  # see conftest.py
# Documented to hold what is not finite, or any numbers.
FREE = {"class_distance_", "classes_", "scores_", "loss_iterations_"}
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* the graph of neighbours must be"),
    pytest.mark.filterwarnings("ignore:SparsePCA. loadings still changed"),
]


def fitted(cls):
    """A model fitted on rows in two clusters, so that graphs fall apart and what comes of that is kept."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), rng.integers(3, size=40)
    X[:12] += 100
    X = np.abs(X) if get_tags(cls()).input_tags.positive_only else X
    known = cls()._get_param_names()
    options = {
        "disconnected": "largest",
        "landmarks": 20,
        "fit_inverse_transform": TENSORS is None,
        "svd_solver": "streaming",
    }
    fits = {name: value for name, value in options.items() if name in known and cls._rules[name].accepts(value)}
    model = make(cls, **fits).fit(X, y)
    vars(model).update({name: all_to_numpy(value) for name, value in vars(model).items()})  # as it is saved
    return model, X


def arrays_in(value, name):
    """Names of attributes by the number of each array that holds a part of them."""
    if isinstance(value, dict):
        if "$array" in value:
            yield value["$array"], name
        for part in value.values():
            yield from arrays_in(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from arrays_in(part, name)


def damages(array):
    """The array with one value that cannot be, once for each way."""
    values = {"f": [np.nan, np.inf], "i": [-7, 10**6]}.get(array.dtype.kind, [])
    for value in values if array.size else []:
        bad = array.copy()
        bad.reshape(-1)[array.size // 2] = value
        yield bad


@every_method
def test_every_attribute_is_declared(cls):
    model, _ = fitted(cls)
    learnt = set(vars(model)) - set(model.get_params())
    assert learnt <= set(SEEN | model._state()), "declare what fit sets in _state"
    model._check_state()


@every_method
def test_a_single_bad_number_in_a_file_is_refused(cls, tmp_path):
    model, _ = fitted(cls)
    path = tmp_path / "model.lowdim"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    state = dict(json.loads(members["manifest.json"])["state"]["$dict"])
    tried = 0
    for key, value in state["fitted"]["$dict"]:
        for number, name in arrays_in(value, key):
            member = f"arrays/{number}.npy"
            for bad in damages(np.load(io.BytesIO(members[member]))) if name not in FREE else ():
                buffer = io.BytesIO()
                np.save(buffer, bad)
                with zipfile.ZipFile(path, "w") as archive:
                    for other, data in members.items():
                        archive.writestr(other, buffer.getvalue() if other == member else data)
                with pytest.raises(ModelFileError, match="an invalid model|damaged"):
                    lowdim.load(path)
                tried += 1
    assert tried or cls is lowdim.SequentialFeatureSelector


@every_method
def test_a_file_that_lacks_or_adds_an_attribute_is_refused(cls, tmp_path):
    model, _ = fitted(cls)
    required = [name for name, field in (SEEN | model._state()).items() if not field.optional]
    for name in required:
        kept = vars(model).pop(name)
        with pytest.raises(ValueError, match=f"{name} is missing"):
            model._check_state()
        vars(model)[name] = kept
    model.surprise_ = 1
    with pytest.raises(ValueError, match="surprise_ do not belong to this model"):
        model._check_state()
