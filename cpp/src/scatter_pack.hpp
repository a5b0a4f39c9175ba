// Packed storage for the scatter kernels: rows of any strides in, panels of columns out.
#pragma once

#include "scatter_kernels.hpp"

#include <lowdim/integer_valued.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace lowdim::detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Five cache lines between panels, so that their rows do not fall into the same few cache sets.
inline std::size_t panel_bytes(const Kernel& k, std::int64_t chunk) {
    return static_cast<std::size_t>(chunk) * k.panel * k.item + 5 * 64;
}

// Where Packed is not T, values are Packed's divided by `divisor`; `unfit` is set where one is not.
template <class T, class Packed> class Packer {
public:
    Packer(const Strided<T>& X, const ScatterTerms& terms, const Kernel& kernel, std::int64_t chunk,
           T divisor, std::atomic<bool>& unfit)
        : X(X), terms(terms), k(kernel), divisor(divisor), unfit(unfit), panels(ceil_div(X.cols, k.panel)),
          panel_bytes_(panel_bytes(k, chunk)) {
        if (terms.shift || terms.weights) {
            shift.assign(panels * k.panel, 0.0);
            if (terms.shift)
                std::copy_n(terms.shift, X.cols, shift.begin());
        }
    }

    // Of a packed chunk.
    std::size_t bytes() const { return panel_bytes_ * panels; }

    // Packs panels first .. last − 1 of some rows and adds to their columns' sums (n_classes × panels·panel).
    void pack(std::int64_t start, std::int64_t rows, std::int64_t first, std::int64_t last, std::byte* packed,
              double* sums) const {
        const std::int64_t end = start + rows;
        if (std::abs(X.col_stride) > std::abs(X.row_stride)) // columns are what lies close together
            for (std::int64_t p = first; p < last; ++p)
                for (std::int64_t r = start; r < end; r += many)
                    block(p, r, std::min(many, end - r), packed + (r - start) * k.panel * k.item, sums);
        else
            for (std::int64_t r = start; r < end; r += few)
                for (std::int64_t p = first; p < last; ++p)
                    block(p, r, std::min(few, end - r), packed + (r - start) * k.panel * k.item, sums);
    }

private:
    static constexpr bool same = std::is_same_v<T, Packed>;
    static constexpr std::int64_t few = 4, many = 32; // rows at a time; multiples of every group

    const Strided<T>& X;
    const ScatterTerms& terms;
    const Kernel& k;
    const T divisor;
    std::atomic<bool>& unfit;
    const std::int64_t panels;
    const std::size_t panel_bytes_;
    std::vector<double> shift; // padded to whole panels; empty when neither shift nor weights were given

    // Columns that are not contiguous, the last panel and the last rows go through a small buffer.
    void block(std::int64_t p, std::int64_t row, std::int64_t rows, std::byte* packed, double* sums) const {
        const std::int64_t column = p * k.panel, columns = std::min<std::int64_t>(k.panel, X.cols - column);
        const T* source = X.data + row * X.row_stride + column * X.col_stride;
        PackBlock block{.source = source,
                        .stride = X.row_stride,
                        .rows = rows,
                        .shift = shift.empty() ? nullptr : shift.data() + column,
                        .weights = terms.weights ? terms.weights + row : nullptr,
                        .labels = terms.labels ? terms.labels + row : nullptr,
                        .sums = sums + column,
                        .class_stride = panels * k.panel,
                        .packed = packed + p * panel_bytes_};
        const Pack to_panel = shift.empty() ? k.pack : k.pack_full;
        if (same && X.col_stride == 1 && columns == k.panel && rows % k.group == 0)
            return to_panel(block);
        alignas(64) Packed buffer[many * most_panel];
        gather(source, rows, columns, buffer);
        block.source = buffer;
        block.stride = k.panel;
        to_panel(block);
    }

    void gather(const T* source, std::int64_t rows, std::int64_t columns, Packed* buffer) const {
        const std::int64_t padded = ceil_div(rows, k.group) * k.group;
        if (columns != k.panel || padded != rows)
            std::fill_n(buffer, padded * k.panel, Packed{0});
        if (X.col_stride == 1) {
            for (std::int64_t r = 0; r < rows; ++r)
                copy(source + r * X.row_stride, columns, buffer + r * k.panel);
            return;
        }
        alignas(64) T own[same ? 1 : many * most_panel];
        T* const out = same ? reinterpret_cast<T*>(buffer) : own;
        if (std::abs(X.col_stride) > std::abs(X.row_stride))
            for (std::int64_t j = 0; j < columns; ++j)
                for (std::int64_t r = 0; r < rows; ++r)
                    out[r * k.panel + j] = source[r * X.row_stride + j * X.col_stride];
        else
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t j = 0; j < columns; ++j)
                    out[r * k.panel + j] = source[r * X.row_stride + j * X.col_stride];
        for (std::int64_t r = 0; !same && r < rows; ++r)
            copy(out + r * k.panel, columns, buffer + r * k.panel);
    }

    void copy(const T* values, std::int64_t count, Packed* out) const {
        if constexpr (same)
            std::memcpy(out, values, count * sizeof(T));
        else if (!to_integers(values, count, divisor, out))
            unfit = true;
    }
};

} // namespace lowdim::detail
