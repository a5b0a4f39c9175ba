// Positions that points of a map are drawn to, beside any loss: Σ_i w_i ‖y_i − a_i‖², or, of anchors at the
// scale that fits best, W min_α Σ_i w_i ‖y_i − α a_i‖² / (Σ_i w_i ‖y_i‖² + W) with W = Σ_i w_i, which does
// not depend on the size of a map that is large in the unit of its loss.
#pragma once

namespace lowdim {

struct Anchors {
    const float* places = nullptr;  // (n × k); null where no point is drawn
    const float* weights = nullptr; // (n): 0 of free points, infinity of pinned ones, which never move
    bool scaled = false;            // the second form; then nothing is pinned
};

} // namespace lowdim
