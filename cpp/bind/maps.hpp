// Parts common to the bindings of maps: sparse rows, dimensions, and reports of a descent.
#pragma once

#include "bind.hpp"

#include <lowdim/descent.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace lowdim::bind {

using Starts = Vector<std::int64_t>;
using Columns = Vector<std::int32_t>;

constexpr int most_dimensions = 64;

template <class Array> int dimensions(const Array& Y, int n_threads) {
    demand(Y.shape(0) >= 1 && Y.shape(1) >= 1 && Y.shape(1) <= most_dimensions,
           "a map must have points and 1 to 64 dimensions", Y);
    demand_threads(n_threads);
    using T = std::remove_cv_t<typename Array::Scalar>;
    demand_bounded<T>(Y.data(), static_cast<std::int64_t>(Y.size()), "a map", n_threads, T(1e15));
    return static_cast<int>(Y.shape(1));
}

inline Affinities affinities_of(const Starts& starts, const Columns& columns, const Vector<float>& values,
                                std::size_t n, int n_threads) {
    const std::int64_t* start = starts.data();
    const std::int64_t stored = size(columns), rows = static_cast<std::int64_t>(n);
    demand(starts.shape(0) == n + 1 && values.shape(0) == columns.shape(0),
           "one start more than there are rows (" + std::to_string(n) +
               "), and as many columns as values, are needed",
           starts, columns, values);
    demand(start[0] == 0 && start[n] == stored,
           "starts must rise from 0 to the number of entries (" + std::to_string(stored) + ")", start[0],
           start[n]);
    const std::int64_t* falls = std::is_sorted_until(start, start + n + 1);
    demand(falls == start + n + 1, "starts must not fall", falls == start + n + 1 ? 0 : *falls);
    demand_each(
        columns.data(), stored, [rows](std::int32_t j) { return j >= 0 && j < rows; },
        "columns must lie below the number of rows (" + std::to_string(n) + ")");
    demand_bounded(values.data(), stored, "affinities", n_threads);
    return {start, columns.data(), values.data(), rows};
}

// Anchors of a map of n points, None for none, and their weights, infinite for pinned points.
using MaybeMatrix = std::optional<Matrix<float>>;
using MaybeVector = std::optional<Vector<float>>;

inline Anchors anchors_of(const MaybeMatrix& anchors, const MaybeVector& weights, bool scaled, std::size_t n,
                          int k, int n_threads) {
    demand(anchors.has_value() == weights.has_value(), "anchors and their weights belong together",
           anchors.has_value(), weights.has_value());
    if (!anchors)
        return {};
    demand(anchors->shape(0) == n && anchors->shape(1) == static_cast<std::size_t>(k) &&
               weights->shape(0) == n,
           "anchors must have the shape of the map, and a weight each", *anchors, *weights);
    demand_bounded<float>(anchors->data(), static_cast<std::int64_t>(anchors->size()), "anchors", n_threads,
                          1e15f);
    demand_each(weights->data(), size(*weights), [](float w) { return w >= 0; }, "weights must be 0 or more");
    return {anchors->data(), weights->data(), scaled};
}

// New rows and their neighbours in a map of n points.
inline NewPoints new_points_of(const Matrix<std::int32_t>& neighbors, const Matrix<float>& weights,
                               std::int64_t n, int n_threads) {
    demand(neighbors.shape(0) == weights.shape(0) && neighbors.shape(1) == weights.shape(1) &&
               weights.shape(1) >= 1,
           "neighbors and their weights must have the same shape, with a column", neighbors, weights);
    demand_each(
        neighbors.data(), static_cast<std::int64_t>(neighbors.size()),
        [n](std::int32_t j) { return j >= 0 && j < n; }, "neighbors must be points of the map");
    demand_bounded(weights.data(), static_cast<std::int64_t>(weights.size()), "weights", n_threads);
    return {neighbors.data(), weights.data(), size(weights), size(weights, 1)};
}

// Points of a map of n that represent all of them.
inline void demand_sample(const Vector<std::int32_t>& sample, std::int64_t n) {
    demand(sample.shape(0) >= 1, "sample must hold points of the map", sample);
    demand_each(
        sample.data(), size(sample), [n](std::int32_t j) { return j >= 0 && j < n; },
        "sample must hold points of the map");
}

// Calls run with a Report that asks report(done, loss) under the GIL. What that raises stops the descent and
// is raised here.
template <class Run> void reporting(nb::handle report, const Run& run) {
    std::exception_ptr raised;
    const Report ask = [&](std::int64_t done, double loss, const float*) {
        nb::gil_scoped_acquire acquire;
        try {
            const int stop = PyObject_IsTrue(nb::object(report(done, loss)).ptr());
            if (stop < 0) // what came says neither
                throw nb::python_error();
            return stop == 1;
        } catch (...) {
            raised = std::current_exception();
            return true;
        }
    };
    run(ask);
    if (raised)
        std::rethrow_exception(raised);
}

// An array of NumPy that owns what `data` points to.
template <class T> nb::object owned(std::unique_ptr<T[]> data, std::size_t size) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(raw, {size}, owner));
}

} // namespace lowdim::bind
