// _native.touch.
#include "bind.hpp"

#include <lowdim/pages.hpp>

namespace lowdim::bind {

namespace {

template <class T> void define(nb::module_& m) {
    m.def(
        "touch",
        [](const Output<T>& out, int n_threads) {
            demand_threads(n_threads);
            watched(nb::none(),
                    [&](Watch& watch) { touch_pages(out.data(), out.size() * sizeof(T), n_threads, watch); });
        },
        nb::arg("out").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
        "Write to every page of an array that holds nothing yet, each by one thread.");
}

} // namespace

void bind_pages(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
