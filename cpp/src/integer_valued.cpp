// A quotient is divided out again, so that nothing is taken for a whole number that is not one to the bit.
#include <lowdim/integer_valued.hpp>

#include "chunks.hpp"
#include "instructions.hpp"

#include <atomic>

namespace lowdim {
namespace {

constexpr std::int64_t task = 1 << 18; // values of one piece of work

#define LOWDIM_KERNEL "integer_valued.inl"
#include "each_isa.inl"

} // namespace

template <class T> bool to_integers(const T* values, std::int64_t count, T divisor, std::uint8_t* out) {
    return LOWDIM_PICK(convert(values, count, divisor, out));
}

template <class T>
bool to_integers(const T* values, std::int64_t count, T divisor, std::uint8_t* out, int n_threads,
                 Watch& watch) {
    std::atomic<bool> fits{true};
    detail::each_chunk(count, task, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        if (fits && !to_integers(values + from, to - from, divisor, out + from))
            fits = false;
    });
    return fits;
}

template bool to_integers(const float*, std::int64_t, float, std::uint8_t*);
template bool to_integers(const double*, std::int64_t, double, std::uint8_t*);
template bool to_integers(const float*, std::int64_t, float, std::uint8_t*, int, Watch&);
template bool to_integers(const double*, std::int64_t, double, std::uint8_t*, int, Watch&);

} // namespace lowdim
