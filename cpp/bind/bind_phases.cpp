// _native.phases.
#include "bind.hpp"

#include <lowdim/phases.hpp>

#include <algorithm>
#include <vector>

namespace lowdim::bind {

namespace {

Made<std::int64_t> call(const Vector<std::int64_t>& sizes, std::int64_t failing, int n_threads,
                        nb::handle tick) {
    const std::vector<std::int64_t> given(sizes.data(), sizes.data() + size(sizes));
    demand_each(
        given.data(), static_cast<std::int64_t>(given.size()), [](std::int64_t count) { return count >= 0; },
        "phases: sizes of 0 or more are needed");
    demand_threads(n_threads);
    std::vector<std::int64_t> before;
    watched(tick, [&](Watch& watch) { before = run_phases(given, failing, n_threads, watch); });
    Made<std::int64_t> out = empty<std::int64_t>(before.size());
    std::copy(before.begin(), before.end(), out.data());
    return out;
}

} // namespace

void bind_phases(nb::module_& m) {
    m.def("phases", &call, nb::arg("sizes"), nb::kw_only(), nb::arg("failing") = -1, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Run phases of so many pieces, as kernels do: pieces that had ended when each began. For tests.");
}

} // namespace lowdim::bind
