// Which instruction set the kernels run with.
#pragma once

#include <string>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) // Clang for Windows has no __GNUC__
#define LOWDIM_X86 1
#else
#define LOWDIM_X86 0
#endif

namespace lowdim {

// Instruction sets the kernels are written for, each including the ones before it.
enum class Isa { generic, avx2, avx512, avx512vnni };

// The one that kernels run with: the best this processor has, capped by the environment variable LOWDIM_ISA
// where that is set. The environment is read at the first call alone.
Isa isa();
// Caps it from now on, regardless of the environment.
void set_isa(Isa cap);
Isa best_isa();
const char* isa_name(Isa isa);
Isa isa_named(const std::string& name);

} // namespace lowdim
