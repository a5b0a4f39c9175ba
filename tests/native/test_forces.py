"""Forces within a map, descent and places, against NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lowdim import _native

LAWS = [("student", 1.0), ("student", 0.5), ("student", 3.0), ("gauss", 1.0)]


def kernel(s, falloff, dof):
    """f(s) and −f′(s)/f(s)."""
    if falloff == "gauss":
        return np.exp(-s), np.ones_like(s)
    return (1 + s / dof) ** (-(dof + 1) / 2), (dof + 1) / 2 / (dof + s)


def by_hand(Q, Y, falloff="student", dof=1.0):
    step = Q[:, None].astype(float) - Y[None].astype(float)
    f, a = kernel(np.square(step).sum(axis=2), falloff, dof)
    return np.einsum("ij,ijk->ik", f * a, step), f.sum(axis=1)


def points(n, k, spread=8.0, dtype="float32", seed=0):
    return (np.random.default_rng(seed).normal(size=(n, k)) * spread).astype(dtype)


def off(F, exact):
    return np.linalg.norm(F - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("falloff", "dof"), LAWS)
@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.usefixtures("isa")
def test_exact_sums_are_those_by_hand(dtype, falloff, dof, k):
    Q, Y = points(33, k, 3.0, dtype), points(151, k, 3.0, dtype, seed=1)
    F, phi = _native.repulsion_at(Q, Y, falloff=falloff, dof=dof, n_threads=2)
    force, field = by_hand(Q, Y, falloff, dof)
    small = 1e-6 if dtype == "float32" else 1e-13
    assert off(F, force) < small
    assert off(phi, field) < small


@pytest.mark.parametrize(("falloff", "dof"), LAWS)
@pytest.mark.parametrize(
    ("how", "k", "error"),
    [
        ("exact", 1, 1e-6),
        ("exact", 3, 1e-6),
        ("barnes_hut", 1, 0.1),
        ("barnes_hut", 2, 0.03),
        ("barnes_hut", 3, 0.02),
        ("fft", 1, 0.02),
        ("fft", 2, 0.02),
    ],
)
@pytest.mark.usefixtures("isa")
def test_forces_are_within_the_error_told(how, k, error, falloff, dof):
    Y = points(900, k)
    spacing = 0.5 * min(1.0, np.sqrt(dof))
    F, phi, Z = _native.repulsion(Y, how=how, falloff=falloff, dof=dof, angle=0.5, spacing=spacing)
    force, field = by_hand(Y, Y, falloff, dof)
    assert off(F, force) < error
    assert off(phi, field) < error
    assert abs(Z / (field.sum() - len(Y)) - 1) < error


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_smaller_angle_is_more_exact_and_zero_is_exact(k):
    Y = points(700, k)
    force, _ = by_hand(Y, Y)
    errors = [off(_native.repulsion(Y, how="barnes_hut", angle=angle)[0], force) for angle in (0.8, 0.4, 0.1, 0.0)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6


@pytest.mark.parametrize("k", [1, 2])
def test_a_finer_grid_is_more_exact(k):
    Y = points(700, k)
    force, _ = by_hand(Y, Y)
    errors = [off(_native.repulsion(Y, how="fft", spacing=h)[0], force) for h in (1.0, 0.5, 0.25)]
    assert errors[0] > 5 * errors[1] > 25 * errors[2]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("falloff", "dof"), LAWS)
@pytest.mark.usefixtures("isa")
def test_a_point_of_a_grid_does_not_push_itself(k, falloff, dof):
    apart = 40.0 * np.stack(np.meshgrid(*k * [np.arange(20 if k == 1 else 8)]), axis=-1).reshape(-1, k)
    Y = (apart + np.random.default_rng(0).uniform(0, 1, apart.shape)).astype(np.float32)  # anywhere in a cell
    F, phi, _ = _native.repulsion(Y, how="fft", falloff=falloff, dof=dof, spacing=0.4 * min(1, np.sqrt(dof)))
    force, field = by_hand(Y, Y, falloff, dof)
    np.testing.assert_allclose(F, force, atol=1e-4)
    np.testing.assert_allclose(phi.mean(), field.mean(), atol=2e-4)


@pytest.mark.usefixtures("isa")
def test_few_points_of_a_wide_map_push_each_other_nearly_exactly():
    Y = np.concatenate([points(3000, 2, 60.0), points(400, 2, 3.0, seed=1) + 100])  # a sparse map with a dense part
    Y[0] = Y[1]
    force, field = by_hand(Y, Y)
    F, phi, Z = _native.repulsion(Y, how="fft", spacing=0.33, n_threads=2)
    assert off(F, force) < 1e-4  # a grid of these cells: 1e-3
    np.testing.assert_allclose(phi, field, rtol=2e-5)
    np.testing.assert_allclose(Z, (field - 1).sum(), rtol=1e-6)


@pytest.mark.parametrize(("falloff", "dof"), LAWS)
@pytest.mark.parametrize("shape", [(30.0, 30.0), (90.0, 12.0), (7.0, 9.0)])
@pytest.mark.usefixtures("isa")
def test_near_and_far_part_add_up_to_the_forces(falloff, dof, shape):
    Y = (np.random.default_rng(3).uniform(-1, 1, (6000, 2)) * shape).astype(np.float32)
    some = Y[::40]
    force, field = by_hand(some, Y, falloff, dof)
    F, phi, _ = _native.repulsion(Y, how="fft", falloff=falloff, dof=dof, spacing=0.33 * min(1, np.sqrt(dof)))
    assert off(F[::40], force) < 2e-3
    assert off(phi[::40], field) < 1e-4


@pytest.mark.parametrize("spread", [(1e-4, 1e-4), (300.0, 0.01), (3.0, 40.0)])
def test_grids_fit_maps_of_any_shape(spread):
    Y = points(400, 2, 1.0) * np.array(spread, np.float32)
    force, field = by_hand(Y, Y)
    F, phi, _ = _native.repulsion(Y, how="fft", spacing=0.5)
    assert off(phi, field) < 1e-2
    if max(spread) > 1:
        assert off(F, force) < 5e-2


@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
def test_points_in_one_place_do_not_push_each_other(how):
    F, phi, Z = _native.repulsion(np.full((500, 2), 3.0, np.float32), how=how)
    np.testing.assert_allclose(F, 0, atol=0.5)  # of 500 unit charges
    np.testing.assert_allclose(phi, 500, rtol=1e-2)
    np.testing.assert_allclose(Z, 500 * 499, rtol=1e-2)


@pytest.mark.parametrize("spread", [20.0, 80.0])
@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
def test_threads_change_no_bit(how, spread):
    Y = points(9000, 2, spread)
    one, two = (_native.repulsion(Y, how=how, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    assert one[2] == two[2]


def ring(n):
    """Each point the neighbour of the two beside it."""
    i = np.arange(n)
    columns = np.stack([(i - 1) % n, (i + 1) % n], axis=1).ravel().astype(np.int32)
    return 2 * np.arange(n + 1), columns, np.full(2 * n, 0.5 / n, np.float32)


def test_attraction_is_that_by_hand():
    starts, columns, values = ring(50)
    for falloff, dof in LAWS:
        for k in (1, 2, 5):
            Y = points(50, k, 2.0, "float64")
            F, costs = _native.attraction(starts, columns, values, Y, falloff=falloff, dof=dof)
            P = np.zeros((50, 50))
            P[np.repeat(np.arange(50), 2), columns] = values
            step = Y[:, None] - Y[None]
            f, a = kernel(np.square(step).sum(axis=2), falloff, dof)
            np.testing.assert_allclose(F, np.einsum("ij,ijk->ik", P * a, step), rtol=1e-10, atol=1e-14)
            entropy = np.where(P > 0, P * np.log(np.where(P > 0, P, 1) / f), 0).sum(axis=1)
            np.testing.assert_allclose(costs, entropy, rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dof", [0.1, 0.5, 2.0, 7.0, 100.0])
def test_the_field_of_one_point_is_exact_for_any_degrees_of_freedom(dof):
    Q = np.geomspace(1e-8, 1e6, 3000, dtype=np.float32)[:, None]
    _, phi = _native.repulsion_at(Q, np.zeros((1, 1), np.float32), dof=dof)
    cost = (dof + 1) / 2 * np.log1p(np.square(Q[:, 0], dtype=np.float64) / dof)
    # What rounding changes of a cost, f changes by that share of itself. The 15 idle lanes hold 2⁻¹²⁶ at the least.
    for lowest, error in ((1e-3, 1e-6), (1e-30, 1e-5), (0, 1)):
        some = np.exp(-cost) >= lowest
        np.testing.assert_allclose(phi[some], np.exp(-cost[some]), rtol=error, atol=2e-37)


@pytest.mark.parametrize("n", [2, 9, 500, 70_000])  # the last has columns beyond 16 bits
@pytest.mark.parametrize("k", [1, 2])
def test_packed_affinities_pull_as_whole_ones_do(isa, n, k, monkeypatch):
    rng = np.random.default_rng(n)
    sizes = rng.integers(0, 30, n)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = rng.integers(0, n, starts[-1]).astype(np.int32)
    values = rng.random(starts[-1]).astype(np.float32) ** 8
    Y = points(n, k, 3.0)
    for falloff, dof in LAWS:
        law = {"falloff": falloff, "dof": dof}
        whole, _ = _native.attraction(starts, columns, values, Y, **law)
        halves, _ = _native.attraction(starts, columns, values, Y, packed=True, **law)
        again, _ = _native.attraction(starts, columns, values, Y, packed=True, n_threads=3, **law)
        np.testing.assert_array_equal(halves, again)
        rows = np.repeat(np.arange(n), sizes)
        size = np.zeros(n)
        np.add.at(size, rows, values * np.linalg.norm(Y[rows] - Y[columns], axis=1))
        assert (np.abs(whole - halves).max(axis=1) <= 2**-8 * size * (dof + 1) / dof + 1e-6).all()


def descend(Y, **changes):
    options = {
        "how": "exact",
        "falloff": "student",
        "dof": 1.0,
        "angle": 0.5,
        "spacing": 0.5,
        "iterations": 60,
        "exaggerated": 20,
        "exaggeration": 4.0,
        "rate": 0.0,
        "every": 10,
        "progress": 0.0,
        "report": lambda done, loss: False,
    } | changes
    return _native.descend(*ring(len(Y)), Y, **options)


@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
@pytest.mark.parametrize("falloff", ["student", "gauss"])
def test_descent_lowers_the_divergence(how, falloff):
    losses = []
    Y = points(300, 2, 1e-2)
    descend(Y, how=how, falloff=falloff, iterations=200, report=lambda done, loss: losses.append(loss))
    assert losses[-1] < losses[0] - 0.5
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-4)


def test_descent_has_the_same_bits_for_any_threads():
    one, two = points(5000, 2, 1e-2), points(5000, 2, 1e-2)
    for Y, n in ((one, 1), (two, 2)):
        descend(Y, how="fft", n_threads=n)
    np.testing.assert_array_equal(one, two)


def test_a_report_stops_the_descent_and_its_error_comes_out():
    assert descend(points(30, 2, 1e-2), report=lambda done, loss: done == 30) == 30

    def fail(done, loss):
        raise KeyError("from the report")

    with pytest.raises(KeyError, match="from the report"):
        descend(points(30, 2, 1e-2), report=fail)


def test_a_report_that_says_neither_stops_the_descent_and_its_error_comes_out():
    asked = []

    def unclear(done, loss):
        asked.append(done)
        return np.zeros(2)

    with pytest.raises(ValueError, match="truth value of an array"):
        descend(points(30, 2, 1e-2), report=unclear)
    assert len(asked) == 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_new_points_find_the_bottom(k):
    Y = points(400, k, 5.0)
    neighbors = np.random.default_rng(2).choice(400, (20, 6), replace=False).astype(np.int32)
    p = np.random.default_rng(3).dirichlet(np.ones(6), 20).astype(np.float32)
    at = _native.place(neighbors, p, Y, iterations=300, n_threads=2)

    def loss(y, i):
        near = np.square(y - Y[neighbors[i]]).sum(axis=1)
        return (p[i] * np.log1p(near)).sum() + np.log((1 / (1 + np.square(y - Y).sum(axis=1))).sum())

    rng = np.random.default_rng(4)
    for i in range(20):
        here = loss(at[i], i)
        order = np.argsort(Y[neighbors[i]], axis=0)
        half = np.argmax(np.cumsum(p[i][order], axis=0) >= 0.5, axis=0)
        median = np.take_along_axis(Y[neighbors[i]], np.take_along_axis(order, half[None], axis=0), axis=0)[0]
        assert here <= loss(median, i) + 1e-3
        box = Y[neighbors[i]].min(axis=0), Y[neighbors[i]].max(axis=0)
        assert ((at[i] >= box[0]) & (at[i] <= box[1])).all()
        around = [np.clip(at[i] + rng.normal(scale=0.1, size=k), *box) for _ in range(20)]
        assert here < min(loss(y, i) for y in around) + 1e-3
        for j in neighbors[i][np.argsort(-p[i], kind="stable")[:4]]:
            assert here <= loss(Y[j], i) + 1e-3
        np.testing.assert_array_equal(_native.place(neighbors[i : i + 1], p[i : i + 1], Y, iterations=300)[0], at[i])


def test_all_instruction_sets_agree_to_rounding():
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from test_forces import _native, points\n"
        "for how in ('exact', 'fft'):\n"
        "    F, phi, Z = _native.repulsion(points(500, 2), how=how)\n"
        "    print(Z, abs(F).sum())"
    )
    lines = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"LOWDIM_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for isa in ("default", "avx2", "avx512")
    ]
    for line in lines[1:]:
        np.testing.assert_allclose(np.array(line, float), np.array(lines[0], float), rtol=1e-4)


def falling(starts):
    starts = starts.copy()
    starts[2] = 0
    return starts


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _native.repulsion(points(9, 3), how="fft"), "1 or 2 dimensions; got 3"),
        (lambda: _native.repulsion(points(9, 4), how="barnes_hut"), "1 to 3 dimensions"),
        (lambda: _native.repulsion(points(9, 65), how="exact"), "1 to 64"),
        (lambda: _native.repulsion(points(9, 2), how="other"), "how must be .*; got 'other'"),
        (lambda: _native.repulsion(points(9, 2), how="exact", falloff="other"), "falloff must be"),
        (lambda: _native.repulsion(points(9, 2), how="exact", dof=0.0), "dof must be"),
        (lambda: _native.repulsion_at(points(9, 2), points(9, 3)), r"as many columns; got \(9, 2\), \(9, 3\)\."),
        (lambda: _native.attraction(*ring(9), points(8, 2)), r"one start more than .* rows \(8\).*; got \(10,\), "),
        (lambda: _native.attraction(ring(9)[0] + 1, *ring(9)[1:], points(9, 2)), r"starts must rise .*; got 1, "),
        (lambda: _native.attraction(falling(ring(9)[0]), *ring(9)[1:], points(9, 2)), "starts must not fall; got 0"),
        (lambda: _native.attraction(ring(9)[0], ring(9)[1] + 1, ring(9)[2], points(9, 2)), r"columns must.*; got 9\."),
        (lambda: descend(points(9, 2), every=0), "every.*; got 60, 20, 0, 0.5, 0, "),
        (
            lambda: _native.place(np.zeros((1, 2), np.int32), np.ones((1, 1), np.float32), points(9, 2)),
            r"same shape.*; got \(1, 2\), \(1, 1\)\.",
        ),
        (
            lambda: _native.place(np.full((1, 1), 9, np.int32), np.ones((1, 1), np.float32), points(9, 2)),
            r"points of the map; got 9\.",
        ),
    ],
)
def test_impossible_arguments_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
def test_a_step_that_is_not_finite_ends_the_descent(how):
    with pytest.raises(ValueError, match=r"steps must be finite; iteration \d+ overflowed. Lower learning_rate"):
        descend(points(300, 2, 1e-2), how=how, rate=1e38)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "finite"), (np.inf, "finite"), (1e30, "at most")])
@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
def test_maps_that_no_kernel_can_take_are_refused(how, value, words):
    Y = points(300, 2)
    Y[17, 1] = value
    near, p = np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32)
    calls = (
        lambda: _native.repulsion(Y, how=how),
        lambda: _native.repulsion_at(Y, points(9, 2)),
        lambda: _native.attraction(*ring(300), Y),
        lambda: descend(Y, how=how),
        lambda: _native.place(near, p, Y),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"must be {words}"):
            call()
    with pytest.raises(ValueError, match="weights must be finite"):
        _native.place(near, p * np.float32(np.nan), points(9, 2))


@pytest.mark.parametrize("law", [("student", 1.0), ("gauss", 1.0)])
def test_new_points_between_clusters_stay_among_their_neighbours(law):
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [60, 0], [0, 60], [60, 60]])
    Y = np.concatenate([c + rng.normal(size=(500, 2)) for c in centres]).astype(np.float32)
    neighbors = (np.arange(4) * 500 + rng.integers(0, 500, (40, 4))).astype(np.int32)  # one in each cluster
    p = rng.dirichlet(np.ones(4), 40).astype(np.float32)
    at = _native.place(neighbors, p, Y, falloff=law[0], dof=law[1])
    assert (at >= Y[neighbors].min(axis=1)).all()
    assert (at <= Y[neighbors].max(axis=1)).all()


@pytest.mark.parametrize("how_far", [3e3, 1e5])
@pytest.mark.parametrize("k", [1, 2])
def test_a_stray_does_not_spoil_the_forces_of_the_others(k, how_far):
    Y = points(4000, k, 20.0)
    near, _, _ = _native.repulsion(Y, how="fft", spacing=0.3)
    with_stray = np.concatenate([Y, np.full((1, k), how_far, np.float32)])
    forces, phi, Z_stray = _native.repulsion(with_stray, how="fft", spacing=0.3, n_threads=2)
    exact, field = _native.repulsion_at(with_stray, with_stray)
    assert off(forces[:-1], exact[:-1]) < 1.1 * off(near, _native.repulsion_at(Y, Y)[0]) + 1e-4
    np.testing.assert_allclose(forces[-1], exact[-1], rtol=1e-4, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(phi, field, rtol=2e-3)
    np.testing.assert_allclose(Z_stray, field.sum() - len(field), rtol=1e-3)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("width", [0.01, 6.0, 60.0])  # of maps whose points are spread in layers
def test_many_points_in_a_small_map_have_exact_forces_and_the_same_bits(k, width):
    rng = np.random.default_rng(0)
    Y = np.sort(rng.uniform(0, width, (20_000, k)).astype(np.float32), axis=0)
    forces, phi, Z = _native.repulsion(Y, how="fft", spacing=0.3, n_threads=1)
    for n_threads in (3, 8):
        again = _native.repulsion(Y, how="fft", spacing=0.3, n_threads=n_threads)
        np.testing.assert_array_equal(again[0], forces)
        assert again[2] == Z
    some = rng.choice(len(Y), 200, replace=False)
    exact, field = _native.repulsion_at(Y[some], Y, n_threads=2)
    assert off(phi[some], field) < 1e-3
    if width > 1:
        assert off(forces[some], exact) < 0.01


def test_the_grid_of_many_points_keeps_its_cells_in_a_wide_map():
    # 300,000 points in groups over a square of 900 units: 2 million nodes would give cells of 0.64.
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 900, (3000, 2))
    Y = (centres[:, None] + rng.normal(size=(3000, 100, 2))).reshape(-1, 2).astype(np.float32)
    forces, _, _ = _native.repulsion(Y, how="fft", spacing=0.5, n_threads=2)
    some = rng.choice(len(Y), 200, replace=False)
    exact, _ = _native.repulsion_at(Y[some], Y, n_threads=2)
    assert off(forces[some], exact) < 0.02
