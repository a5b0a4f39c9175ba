"""Every function of a backend has the parameters, defaults and promises of the operation that it implements."""

import inspect
import pkgutil
import re
from importlib import import_module

import pytest

import lowdim
from lowdim import backends
from lowdim.work.dispatch import OPERATIONS, full_name, numpy_version

NEEDS = {"torch": ("torch", "triton"), "dask": ("dask",)}


def pairs(name):
    for package in NEEDS[name]:
        pytest.importorskip(package)
    import_module(f"lowdim.backends.{name}")
    return getattr(backends, name.upper()).implementations.items()


@pytest.fixture(params=NEEDS)
def implemented(request):
    return list(pairs(request.param))


def test_parameters_and_defaults_are_those_of_the_operation(implemented):
    assert len(implemented) > 10
    for operation, function in implemented:
        ours = inspect.signature(numpy_version(operation)).parameters
        theirs = inspect.signature(function).parameters
        assert list(ours) == list(theirs), full_name(operation)
        for name, one in ours.items():
            assert (one.kind, one.default) == (theirs[name].kind, theirs[name].default), (full_name(operation), name)


def test_shapes_in_the_docstrings_agree(implemented):
    """A shape such as (n, k) that both name must be the same one, in the same order."""
    shapes = re.compile(r"\(([a-z]\w?(?:, [a-z]\w?)*,?)\)")
    for operation, function in implemented:
        assert function.__doc__, full_name(operation)
        ours, theirs = (set(shapes.findall(f.__doc__.split(">>>")[0])) for f in (operation, function))
        assert not ours or not theirs or ours & theirs, (full_name(operation), ours, theirs)


@pytest.mark.parametrize("name", NEEDS)
def test_every_module_of_a_backend_is_imported_with_it(name):
    pairs(name)
    package = import_module(f"lowdim.backends.{name}")
    missing = {found.name for found in pkgutil.iter_modules(package.__path__)} - set(vars(package))
    unregistered = {m for m in missing if "implements" in inspect.getsource(import_module(f"{package.__name__}.{m}"))}
    assert not unregistered


def test_no_function_is_looked_up_by_a_string():
    """Only the table names packages of backends, and only it does so."""
    for found in pkgutil.walk_packages(lowdim.__path__, "lowdim."):
        if found.name.startswith("lowdim.backends") or found.name in ("lowdim.__main__", "lowdim._native"):
            continue
        source = inspect.getsource(import_module(found.name))
        assert not re.search(r"import_module\(.*backends|\"lowdim\.backends", source), found.name


def test_operations_are_all_those_that_a_backend_implements(implemented):
    assert {operation for operation, _ in implemented} <= OPERATIONS
