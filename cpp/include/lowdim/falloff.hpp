// Falloff of the similarity of two points of a map with their squared distance s.
#pragma once

namespace lowdim {

// f(s): Cauchy 1/(1 + s); Student (1 + s/dof)^(−(dof + 1)/2); Gauss exp(−s).
struct Falloff {
    enum class Kind { cauchy, student, gauss };
    Kind kind = Kind::cauchy;
    double dof = 1.0;
};

} // namespace lowdim
