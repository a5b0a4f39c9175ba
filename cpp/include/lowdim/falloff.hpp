// Falloff of the similarity of two points of a map with their squared distance s.
#pragma once

namespace lowdim {

// f(s): Cauchy 1/(1 + s); Student (1 + s/dof)^(−(dof + 1)/2); Gauss exp(−s); and, on grids alone, what repels
// in UMAP's loss, log(1 + 1/u) with u = a (s + soft)^b.
struct Falloff {
    enum class Kind { cauchy, student, gauss, odds };
    Kind kind = Kind::cauchy;
    double dof = 1.0;
    double a = 1.0, b = 1.0, soft = 1.0;
};

} // namespace lowdim
