// Which instruction set the kernels run with.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define LOWDIM_X86 1
#else
#define LOWDIM_X86 0
#endif

namespace lowdim {

// Instruction sets the kernels are written for, each including the ones before it.
enum class Isa { generic, avx2, avx512, avx512vnni };

// The best one this processor has, capped by the environment variable LOWDIM_ISA when that is set.
Isa isa();
const char* isa_name(Isa isa);

} // namespace lowdim
