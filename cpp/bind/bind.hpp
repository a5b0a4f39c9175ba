// Parts common to all bindings: array types, argument checks, and running a kernel without the GIL but with
// Ctrl-C.
#pragma once

#include <lowdim/largest.hpp>
#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace lowdim::bind {

namespace nb = nanobind;

// Arrays that are read, one that is written to, and a new one.
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Made = nb::ndarray<nb::numpy, T, nb::c_contig>;

template <class Array> std::int64_t size(const Array& array, int axis = 0) {
    return static_cast<std::int64_t>(array.shape(axis));
}

template <class T, class... Kind>
RowMajor<T> view(const nb::ndarray<T, nb::ndim<2>, nb::c_contig, Kind...>& A) {
    return {A.data(), size(A), size(A, 1), static_cast<std::ptrdiff_t>(A.shape(1))};
}

// An uninitialised array of NumPy's own, which asks for huge pages where it is large.
template <class T, class... Sizes> Made<T> empty(Sizes... shape) {
    const char* type = std::is_same_v<T, float>          ? "float32"
                       : std::is_same_v<T, double>       ? "float64"
                       : std::is_same_v<T, std::int32_t> ? "int32"
                                                         : "int64";
    return nb::cast<Made<T>>(nb::module_::import_("numpy").attr("empty")(nb::make_tuple(shape...), type));
}

[[noreturn]] inline void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

// An argument as messages show it: a number, a word in quotes, or the shape of an array.
template <class T> std::string shown(const T& got) {
    if constexpr (requires { got.ndim(); }) {
        std::string text = "(";
        for (std::size_t axis = 0; axis < got.ndim(); ++axis)
            text += (axis ? ", " : "") + std::to_string(got.shape(axis));
        return text + (got.ndim() == 1 ? ",)" : ")");
    } else if constexpr (std::is_convertible_v<T, std::string>) {
        return "'" + std::string(got) + "'";
    } else {
        std::ostringstream text;
        text << got;
        return text.str();
    }
}

// Refuses wrong arguments: what was needed, and what came.
template <class First, class... More>
void demand(bool right, const std::string& needed, const First& got, const More&... more) {
    if (!right)
        refuse(needed + "; got " + (shown(got) + ... + (", " + shown(more))) + ". Pass arguments that fit.");
}

// The same for each of `count` numbers, of which the first wrong one is shown.
template <class T, class Rule>
void demand_each(const T* numbers, std::int64_t count, const Rule& rule, const std::string& needed) {
    const T* end = numbers + count;
    const T* wrong = std::find_if_not(numbers, end, rule);
    demand(wrong == end, needed, wrong == end ? T{} : *wrong);
}

constexpr int most_threads = 1024;

inline void demand_threads(int n_threads) {
    if (n_threads < 1)
        refuse("n_threads must be 1 or more; got " + std::to_string(n_threads) +
               ". Pass 1 for a single thread.");
    if (n_threads > most_threads)
        refuse("n_threads must be at most " + std::to_string(most_threads) + "; got " +
               std::to_string(n_threads) + ". Pass the number of cores.");
}

// Refuses values that are not finite or larger than `most`, since kernels may use them as indices.
template <class T>
void demand_bounded(const T* values, std::int64_t count, const std::string& what, int n_threads,
                    T most = std::numeric_limits<T>::max()) {
    T found = 0;
    {
        nb::gil_scoped_release release;
        Watch watch;
        found = largest(values, count, n_threads, watch);
    }
    if (found <= most)
        return;
    refuse(what +
           (found < std::numeric_limits<T>::infinity()
                ? " must be at most " + std::to_string(most) + " in size; got larger ones. Scale the data."
                : " must be finite; got NaN or infinity. Scale the data, or drop such rows."));
}

// Calls `kernel(watch)` with the GIL released. Every 50 ms the watch takes the GIL, lets pending signals run
// and, when `tick` is not None, calls tick(done). An exception from either (KeyboardInterrupt above all)
// stops the kernel and is raised here once all threads have left it.
template <class Kernel> void watched(nb::handle tick, Kernel&& kernel) {
    std::exception_ptr raised;
    {
        nb::gil_scoped_release release;
        Watch watch([&](std::int64_t done) {
            nb::gil_scoped_acquire acquire;
            try {
                if (PyErr_CheckSignals() != 0)
                    throw nb::python_error();
                if (!tick.is_none())
                    tick(done);
                return true;
            } catch (...) {
                raised = std::current_exception();
                return false;
            }
        });
        std::forward<Kernel>(kernel)(watch);
    }
    if (raised)
        std::rethrow_exception(raised);
}

} // namespace lowdim::bind
