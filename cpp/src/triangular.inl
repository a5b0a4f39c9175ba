// Triangular systems for a few columns and one instruction set; see each_isa.inl.

// Y (n × lanes) becomes T⁻¹ Y for the columns of a triangular T, taken from first to last if `down`. Entries
// of the diagonal are left out here; where `diagonal` is not null, Y is divided by it.
LOWDIM_TARGET void by_columns(const Csr& T, const double* diagonal, bool down, double* __restrict Y) {
    for (std::int64_t step = 0; step < T.rows; ++step) {
        const std::int64_t j = down ? step : T.rows - 1 - step;
        double own[lanes];
        for (int l = 0; l < lanes; ++l)
            own[l] = Y[j * lanes + l] = diagonal ? Y[j * lanes + l] / diagonal[j] : Y[j * lanes + l];
        for (std::int32_t place = T.starts[j]; place < T.starts[j + 1]; ++place) {
            const std::int64_t i = T.columns[place];
            const double value = i == j ? 0.0 : T.values[place];
            for (int l = 0; l < lanes; ++l)
                Y[i * lanes + l] -= value * own[l];
        }
    }
}

// The same for the transpose of T, whose rows are the columns of T.
LOWDIM_TARGET void by_rows(const Csr& T, const double* diagonal, bool down, double* __restrict Y) {
    for (std::int64_t step = 0; step < T.rows; ++step) {
        const std::int64_t j = down ? step : T.rows - 1 - step;
        double own[lanes];
        for (int l = 0; l < lanes; ++l)
            own[l] = Y[j * lanes + l];
        for (std::int32_t place = T.starts[j]; place < T.starts[j + 1]; ++place) {
            const std::int64_t i = T.columns[place];
            const double value = i == j ? 0.0 : T.values[place];
            for (int l = 0; l < lanes; ++l)
                own[l] -= value * Y[i * lanes + l];
        }
        for (int l = 0; l < lanes; ++l)
            Y[j * lanes + l] = diagonal ? own[l] / diagonal[j] : own[l];
    }
}
