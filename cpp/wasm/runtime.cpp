// What a module without an operating system lacks: memory for several threads, and errors. An error ends the
// call by an exception of the page, which then gives up the module's memory.
#include "engine.hpp"

#include <algorithm>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

namespace {

// Kinds of errors, as the page knows them.
enum class Error : int { refused = 1, memory = 2, fault = 3 };

extern "C" __attribute__((import_module("page"), import_name("fail"))) void page_fail(int kind,
                                                                                      const char* words);

[[noreturn]] void fail(Error kind, const char* words) {
    page_fail(static_cast<int>(kind), words);
    __builtin_trap();
}

// The allocator of libc is for one thread.
class Lock {
public:
    Lock() {
        while (taken.exchange(true, std::memory_order_acquire))
            ;
    }
    ~Lock() { taken.store(false, std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    static inline std::atomic<bool> taken{false};
};

void* allocated(std::size_t bytes, std::size_t alignment) {
    const Lock held;
    if (void* there = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
        return there;
    fail(Error::memory, "");
}

void freed(void* there) noexcept {
    const Lock held;
    std::free(there);
}

constexpr std::size_t usual = 16;
constexpr std::size_t most_aligned = 64; // there are no huge pages here

} // namespace

void* operator new(std::size_t bytes) { return allocated(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocated(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t to) {
    return allocated(bytes, std::min(static_cast<std::size_t>(to), most_aligned));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
    return allocated(bytes, std::min(static_cast<std::size_t>(to), most_aligned));
}
void operator delete(void* there) noexcept { freed(there); }
void operator delete[](void* there) noexcept { freed(there); }
void operator delete(void* there, std::size_t) noexcept { freed(there); }
void operator delete[](void* there, std::size_t) noexcept { freed(there); }
void operator delete(void* there, std::align_val_t) noexcept { freed(there); }
void operator delete[](void* there, std::align_val_t) noexcept { freed(there); }
void operator delete(void* there, std::size_t, std::align_val_t) noexcept { freed(there); }
void operator delete[](void* there, std::size_t, std::align_val_t) noexcept { freed(there); }

extern "C" {

void* __cxa_allocate_exception(std::size_t bytes) noexcept { return allocated(bytes, usual); }

void __cxa_throw(void* thrown, std::type_info* type, void* (*)(void*)) {
    if (*type == typeid(lowdim::wasm::Refusal))
        fail(Error::refused, static_cast<const lowdim::wasm::Refusal*>(thrown)->words.c_str());
    fail(Error::fault, type->name());
}
}
