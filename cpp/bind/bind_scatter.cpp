// _native.scatter, _native.scatter_integers, _native.isa and _native.set_isa.
#include "bind.hpp"

#include <lowdim/scatter.hpp>

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lowdim::bind {

namespace {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;

constexpr double most_divisor = 65536;

bool aligned(const Array& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % array.itemsize() == 0;
}

// The data of an optional vector of known length, or null.
template <class T>
const T* vector(const std::optional<Array>& array, std::int64_t size, const char* name, const char* type) {
    if (!array)
        return nullptr;
    if (array->dtype() != nb::dtype<T>())
        refuse("scatter: " + std::string(name) + " must be " + type +
               "; got another dtype. Convert it first.");
    if (array->ndim() != 1 || array->shape(0) != static_cast<std::size_t>(size))
        refuse("scatter: " + std::string(name) + " must have shape (" + std::to_string(size) + ",); got " +
               shown(*array) + ". Pass one that fits X.");
    if ((size > 1 && array->stride(0) != 1) || !aligned(*array))
        refuse("scatter: " + std::string(name) +
               " must be contiguous and aligned; got a strided view. Pass a copy.");
    return static_cast<const T*>(array->data());
}

template <class T> Strided<T> strided(const Array& X) {
    return {static_cast<const T*>(X.data()), size(X), size(X, 1), static_cast<std::ptrdiff_t>(X.stride(0)),
            static_cast<std::ptrdiff_t>(X.stride(1))};
}

template <class T>
void run(const Array& X, const ScatterTerms& terms, double* sums, double* out, int n_threads,
         nb::handle tick) {
    watched(tick, [&](Watch& watch) { scatter(strided<T>(X), terms, sums, out, n_threads, watch); });
}

template <class T>
bool run_integers(const Array& X, double divisor, const ScatterTerms& terms, double* sums, double* out,
                  int n_threads, nb::handle tick) {
    bool fits = false;
    watched(tick, [&](Watch& watch) {
        fits = scatter_integers(strided<T>(X), static_cast<T>(divisor), terms, sums, out, n_threads, watch);
    });
    return fits;
}

void demand_rows(const Array& X, std::int64_t n_classes, int n_threads) {
    if (X.ndim() != 2 || X.shape(0) == 0 || X.shape(1) == 0)
        refuse("scatter: X must have two dimensions, each 1 or more; got shape " + shown(X) +
               ". Reshape it.");
    if (!aligned(X))
        refuse("scatter: X must be aligned to its items; got a view that is not. Pass a copy.");
    if (n_classes < 1)
        refuse("scatter: n_classes must be 1 or more; got " + std::to_string(n_classes) +
               ". Count the classes first.");
    demand_threads(n_threads);
}

nb::tuple call(const Array& X, const std::optional<Array>& shift, const std::optional<Array>& labels,
               std::int64_t n_classes, const std::optional<Array>& weights, int n_threads, nb::handle tick) {
    const bool u8 = X.dtype() == nb::dtype<std::uint8_t>(), f32 = X.dtype() == nb::dtype<float>();
    if (!u8 && !f32 && X.dtype() != nb::dtype<double>())
        refuse("scatter: X must be uint8, float32 or float64; got another dtype. Convert it first.");
    demand_rows(X, n_classes, n_threads);
    if (u8 && (shift || weights))
        refuse("scatter: uint8 X is summed exactly and takes neither shift nor weights; got " +
               std::string(shift ? "shift" : "weights") +
               ". Leave it out, or convert X to float32 or float64.");

    const std::int64_t rows = size(X), cols = size(X, 1);
    ScatterTerms terms{.shift = vector<double>(shift, cols, "shift", "float64"),
                       .labels = vector<std::int32_t>(labels, rows, "labels", "int32"),
                       .weights = vector<double>(weights, rows, "weights", "float64"),
                       .n_classes = n_classes};
    auto sums = empty<double>(n_classes, cols), out = empty<double>(cols, cols);
    auto* kernel = u8 ? run<std::uint8_t> : f32 ? run<float> : run<double>;
    kernel(X, terms, sums.data(), out.data(), n_threads, tick);
    return nb::make_tuple(sums, out);
}

nb::object call_as_integers(const Array& X, double divisor, const std::optional<Array>& labels,
                            std::int64_t n_classes, int n_threads, nb::handle tick) {
    const bool f32 = X.dtype() == nb::dtype<float>();
    if (!f32 && X.dtype() != nb::dtype<double>())
        refuse("scatter_integers: X must be float32 or float64; got another dtype. Convert it first.");
    if (!(divisor >= 1 && divisor <= most_divisor))
        refuse("scatter_integers: divisor must be from 1 to 65536; got " + std::to_string(divisor) +
               ". Pass 255 for pixels that were scaled.");
    demand_rows(X, n_classes, n_threads);
    ScatterTerms terms{.labels = vector<std::int32_t>(labels, size(X), "labels", "int32"),
                       .n_classes = n_classes};
    auto sums = empty<double>(n_classes, size(X, 1)), out = empty<double>(size(X, 1), size(X, 1));
    auto* kernel = f32 ? run_integers<float> : run_integers<double>;
    if (!kernel(X, divisor, terms, sums.data(), out.data(), n_threads, tick))
        return nb::none();
    return nb::make_tuple(sums, out);
}

} // namespace

void bind_scatter(nb::module_& m) {
    m.def("scatter", &call, nb::arg("X").noconvert(), nb::kw_only(),
          nb::arg("shift").noconvert() = nb::none(), nb::arg("labels").noconvert() = nb::none(),
          nb::arg("n_classes") = 1, nb::arg("weights").noconvert() = nb::none(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Column sums per class (n_classes, d) and scatter matrix (d, d) of X, in one pass.");
    m.def(
        "scatter_integers", &call_as_integers, nb::arg("X").noconvert(), nb::arg("divisor"), nb::kw_only(),
        nb::arg("labels").noconvert() = nb::none(), nb::arg("n_classes") = 1, nb::arg("n_threads") = 1,
        nb::arg("tick") = nb::none(),
        "The same, exact, of the whole numbers from 0 to 255 whose quotients by divisor X holds; None where "
        "it holds others.");
    m.def(
        "isa", [] { return isa_name(isa()); },
        "The instruction set the kernels run with: default, avx2, avx512 or avx512vnni.");
    m.def(
        "set_isa",
        [](const char* name) {
            set_isa(isa_named(name));
            return isa_name(isa());
        },
        nb::arg("name"), "Cap the instruction set from now on; returns the one the kernels run with.");
}

} // namespace lowdim::bind
