// exp and log by Highway, which has no powers.
#include "functions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T> void exps_of(const T* in, T* out, std::int64_t n) {
    const hn::ScalableTag<T> d;
    for (std::int64_t j = 0; j < n; j += static_cast<std::int64_t>(hn::Lanes(d)))
        hn::Store(hn::Exp(d, hn::Load(d, in + j)), d, out + j);
}

void float_exps(const float* in, float* out, std::int64_t n) { exps_of(in, out, n); }
void double_exps(const double* in, double* out, std::int64_t n) { exps_of(in, out, n); }

void float_logs(const float* in, float* out, std::int64_t n) {
    const hn::ScalableTag<float> d;
    for (std::int64_t j = 0; j < n; j += static_cast<std::int64_t>(hn::Lanes(d)))
        hn::Store(hn::Log(d, hn::Load(d, in + j)), d, out + j);
}

} // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "highway_targets.hpp"

namespace bench {

HWY_EXPORT(float_exps);
HWY_EXPORT(double_exps);
HWY_EXPORT(float_logs);

void measure_all() {
    on_each_target([](const char* system) {
        measure(exps<float>, system, HWY_DYNAMIC_DISPATCH(float_exps));
        measure(exps<double>, system, HWY_DYNAMIC_DISPATCH(double_exps));
        measure(logs, system, HWY_DYNAMIC_DISPATCH(float_logs));
    });
}

} // namespace bench

int main() { bench::measure_all(); }
#endif
