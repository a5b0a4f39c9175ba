// Pages draw no map that keeps density: a descent asks whether there is one, and its kernels stay out of the
// module.
#include "density_forces.hpp"

namespace lowdim::detail {

DensityForces::DensityForces(const Density& plan, const Affinities& rows, const Similarity&, int k)
    : plan_(plan), n_(rows.rows), k_(k), fall_{}, kernels_{} {
    plan_.radii = nullptr;
}

void DensityForces::reorder(const std::int32_t*) {}
void DensityForces::add(const Padded&, const float*, float, float, float*, int, Watch&) {}

} // namespace lowdim::detail
