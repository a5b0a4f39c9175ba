// Every value is rounded as the exact search has it: centred in double, divided in the type of the row.
#include "raw_rows.hpp"

#include "instructions.hpp"

#include <algorithm>
#include <bit>

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "raw_rows.inl"
#include "each_isa.inl"

template <class T> void finish(const RawRows& rows, std::int64_t i, T* out) {
    if (rows.means)
        LOWDIM_PICK(shift<T>(out, rows.d, rows.means[i]));
    if (rows.norms)
        LOWDIM_PICK(divide<T>(out, rows.d, static_cast<T>(rows.norms[i])));
}

} // namespace

void read_row(const RawRows& rows, std::int64_t i, float* out) {
    const std::int64_t at = i * rows.d;
    switch (rows.kind) {
    case RawRows::Kind::half:
        LOWDIM_PICK(widen(static_cast<const std::uint16_t*>(rows.data) + at, rows.d, out));
        break;
    case RawRows::Kind::byte:
        LOWDIM_PICK(widen(static_cast<const std::uint8_t*>(rows.data) + at, rows.d, out));
        break;
    case RawRows::Kind::single:
        std::copy_n(static_cast<const float*>(rows.data) + at, rows.d, out);
        break;
    case RawRows::Kind::twice:
        std::copy_n(static_cast<const double*>(rows.data) + at, rows.d, out);
        break;
    }
    finish(rows, i, out);
}

void read_row(const RawRows& rows, std::int64_t i, double* out) {
    std::copy_n(static_cast<const double*>(rows.data) + i * rows.d, rows.d, out);
    finish(rows, i, out);
}

} // namespace lowdim::detail
