// Rows in the type they came in, read as floats or doubles.
#pragma once

#include <lowdim/near_graph.hpp>

#include <cstdint>

namespace lowdim::detail {

// One row, shifted and scaled as RawRows says; the second for rows in double, the first for all others.
void read_row(const RawRows& rows, std::int64_t i, float* out);
void read_row(const RawRows& rows, std::int64_t i, double* out);

// Asks for a row that will be read soon.
inline void fetch_row(const RawRows& rows, std::int64_t i) {
    const std::int64_t item = rows.kind == RawRows::Kind::half     ? 2
                              : rows.kind == RawRows::Kind::single ? 4
                              : rows.kind == RawRows::Kind::twice  ? 8
                                                                   : 1,
                       bytes = rows.d * item;
    const char* row = static_cast<const char*>(rows.data) + i * bytes;
    for (std::int64_t byte = 0; byte < (bytes < 1024 ? bytes : 1024); byte += 64)
        __builtin_prefetch(row + byte);
}

} // namespace lowdim::detail
