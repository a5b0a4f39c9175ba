// Which instruction set runs, decided when the program runs.
#include <lowdim/isa.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace lowdim {

namespace {

std::atomic<int> chosen{-1}; // not yet

constexpr Isa all[] = {Isa::generic, Isa::avx2, Isa::avx512, Isa::avx512vnni};

#if LOWDIM_X86
// What the processor says of itself, and which registers the system saves. Not by __builtin_cpu_supports: its
// tables lie in a library of the compiler that clang-cl does not link.
struct Leaf {
    std::uint32_t eax, ebx, ecx, edx;
};

Leaf cpuid(std::uint32_t leaf) {
    Leaf out{leaf, 0, 0, 0};
    asm volatile("cpuid" : "+a"(out.eax), "=b"(out.ebx), "+c"(out.ecx), "=d"(out.edx));
    return out;
}

std::uint32_t saved_registers() {
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

bool has(std::uint32_t word, std::initializer_list<int> bits) {
    return std::all_of(bits.begin(), bits.end(), [word](int bit) { return (word >> bit & 1U) != 0; });
}

Isa processor() {
    if (cpuid(0).eax < 7 || !has(cpuid(1).ecx, {12, 27, 28})) // FMA, XGETBV, AVX
        return Isa::generic;
    const Leaf more = cpuid(7);
    const std::uint32_t saved = saved_registers();
    if (!has(more.ebx, {5}) || !has(saved, {1, 2})) // AVX2; XMM, YMM
        return Isa::generic;
#if defined(__APPLE__)
    const bool wide = true; // saved from their first use on
#else
    const bool wide = has(saved, {5, 6, 7}); // masks, upper halves of ZMM, ZMM from 16 on
#endif
    if (!wide || !has(more.ebx, {16, 17, 30, 31})) // AVX-512 F, DQ, BW, VL
        return Isa::avx2;
    return has(more.ecx, {11}) ? Isa::avx512vnni : Isa::avx512;
}
#else
Isa processor() { return Isa::generic; }
#endif

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
