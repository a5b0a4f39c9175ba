// The extension module: one line per kernel.
#include "bind.hpp"

#include <lowdim/isa.hpp>

#include <stdexcept>

namespace lowdim::bind {
void bind_affinities(nb::module_& m);
void bind_barycentric(nb::module_& m);
void bind_chebyshev(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_contrast(nb::module_& m);
void bind_cross_entropy(nb::module_& m);
void bind_csr(nb::module_& m);
void bind_distances(nb::module_& m);
void bind_density(nb::module_& m);
void bind_descent(nb::module_& m);
void bind_gaps(nb::module_& m);
void bind_geodesics(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_guttman(nb::module_& m);
void bind_near_graph(nb::module_& m);
void bind_information(nb::module_& m);
void bind_nearest(nb::module_& m);
void bind_nearest_with(nb::module_& m);
void bind_nonnegative(nb::module_& m);
void bind_pages(nb::module_& m);
void bind_pair_descent(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_phases(nb::module_& m);
void bind_products(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_scatter(nb::module_& m);
void bind_smoothest(nb::module_& m);
void bind_spectra(nb::module_& m);
} // namespace lowdim::bind

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of lowdim.";
    try {
        lowdim::isa(); // reads the environment, while no thread of ours runs
    } catch (const std::invalid_argument&) {
        // the first kernel says so
    }
    lowdim::bind::bind_affinities(m);
    lowdim::bind::bind_barycentric(m);
    lowdim::bind::bind_chebyshev(m);
    lowdim::bind::bind_columns(m);
    lowdim::bind::bind_contrast(m);
    lowdim::bind::bind_cross_entropy(m);
    lowdim::bind::bind_csr(m);
    lowdim::bind::bind_distances(m);
    lowdim::bind::bind_density(m);
    lowdim::bind::bind_descent(m);
    lowdim::bind::bind_gaps(m);
    lowdim::bind::bind_geodesics(m);
    lowdim::bind::bind_groups(m);
    lowdim::bind::bind_guttman(m);
    lowdim::bind::bind_near_graph(m);
    lowdim::bind::bind_information(m);
    lowdim::bind::bind_nearest(m);
    lowdim::bind::bind_nearest_with(m);
    lowdim::bind::bind_nonnegative(m);
    lowdim::bind::bind_pages(m);
    lowdim::bind::bind_pair_descent(m);
    lowdim::bind::bind_pairs(m);
    lowdim::bind::bind_phases(m);
    lowdim::bind::bind_products(m);
    lowdim::bind::bind_ranks(m);
    lowdim::bind::bind_scatter(m);
    lowdim::bind::bind_smoothest(m);
    lowdim::bind::bind_spectra(m);
}
