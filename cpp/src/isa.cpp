// Which instruction set runs, decided when the program runs.
#include <lowdim/isa.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace lowdim {

namespace {

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

Isa isa() {
    static const Isa best = processor();
    const char* cap = std::getenv("LOWDIM_ISA");
    if (!cap || !*cap)
        return best;
    for (Isa candidate : all)
        if (cap == std::string(isa_name(candidate)))
            return candidate < best ? candidate : best;
    throw std::invalid_argument("LOWDIM_ISA must be default, avx2, avx512 or avx512vnni; got '" +
                                std::string(cap) + "'. Unset it to use the best the processor has.");
}

} // namespace lowdim
