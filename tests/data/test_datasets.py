import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from lowdim.data.datasets import feature_names, image_shape, load, names

GENERATED = {"rings": 2, "xor": 2, "swissroll": 3, "spiral": 2, "s_curve": 3, "blobs": 10, "two_planes": 3, "tree": 100}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("LOWDIM_DATA", raising=False)


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("digits", (1797, 64), 10),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("breast_cancer", (569, 30), 2),
    ],
)
def test_bundled_sets_have_their_known_shapes_and_names(name, shape, classes):
    X, y = load(name)
    assert X.shape == shape
    assert X.dtype == np.float64
    assert len(np.unique(y)) == classes
    assert len(feature_names(name)) == shape[1]


def test_digits_are_those_of_scikit_learn():
    X, y = load("digits")
    expected = load_digits()
    np.testing.assert_array_equal(X, expected.data)
    np.testing.assert_array_equal(y, expected.target)


@pytest.mark.parametrize(("name", "d"), GENERATED.items())
def test_generated_sets_follow_the_seed(name, d):
    X, y = load(name, n_samples=50, random_state=3)
    again, y_again = load(name, n_samples=50, random_state=3)
    other, _ = load(name, n_samples=50, random_state=4)
    assert X.shape == (50, d)
    assert y.shape == (50,)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.allclose(X, other)


@pytest.mark.parametrize("name", ["rings", "xor", "blobs", "two_planes"])
def test_classes_are_balanced_in_every_beginning(name):
    _, y = load(name, n_samples=121)
    counts = np.bincount(y[:61])
    assert np.ptp(counts[counts > 0]) <= len(counts) // 2
    assert np.ptp(np.bincount(load(name, n_samples=120)[1])) == 0


def test_the_classes_of_xor_cannot_be_told_by_one_coordinate():
    X, y = load("xor", noise=0.0)
    np.testing.assert_array_equal(y, (X[:, 0] * X[:, 1] < 0).astype(int))


def test_noise_free_shapes_satisfy_their_equations():
    X, y = load("rings", noise=0.0)
    np.testing.assert_allclose(np.hypot(*X.T), 1 + 2 * y)
    X, t = load("swissroll", noise=0.0)
    np.testing.assert_allclose(np.hypot(X[:, 0], X[:, 2]), t)
    X, _ = load("two_planes", noise=0.0)
    normal = np.ones(3) / np.sqrt(3)
    np.testing.assert_allclose(np.abs(X @ normal), 1.0)
    X, t = load("s_curve", noise=0.0)
    np.testing.assert_allclose(X[:, 0], np.sin(t))


def test_y_of_the_spiral_is_its_arc_length_and_neighbours_follow_it():
    X, s = load("spiral", n_samples=2000, noise=0.0)
    order = np.argsort(s)
    walked = np.cumsum(np.linalg.norm(np.diff(X[order], axis=0), axis=1))
    np.testing.assert_allclose(walked, s[order][1:] - s[order][0], rtol=1e-3, atol=1e-3)
    X, s = load("spiral")
    graph = kneighbors_graph(X, 8)
    rows, columns = graph.nonzero()
    assert np.abs(s[rows] - s[columns]).max() < 0.1 * np.ptp(s)  # no shortcut between turns


def test_planes_fall_apart_and_the_roll_hangs_together():
    for name, pieces in (("two_planes", 2), ("swissroll", 1), ("s_curve", 1), ("rings", 2)):
        found, _ = connected_components(kneighbors_graph(load(name)[0], 10), directed=False)
        assert found == pieces, name


def test_noise_has_the_standard_deviation_asked_for():
    clean, _ = load("swissroll", n_samples=4000, noise=0.0)
    noisy, _ = load("swissroll", n_samples=4000, noise=0.5)
    assert np.std(noisy - clean) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("option", [{"n_samples": 5}, {"noise": 0.1}])
def test_fixed_sets_take_no_options(option, folder):
    np.savez(folder / "mammoth_50k.npz", X=np.zeros((3, 3)))
    for name in ("iris", "mammoth"):
        with pytest.raises(ValueError, match=rf"for generated sets .*{name}.*Leave {next(iter(option))} out"):
            load(name, **option)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"n_samples": 1}, "n_samples must be an integer ≥ 2; got 1"),
        ({"n_samples": 10.0}, "n_samples must be an integer"),
        ({"noise": -1}, "noise must be a number"),
        ({"noise": float("nan")}, "noise must be a number"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_options_out_of_range_are_refused(option, text):
    with pytest.raises(ValueError, match=text):
        load("rings", **option)


def test_an_unknown_name_is_answered_with_the_nearest_and_all_others():
    with pytest.raises(ValueError, match=r"got 'swiss_roll'. Did you mean 'swissroll'\? There are digits, iris,"):
        load("swiss_roll")
    with pytest.raises(ValueError, match=r"got 'qqqq'\. There are digits"):
        load("qqqq")


def test_stored_sets_are_listed_when_their_file_is_there(folder):
    assert "faces" not in names()
    np.savez(folder / "olivetti_faces.npz", X=np.zeros((2, 4096), np.uint8))
    assert "faces" in names()
    assert "mnist" not in names()


def test_stored_sets_come_exactly_as_stored(folder):
    X = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.savez(folder / "mnist.npz", X=X, y=np.array([1, 2, 3], np.uint8))
    np.savez(folder / "glove_100d_100k.npz", X=X.astype(np.float16), words=np.zeros(7, np.uint8))
    found, y = load("mnist")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(y, [1, 2, 3])
    found, y = load("glove")
    assert found.dtype == np.float16
    assert y is None


def test_a_sparse_set_comes_as_csr_with_labels_beside_it(folder):
    S = sparse.random(5, 7, density=0.4, format="csr", dtype=np.float32, random_state=0)
    parts = {"indices": S.indices, "indptr": S.indptr, "data": S.data, "shape": S.shape}
    np.savez(folder / "reuters_tfidf_sparse.npz", format="csr", y=np.arange(5), **parts)
    X, y = load("reuters")
    assert X.format == "csr"
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.toarray(), S.toarray())
    np.testing.assert_array_equal(y, np.arange(5))


def test_dense_coordinates_win_over_the_sparse_matrix_beside_them(folder):
    S = sparse.csr_matrix(np.eye(4))
    parts = {"indices": S.indices, "indptr": S.indptr, "data": S.data, "shape": S.shape}
    np.savez(folder / "pbmc3k.npz", X=np.ones((4, 2)), format="csr", **parts)
    np.testing.assert_array_equal(load("pbmc3k")[0], np.ones((4, 2)))


def test_a_stored_set_that_is_not_there_names_the_variable_and_the_file(folder, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"olivetti_faces\.npz in the folder that LOWDIM_DATA .*not in '"):
        load("faces")
    monkeypatch.delenv("LOWDIM_DATA")
    with pytest.raises(FileNotFoundError, match=r"'faces' needs the file .*variable is not set\. Set LOWDIM_DATA"):
        load("faces")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 half of one"])
def test_a_damaged_stored_set_says_which_file(folder, content):
    (folder / "letter.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"load: 'letter' needs .*letter\.npz' cannot be read .*Replace the file"):
        load("letter")


def test_image_shapes_fit_the_rows():
    height, width = image_shape("digits")
    assert height * width == load("digits")[0].shape[1]
    assert image_shape("faces") == (64, 64)
    assert image_shape("iris") is None
    assert image_shape("no such set") is None
