// _native.lower_pairs, _native.pair_weights, _native.pair_rate, _native.pair_loss and
// _native.place_new_pairs.
#include "maps.hpp"

#include <lowdim/pair_descent.hpp>

#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>

namespace lowdim::bind {

namespace {

using Rows = Matrix<std::int32_t>;

Partners partners_of(const Rows& rows, std::size_t n) {
    const auto count = static_cast<std::int32_t>(n);
    demand(rows.shape(0) == n, "partners are needed for each of " + std::to_string(n) + " rows", rows);
    demand_each(
        rows.data(), static_cast<std::int64_t>(rows.size()),
        [count](std::int32_t j) { return j >= 0 && j < count; }, "partners must be rows");
    return {rows.data(), size(rows, 1)};
}

using Around = Vector<std::int32_t>;

Pairs pairs_of(const Rows& near, const Rows& mid, const Rows& further, const Around& order,
               const Around& shifts, const Rows& excluded, std::size_t n) {
    const auto count = static_cast<std::int32_t>(n);
    const auto row = [count](std::int32_t j) { return j >= 0 && j < count; };
    demand(order.shape(0) == n, "order must hold every row once (" + std::to_string(n) + ")", order);
    demand_each(order.data(), count, row, "order must hold every row once");
    demand_each(
        shifts.data(), size(shifts), [count](std::int32_t r) { return r >= 1 && r < count; },
        "shifts must lie between 1 and the number of rows less 1");
    demand(excluded.shape(1) == 2, "excluded must hold pairs of rows", excluded);
    demand_each(excluded.data(), 2 * size(excluded), row, "excluded must hold pairs of rows");
    return {partners_of(near, n), partners_of(mid, n), partners_of(further, n),
            PairRing{order.data(), shifts.data(), excluded.data(), size(shifts), size(excluded)},
            static_cast<std::int64_t>(n)};
}

std::int64_t call_lower(const Rows& near, const Rows& mid, const Rows& further, const Around& order,
                        const Around& shifts, const Rows& excluded, const Output<float>& Y,
                        std::int64_t iterations, bool phased, double rate, std::int64_t every,
                        nb::handle report, const MaybeMatrix& anchors, const MaybeVector& weights,
                        bool scaled, double local, std::int64_t further_each, std::uint64_t seed,
                        int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand(every >= 1 && iterations >= 0 && rate > 0, "every and rate must be positive, iterations 0 or more",
           every, rate, iterations);
    const Pairs pairs = pairs_of(near, mid, further, order, shifts, excluded, Y.shape(0));
    demand(local >= 0 && further_each >= 0, "local and further_each must be 0 or more", local, further_each);
    const PairPlan plan{.iterations = iterations,
                        .every = every,
                        .rate = rate,
                        .phased = phased,
                        .anchors = anchors_of(anchors, weights, scaled, Y.shape(0), k, n_threads),
                        .local = local,
                        .further = further_each,
                        .seed = seed};
    std::int64_t done = 0;
    reporting(report, [&](const Report& ask) {
        watched(tick,
                [&](Watch& watch) { done = lower_pairs(pairs, Y.data(), k, plan, ask, n_threads, watch); });
    });
    return done;
}

nb::tuple call_loss(const Rows& near, const Rows& mid, const Rows& further, const Around& order,
                    const Around& shifts, const Rows& excluded, const Matrix<float>& Y,
                    const std::array<double, 3>& weights, double local, int n_threads) {
    const int k = dimensions(Y, n_threads);
    const Pairs pairs = pairs_of(near, mid, further, order, shifts, excluded, Y.shape(0));
    auto points = empty<double>(Y.shape(0));
    auto gradient = empty<float>(Y.shape(0), Y.shape(1));
    watched(nb::none(), [&](Watch& watch) {
        pair_loss(pairs, Y.data(), k, weights.data(), local, points.data(), gradient.data(), n_threads,
                  watch);
    });
    return nb::make_tuple(points, gradient);
}

Made<float> call_place_new(const Rows& neighbors, const Matrix<float>& p, const Matrix<float>& Y,
                           const Vector<std::int32_t>& sample, double further, std::int64_t iterations,
                           int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand_sample(sample, size(Y));
    demand(further >= 0 && iterations >= 0, "further and iterations must be 0 or more", further, iterations);
    const NewPoints new_points = new_points_of(neighbors, p, size(Y), n_threads);
    auto out = empty<float>(p.shape(0), Y.shape(1));
    watched(tick, [&](Watch& watch) {
        place_new_pairs(new_points, Y.data(), size(Y), k, further, sample.data(), size(sample), iterations,
                        out.data(), n_threads, watch);
    });
    return out;
}

Made<std::int32_t> call_draw(const Rows& near, const Rows& before, const Matrix<float>& Y, double local,
                             std::uint64_t seed, std::int64_t round, int n_threads) {
    const int k = dimensions(Y, n_threads);
    demand(local > 0 && round >= 0, "local must be positive, round 0 or more", local, round);
    const PairPlan plan{.local = local, .further = size(before, 1), .seed = seed};
    const Partners own = partners_of(near, Y.shape(0)), others = partners_of(before, Y.shape(0));
    auto out = empty<std::int32_t>(before.shape(0), before.shape(1));
    watched(nb::none(), [&](Watch& watch) {
        draw_local(own, others, Y.data(), size(Y), k, plan, round, out.data(), n_threads, watch);
    });
    return out;
}

} // namespace

void bind_pair_descent(nb::module_& m) {
    m.def(
        "pair_weights",
        [](std::int64_t done, std::int64_t iterations, bool phased) {
            const auto of = pair_weights(done, {.iterations = iterations, .phased = phased});
            return nb::make_tuple(of[0], of[1], of[2]);
        },
        nb::arg("done"), nb::arg("iterations"), nb::arg("phased"),
        "Weights of near, middle and further pairs in an iteration.");
    m.def(
        "pair_rate",
        [](std::int64_t done, std::int64_t iterations, bool phased, double rate) {
            return pair_rate(done, {.iterations = iterations, .rate = rate, .phased = phased});
        },
        nb::arg("done"), nb::arg("iterations"), nb::arg("phased"), nb::arg("rate"),
        "Rate of Adam in an iteration, the correction of its moments included.");
    m.def("draw_local", &call_draw, nb::arg("near").noconvert(), nb::arg("before").noconvert(),
          nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("local"), nb::arg("seed"), nb::arg("round"),
          nb::arg("n_threads") = 1, "Further partners (n, each) drawn again within a distance in the map Y.");
    m.attr("LOCAL_AGAIN") = PairPlan::again;
    m.attr("LOCAL_TRIES") = PairPlan::tries;
    m.attr("PAIR_NEAR") = PairPlan::near_shift;
    m.attr("PAIR_MID") = PairPlan::mid_shift;
    m.attr("ADAM_DECAY") = PairPlan::decay;
    m.attr("ADAM_DECAY_SQUARES") = PairPlan::decay_squares;
    m.attr("ADAM_LEAST") = PairPlan::least_square_root;
    m.def("lower_pairs", &call_lower, nb::arg("near").noconvert(), nb::arg("mid").noconvert(),
          nb::arg("further").noconvert(), nb::arg("order").noconvert(), nb::arg("shifts").noconvert(),
          nb::arg("excluded").noconvert(), nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("iterations"),
          nb::arg("phased") = true, nb::arg("rate") = 1.0, nb::arg("every"), nb::arg("report"),
          nb::arg("anchors").noconvert() = nb::none(), nb::arg("weights").noconvert() = nb::none(),
          nb::arg("scaled") = false, nb::arg("local") = 0.0, nb::arg("further_each") = 0, nb::arg("seed") = 0,
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Move the map Y down the gradient of PaCMAP's loss, in place; returns the iterations done.");
    m.def(
        "pair_loss", &call_loss, nb::arg("near").noconvert(), nb::arg("mid").noconvert(),
        nb::arg("further").noconvert(), nb::arg("order").noconvert(), nb::arg("shifts").noconvert(),
        nb::arg("excluded").noconvert(), nb::arg("Y").noconvert(), nb::arg("weights"), nb::kw_only(),
        nb::arg("local") = 0.0, nb::arg("n_threads") = 1,
        "Loss of each point (n,), half of that of its pairs, and the gradient (n, k), by the weights of the "
        "kinds.");
    m.def("place_new_pairs", &call_place_new, nb::arg("neighbors").noconvert(), nb::arg("p").noconvert(),
          nb::arg("Y").noconvert(), nb::arg("sample").noconvert(), nb::kw_only(), nb::arg("further"),
          nb::arg("iterations") = 100, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Places (m, k) of new points by their neighbours in the map Y (n, k), with repulsion by a sample.");
}

} // namespace lowdim::bind
