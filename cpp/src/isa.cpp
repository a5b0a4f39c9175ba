// Which instruction set runs, decided when the program runs.
#include <lowdim/isa.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace lowdim {

namespace {

std::atomic<int> chosen{-1}; // not yet

constexpr Isa all[] = {Isa::generic, Isa::avx2, Isa::avx512, Isa::avx512vnni};

Isa processor() {
#if LOWDIM_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return Isa::generic;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return Isa::avx2;
    return __builtin_cpu_supports("avx512vnni") ? Isa::avx512vnni : Isa::avx512;
#else
    return Isa::generic;
#endif
}

} // namespace

const char* isa_name(Isa isa) {
    switch (isa) {
    case Isa::avx2:
        return "avx2";
    case Isa::avx512:
        return "avx512";
    case Isa::avx512vnni:
        return "avx512vnni";
    default:
        return "default";
    }
}

Isa best_isa() {
    static const Isa best = processor();
    return best;
}

Isa isa_named(const std::string& name) {
    for (Isa candidate : all)
        if (name == isa_name(candidate))
            return candidate;
    throw std::invalid_argument("LOWDIM_ISA must be default, avx2, avx512 or avx512vnni; got '" + name +
                                "'. Unset it to use the best the processor has.");
}

Isa isa() {
    const int now = chosen.load(std::memory_order_relaxed);
    if (now >= 0)
        return static_cast<Isa>(now);
    const char* cap = std::getenv("LOWDIM_ISA"); // once, and before threads of ours can read the environment
    set_isa(cap && *cap ? isa_named(cap) : best_isa());
    return static_cast<Isa>(chosen.load(std::memory_order_relaxed));
}

void set_isa(Isa cap) {
    chosen.store(static_cast<int>(std::min(cap, best_isa())), std::memory_order_relaxed);
}

} // namespace lowdim
