// What every binding shares: array types, and running a kernel without the GIL yet open to Ctrl-C.
#pragma once

#include <lowdim/watch.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <utility>

namespace lowdim::bind {

namespace nb = nanobind;

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
