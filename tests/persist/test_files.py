"""Model files: what goes in comes out, nothing else gets in, and a crash leaves the old file."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lowdim
from lowdim.persist import FORMAT_VERSION, ModelFileError, read_state, write_state

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
arrays = hnp.arrays(
    st.sampled_from(["u1", "i8", "f4", "f8", "?", "c16", "<U3", ">f4"]), hnp.array_shapes(min_dims=0, min_side=0)
)
states = st.recursive(
    plain | arrays,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


@given(state=st.dictionaries(st.text(), states, max_size=4))
@settings(max_examples=60, deadline=None)
def test_states_come_back_as_they_were(state, tmp_path_factory):
    path = tmp_path_factory.mktemp("states") / "state.lowdim"
    write_state(path, state)
    assert same(read_state(path), (state, FORMAT_VERSION))


def test_scalars_text_arrays_order_and_sparse_matrices_come_back(tmp_path):
    matrix = sp.random_array((5, 4), density=0.5, format="csr", random_state=np.random.default_rng(0))
    state = {
        "scalar": np.float32(1.5),
        "names": np.array(["a", "bb"], dtype=object),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "sparse": matrix,
    }
    write_state(tmp_path / "s", state)
    back, _ = read_state(tmp_path / "s")
    assert isinstance(back["scalar"], np.float32)
    assert back["names"].dtype == object
    assert list(back["names"]) == ["a", "bb"]
    assert back["fortran"].flags.f_contiguous
    assert (back["sparse"] != matrix).nnz == 0


@pytest.mark.parametrize("value", [lambda x: x, object(), np.array([1, None]), {1, 2}])
def test_what_cannot_be_held_is_refused_by_name_and_leaves_no_file(value, tmp_path):
    with pytest.raises(TypeError, match=r"state\['kernel'\] is"):
        write_state(tmp_path / "s", {"kernel": value})
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.lowdim"
    lowdim.PCA(2).fit(np.random.default_rng(0).normal(size=(30, 4))).save(path)
    return path


def rewrite(path, change, **options):
    """The file with its manifest changed by ``change``, and other members as they were."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_the_file_says_what_it_is_without_lowdim(saved):
    with zipfile.ZipFile(saved) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("lowdim-model", FORMAT_VERSION)
    text = json.dumps(manifest)
    assert '"PCA"' in text
    assert lowdim.__version__ in text


@pytest.mark.parametrize("size", [0, 1, 20, 300, -1, -30, -200])
def test_truncated_files_are_refused(saved, size):
    data = saved.read_bytes()
    saved.write_bytes(data[:size])
    with pytest.raises(ModelFileError, match="not a model file, or is damaged.*Use another copy"):
        lowdim.load(saved)


def test_every_flipped_byte_is_found_or_harmless(saved):
    model, data = lowdim.load(saved), bytearray(saved.read_bytes())
    for place in range(0, len(data), 37):
        broken = data.copy()
        broken[place] ^= 0xFF
        saved.write_bytes(broken)
        try:
            again = lowdim.load(saved)
        except (ModelFileError, MemoryError):
            continue
        for key, value in vars(model).items():  # a byte that nobody reads, such as a time stamp
            assert same(vars(again)[key], value)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x80\x04\x95.", b"PK\x03\x04" + bytes(99)])
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match="not a model file"):
        lowdim.load(tmp_path / "x")


def test_an_npz_file_is_another_kind_of_archive(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(3))
    with pytest.raises(ModelFileError, match="x.npz"):
        lowdim.load(tmp_path / "x.npz")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="found nothing"):
        lowdim.load(tmp_path / "x")
    with pytest.raises(FileNotFoundError, match="found a folder"):
        lowdim.load(tmp_path)


def test_newer_and_older_formats_say_what_to_do(saved):
    rewrite(saved, lambda manifest, _: manifest.update(version=99))
    with pytest.raises(ModelFileError, match="format version 99.*up to 3. Upgrade lowdim"):
        lowdim.load(saved)
    for strange in (-3, True, "1", None):
        rewrite(saved, lambda manifest, _, version=strange: manifest.update(version=version))
        with pytest.raises(ModelFileError, match="format version"):
            lowdim.load(saved)
    rewrite(saved, lambda manifest, _: manifest.update(version=0))
    with pytest.raises(ModelFileError, match="format version 0.*no longer.*Fit the model again"):
        lowdim.load(saved)


def set_in_state(key, value):
    def change(manifest, _):
        items = manifest["state"]["$dict"]
        items[:] = [[k, value if k == key else v] for k, v in items]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_in_state("class", "os.system"), "class 'os.system'.*knows PCA"),
        (set_in_state("class", "Reducer"), "class 'Reducer'"),
        (set_in_state("params", {"$dict": [["evil", 1]]}), "holds 'evil', which PCA does not have"),
        (set_in_state("fitted", {"$dict": [["transform", "x"]]}), "holds 'transform'"),
        (set_in_state("fitted", {"$dict": [["__class__", "x"]]}), "holds '__class__'"),
        (set_in_state("fitted", {"$call": ["os.system", "ls"]}), "unknown kind of value '\\$call'"),
        (set_in_state("fitted", {"$array": "77"}), "damaged"),
        (set_in_state("class", [1]), "has no 'class'"),
        (set_in_state("params", {"$dict": [["svd_solver", "nope"]]}), "svd_solver must be one of"),
        (set_in_state("params", {"$dict": [["n_jobs", "x"]]}), "n_jobs must be"),
        (set_in_state("params", {"$dict": [[3, 1]]}), "params without valid names"),
        (set_in_state("fitted", {"$dict": [["n_components", 7]]}), "holds 'n_components'"),
        (set_in_state("fitted", {"$dict": [["components_", "hello"]]}), "an invalid model"),
        (lambda m, _: m.update(state=[]), "holds no state"),
        (lambda m, _: m.pop("state"), "damaged"),
        (lambda m, members: members.update({"arrays/0.npy": b"\x93NUMPY\x01\x00"}), "damaged"),
    ],
)
def test_hostile_manifests_are_refused(saved, change, words):
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=words):
        lowdim.load(saved)


def change_array(name, value):
    def change(manifest, members):
        fitted = dict(dict(manifest["state"]["$dict"])["fitted"]["$dict"])
        buffer = io.BytesIO()
        np.save(buffer, value)
        members[f"arrays/{fitted[name]['$array']}.npy"] = buffer.getvalue()

    return change


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_", np.zeros(3)),
        ("components_", np.zeros((2, 5))),
        ("explained_variance_", np.zeros(7)),
        ("scale_", np.eye(4)),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(saved, name, value):
    rewrite(saved, change_array(name, value))
    with pytest.raises(ModelFileError, match="an invalid model.*fit"):
        lowdim.load(saved)


def test_dates_as_labels_come_back(tmp_path, rng):
    days = np.array(["2020-01-01", "2021-06-01"], dtype="datetime64[D]").repeat(5)
    path = tmp_path / "m.lowdim"
    lowdim.LDA().fit(rng.normal(size=(10, 3)), days).save(path)
    np.testing.assert_array_equal(lowdim.load(path).classes_, days[[0, -1]])


def test_routing_requests_do_not_stop_a_save(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        pca = lowdim.PCA(2).set_fit_request(sample_weight=True).fit(np.random.default_rng(0).normal(size=(30, 4)))
        pca.save(tmp_path / "m")
    assert lowdim.load(tmp_path / "m").n_components == 2


def test_arrays_of_objects_are_never_unpickled(saved, tmp_path):
    marker = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    rewrite(saved, lambda _, members: members.update({"arrays/0.npy": buffer.getvalue()}))
    with pytest.raises(ModelFileError, match="does not match its header"):
        lowdim.load(saved)
    assert not marker.exists()


def test_compressed_members_cannot_blow_up_memory(saved):
    rewrite(saved, lambda _, members: members.update({"arrays/9.npy": bytes(10**7)}), compression=zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 10**5
    with pytest.raises(ModelFileError, match="compressed"):
        lowdim.load(saved)


def test_a_header_that_promises_more_than_there_is_allocates_nothing(saved):
    header = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }".ljust(117)
        + b"\n"
    )
    rewrite(saved, lambda _, members: members.update({"arrays/0.npy": header}))
    with pytest.raises(ModelFileError, match="does not match its header"):
        lowdim.load(saved)


def test_deep_nesting_is_an_error_and_no_crash(saved):
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr(
            "manifest.json", '{"format": "lowdim-model", "version": 1, "state": ' + "[" * 10**5 + "]" * 10**5 + "}"
        )
    with pytest.raises(ModelFileError):
        lowdim.load(saved)


def test_a_model_larger_than_memory_is_refused(saved, monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "100")
    with pytest.raises(MemoryError, match="Loading"):
        lowdim.load(saved)


def test_killing_a_save_leaves_the_old_file(tmp_path):
    """A process that saves again and again is killed at odd moments; the file is whole each time."""
    path = tmp_path / "model.lowdim"
    code = (
        "import sys, numpy as np, lowdim\n"
        "pca = lowdim.PCA(40).fit(np.random.default_rng(0).normal(size=(60, 20000)).astype('f4'))\n"
        "print('ready', flush=True)\n"
        "while True: pca.save(sys.argv[1])"
    )
    lowdim.PCA(2).fit(np.random.default_rng(0).normal(size=(30, 4))).save(path)
    for delay in (0.01, 0.05, 0.08):
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert lowdim.load(path).n_components in (2, 40)


def test_a_generator_as_seed_does_not_stop_a_save(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 4))
    pca = lowdim.PCA(2, random_state=np.random.default_rng(1)).fit(X)
    pca.save(tmp_path / "m")
    assert lowdim.load(tmp_path / "m").random_state is None


def test_overlapping_members_are_refused(saved):
    """Members that share their bytes would make a small file take any amount of memory."""
    with zipfile.ZipFile(saved) as archive:
        first = archive.getinfo("arrays/0.npy")
        others = [name for name in archive.namelist() if name.startswith("arrays/") and name != "arrays/0.npy"]
    data = bytearray(saved.read_bytes())
    for name in others:  # all entries of the directory point to the first array
        place = data.rindex(name.encode()) - 46
        data[place + 42 : place + 46] = first.header_offset.to_bytes(4, "little")
        for start in (16, 20, 24):  # checksum and sizes
            value = (first.CRC, first.compress_size, first.file_size)[start // 4 - 4]
            data[place + start : place + start + 4] = value.to_bytes(4, "little")
    saved.write_bytes(data)
    with pytest.raises(ModelFileError, match="overlaps|damaged"):
        lowdim.load(saved)


def test_members_that_the_manifest_does_not_name_are_not_read(saved, monkeypatch):
    rewrite(saved, lambda _, members: members.update({"arrays/99.npy": b"no array"}))
    assert lowdim.load(saved).n_components == 2


def as_format(path, version, change=lambda state: None):
    """Write the model file ``path`` again, as a lowdim of format ``version`` would, its state changed."""
    state, _ = read_state(path)
    change(state)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lowdim.persist.archive.FORMAT_VERSION", version)
        write_state(path, state)


def with_old_names(state):
    old = {
        "early_exaggeration": "exaggeration",
        "early_exaggeration_iter": "exaggeration_iter",
        "exaggeration": "late_exaggeration",
        "max_iter": "n_iter",
        "method": "repulsion",
        "method_": "repulsion_",
        "neighbor_search": "neighbors",
        "neighbor_search_": "neighbors_",
        "neighbor_recall_": "neighbors_recall_",
        "loss_curve_": "loss_trace_",
        "kl_divergence_error_": "kl_normalizer_",
        "_rows": "_X",
    }
    for part in ("params", "fitted"):
        state[part] = {old.get(key, key): value for key, value in state[part].items()}
    state["params"]["repulsion"] = "interpolation"
    state["fitted"]["kl_normalizer_"] = (
        "fft, corrected by exact sums at 1000 points: KL within 3e-05, forces within 1e-3"
    )
    for absent in ("force_error_", "_fitted"):
        del state["fitted"][absent]


def test_names_of_older_formats_are_translated_and_refused_in_newer_ones(tmp_path, rng):
    path, X = tmp_path / "tsne.lowdim", rng.normal(size=(60, 4))
    model = lowdim.TSNE(early_exaggeration=11, exaggeration=1.5, max_iter=20, method="fft", random_state=0).fit(X)
    model.save(path)
    as_format(path, 2, with_old_names)
    loaded = lowdim.load(path)
    assert loaded.get_params() == model.get_params()
    assert loaded.kl_divergence_error_ == 3e-5
    np.testing.assert_array_equal(loaded.transform(X[:3] + 0.1), model.transform(X[:3] + 0.1))
    as_format(path, 3)
    with pytest.raises(ModelFileError, match=r"'exaggeration_iter'.*TSNE does not have"):
        lowdim.load(path)
    model.save(path)
    as_format(path, 2)
    with pytest.raises(ModelFileError, match="a file of an older format has names of format 3"):
        lowdim.load(path)


def test_weights_of_umap_in_files_of_older_formats_have_the_units_of_today(tmp_path, rng):
    def as_before(state):
        state["params"]["supervision"] = state["params"].pop("target_weight")
        state["params"]["neighbors"] = state["params"].pop("neighbor_search")
        state["params"]["repulsion_strength"] /= 2
        fitted = state["fitted"]
        fitted |= {"graph_": fitted.pop("_graph"), "_X": fitted.pop("_rows"), "loss_how_": "exact: all pairs"}
        fitted |= {"loss_trace_": fitted.pop("loss_curve_"), "neighbors_": fitted.pop("neighbor_search_")}
        fitted |= {"neighbors_recall_": fitted.pop("neighbor_recall_")}
        del fitted["loss_error_"], fitted["_fitted"]

    path, X = tmp_path / "umap.lowdim", rng.normal(size=(60, 4))
    model = lowdim.UMAP(repulsion_strength=3.0, target_weight=0.2, random_state=0).fit(X, np.arange(60) % 3)
    model.save(path)
    as_format(path, 2, as_before)
    loaded = lowdim.load(path)
    assert (loaded.repulsion_strength, loaded.target_weight, loaded.loss_error_) == (3.0, 0.2, 0.0)
    np.testing.assert_array_equal(loaded.transform(X[:3] + 0.1), model.transform(X[:3] + 0.1))


def test_a_fifo_is_told_apart_from_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="found a special file"):
        lowdim.load(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("old", "params", "gamma"),
    [
        ({"weights": "heat", "width": 0.5}, {"weights": "heat", "gamma": 2.0}, 2.0),
        ({"weights": "heat", "width": "median"}, {"weights": "heat", "gamma": "median"}, 0.5),
        ({"weights": "self_tuning", "width": "median"}, {"weights": "heat", "gamma": "self_tuning"}, None),
        ({"weights": "binary", "width": 3.0}, {"weights": "binary", "gamma": "median"}, None),
    ],
)
def test_a_width_of_older_formats_is_a_gamma(old, params, gamma, tmp_path, rng):
    path, X = tmp_path / "m.lowdim", rng.normal(size=(60, 4))
    model = lowdim.LaplacianEigenmaps(2, random_state=0, **params).fit(X)
    model.save(path)

    def with_widths(state):
        state["params"] = {key: value for key, value in state["params"].items() if key not in params} | old
        state["fitted"]["width_"] = 1.0 if state["fitted"].pop("gamma_") != 2.0 else 0.5
        state["fitted"]["components_found_"] = state["fitted"].pop("n_connected_components_")

    as_format(path, 2, with_widths)
    loaded = lowdim.load(path)
    assert loaded.get_params() == model.get_params()
    assert loaded.gamma_ == gamma
    np.testing.assert_array_equal(loaded.transform(X[:3] + 0.1), model.transform(X[:3] + 0.1))
