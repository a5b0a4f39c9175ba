"""The code base keeps its own rules."""

import ast
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from importlinter.cli import lint_imports
from scipy.spatial.distance import pdist
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim import _native
from lowdim.methods import registry
from lowdim.methods.neighbor_embedding import NeighborEmbedding
from lowdim.methods.neighborhood import NeighborReducer
from lowdim.persist.fields import SEEN, check_fields

ROOT = Path(__file__).parents[2]
PACKAGE = Path(lowdim.__file__).parent


def test_layers_import_only_downwards(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def test_private_functions_of_scikit_learn_are_imported_in_one_module():
    def private(path):
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        names = [f"{node.module}.{name.name}" for node in imports for name in node.names]
        return any(name.startswith("sklearn.") and "._" in name for name in names)

    assert {path.name for path in PACKAGE.rglob("*.py") if private(path)} == {"compat.py"}


@pytest.mark.parametrize("file", ["neighbor_embedding", "isomap", "lle", "diffusion"])
def test_a_fit_reads_as_its_algorithm(file):
    tree = ast.parse((PACKAGE / "methods" / f"{file}.py").read_text())
    (learn,) = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "_learn")
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(learn)) - 1 <= 20


def test_method_files_do_not_import_each_other():
    methods = {method.module.rpartition(".")[2] for method in registry.METHODS}
    for path in (PACKAGE / "methods").glob("*.py"):
        imported = re.findall(r"from lowdim\.methods\.(\w+) import|from lowdim\.methods import (\w+)", path.read_text())
        assert not methods & {name for pair in imported for name in pair}, path.name


def test_what_methods_share_is_no_method():
    for base in (NeighborEmbedding, NeighborReducer):
        with pytest.raises(TypeError, match="abstract"):
            base()


def test_importing_lowdim_loads_nothing_heavy_or_optional():
    code = (
        "import sys, lowdim; import lowdim.methods.registry; dir(lowdim)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'polars', 'matplotlib', 'torch', 'dask', 'rich', 'click'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))\n"
        "from lowdim import PCA; import numpy as np; PCA(1).fit_transform(np.eye(4))\n"
        # not pandas: scikit-learn itself loads it where it is installed
        "optional = {'matplotlib', 'torch', 'dask', 'polars', 'rich', 'click', 'PIL'}\n"
        "optional |= {'starlette', 'uvicorn', 'websockets', 'anywidget'}\n"
        "print(sorted(optional & {name.split('.')[0] for name in sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[:2] == ["[]", "[]"]


def test_every_public_name_loads():
    for name in lowdim.__all__:
        assert getattr(lowdim, name) is not None
    assert set(lowdim.__all__) <= set(dir(lowdim))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lowdim.nothing


def test_stub_names_what_the_native_module_has():
    tree = ast.parse((PACKAGE / "_native.pyi").read_text())
    stubbed = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    stubbed |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and node.target.id.isupper()}
    assert stubbed == {name for name in dir(_native) if not name.startswith("_")}


def test_every_method_has_its_page_and_its_tests():
    readme = (ROOT / "README.md").read_text()
    for method in registry.METHODS:
        page = method.module.rsplit(".", 1)[-1]
        assert method.class_name in lowdim.__all__
        assert f"`{method.class_name}`" in readme
        assert f"(docs/maths/{page}.md)" in readme
        assert (ROOT / "docs" / "maths" / f"{page}.md").is_file()
        assert (ROOT / "tests" / "methods" / f"test_{page}.py").is_file()


def test_links_in_the_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_first_blocks_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    names: dict = {}
    for block in (*blocks[:2], blocks[3].partition("model =")[0]):  # the third compares all methods, which takes longer
        exec(block, names)
    plt.close("all")
    assert names["pca"].n_components_ == 21  # as the comment there says
    assert names["found"]["trustworthiness"] > 0.98


def test_the_parts_of_a_map_combine_as_documented():
    block, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "parts.md").read_text(), re.S)
    names: dict = {}
    exec(block, names)
    assert names["reached"].value < 1  # the digits' divergence is 0.74 after 750 iterations
    assert names["reached"].value == pytest.approx(names["loss"], rel=1e-3)
    assert names["new"].shape == (5, 2)


def test_the_method_written_out_in_the_documentation_keeps_the_contract(rng, tmp_path, monkeypatch):
    block, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "adding_a_method.md").read_text(), re.S)
    (tmp_path / "documented_method.py").write_text(block)
    monkeypatch.syspath_prepend(tmp_path)
    cls = import_module("documented_method").RandomProjection
    method = cls(400, random_state=0)
    check_estimator(cls(random_state=0), on_skip=None)
    with pytest.raises(ValueError, match="n_components must be at most n_features = 50; got 400"):
        method.fit(rng.normal(size=(30, 50)))
    X = rng.normal(size=(30, 1000))
    apart, kept = pdist(X, "sqeuclidean"), pdist(method.fit_transform(X), "sqeuclidean")
    assert abs(kept / apart - 1).mean() < method.distortion_
    check_fields({name: vars(method)[name] for name in method._state()}, SEEN | method._state(), partly=True)


def test_source_files_stay_short():
    sources = list(PACKAGE.rglob("*.py"))
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in sources}
    assert len(lengths) == len(sources)  # files of one name in several packages all count
    assert not {name: length for name, length in lengths.items() if length > 450}, "does it hold one thing?"


def test_types_of_the_native_headers_have_names_of_their_own():
    """Two types of one name in different files would share destructors when the core is linked."""
    found = Counter()
    for path in sorted((ROOT / "cpp").rglob("*.hpp")):
        text = path.read_text()
        space = re.search(r"^namespace (lowdim[\w:]*) \{", text, re.M)
        names = re.findall(r"^(?:template <.*> )?(?:class|struct|enum class) (\w+)[^;(]*\{", text, re.M)
        found.update((space and space[1], name) for name in set(names))  # a file may specialise its own
    assert len(found) > 40
    assert [name for name, count in found.items() if count > 1] == []


def test_contributing_stays_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) < 60


def test_no_pickle_in_the_package():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text
