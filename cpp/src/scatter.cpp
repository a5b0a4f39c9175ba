// The driver: chunks of rows are packed into panels of columns, then the tiles of the upper triangle are
// multiplied and added to totals in double.
//
// The bits must not depend on the number of threads, so every total has one owner at a time and one order of
// summation: a column's sums belong to whoever packs its panel, a tile to whoever multiplies it, and both see
// the chunks in order. Narrow matrices have too few tiles to share; there the rows are split into strands,
// whose number depends on the shape alone, each worked by one thread and added up in order at the end.
#include "aligned.hpp"
#include "chunks.hpp"
#include "scatter_kernels.hpp"
#include "scatter_pack.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace lowdim {

namespace {

using namespace detail;

constexpr std::int64_t narrow = 256;          // columns up to which threads share the rows, not the tiles
constexpr std::int64_t most_strands = 16;     // each has accumulators of its own
constexpr std::int64_t strand_sums = 1 << 16; // and sums
constexpr std::int64_t most_left = 4;         // panels multiplied with one right panel while it is in cache
constexpr std::int64_t private_bytes = 1 << 19, shared_bytes = 1 << 21; // of a packed chunk: by cache size
constexpr double thread_work = 1 << 24; // products below which waking another thread costs more than it saves
constexpr std::int64_t least_rows = 512, most_rows = 4096; // of a chunk

// Tiles of panels first .. last − 1 against panel q.
struct Unit {
    std::int64_t first, last, q;
};

template <class T, class Packed = T> class Scatter {
public:
    Scatter(const Strided<T>& X, const ScatterTerms& terms, const Kernel& kernel, T divisor = 1)
        : X(X), terms(terms), k(kernel), divisor(divisor), panels(ceil_div(X.cols, k.panel)),
          width(panels * k.panel), shared(X.cols > narrow || terms.n_classes * width > strand_sums) {
        std::int64_t rows = (shared ? shared_bytes : private_bytes) / (width * k.item);
        rows = std::clamp(rows, least_rows, most_rows) / k.fold * k.fold;
        chunk = std::min(std::max<std::int64_t>(rows, k.fold), ceil_div(X.rows, k.fold) * k.fold);
        chunks = ceil_div(X.rows, chunk);
        strands = shared ? 1 : std::clamp<std::int64_t>(chunks / 2, 1, most_strands);
        for (std::int64_t q = panels - 1; q >= 0; --q)
            for (std::int64_t p = 0; p <= q; p += most_left)
                units.push_back({p, std::min(p + most_left, q + 1), q});
    }

    // False where a value is not what Packed holds.
    bool run(double* sums, double* scatter, int n_threads, Watch& watch) const {
        const std::size_t tile_size = square() * (panels * (panels + 1) / 2),
                          sum_size = terms.n_classes * width;
        Aligned<double> tiles(strands * tile_size), totals(strands * sum_size);
        std::fill_n(totals.data(), strands * sum_size, 0.0);
        if (strands == 1)
            together(tiles.data(), totals.data(), n_threads, watch);
        else
            apart(tiles.data(), tile_size, totals.data(), sum_size, n_threads, watch);
        if (watch.stopped() || unfit)
            return !unfit;
        for (std::int64_t s = 1; s < strands; ++s) {
            for (std::size_t i = 0; i < tile_size; ++i)
                tiles.data()[i] += tiles.data()[s * tile_size + i];
            for (std::size_t i = 0; i < sum_size; ++i)
                totals.data()[i] += totals.data()[s * sum_size + i];
        }
        for (std::int64_t c = 0; c < terms.n_classes; ++c)
            std::copy_n(totals.data() + c * width, X.cols, sums + c * X.cols);
        finish(tiles.data(), sums, scatter, n_threads, watch);
        return true;
    }

private:
    const Strided<T>& X;
    const ScatterTerms& terms;
    const Kernel k;
    const T divisor;
    mutable std::atomic<bool> unfit{false};
    const std::int64_t panels, width;
    const bool shared;
    std::int64_t chunk, chunks, strands;
    std::vector<Unit> units;

    std::size_t square() const { return static_cast<std::size_t>(k.panel) * k.panel; }

    std::int64_t rows_of(std::int64_t c) const { return std::min(chunk, X.rows - c * chunk); }

    // All threads on one chunk at a time, while the next one is being packed.
    void together(double* tiles, double* sums, int n_threads, Watch& watch) const {
        const int team = static_cast<int>(std::min<std::int64_t>(n_threads, units.size()));
        const Packer<T, Packed> packer(X, terms, k, chunk, divisor, unfit);
        const Aligned<std::byte> buffers[2] = {Aligned<std::byte>(packer.bytes()),
                                               Aligned<std::byte>(packer.bytes())};
        const std::int64_t share =
            std::clamp<std::int64_t>(panels / (2 * team), 1, 8); // panels of a packing task
        const std::int64_t packs = ceil_div(panels, share);
        // Round c packs chunk c and multiplies chunk c − 1.
        each_round(chunks + 1, packs + static_cast<std::int64_t>(units.size()), team, watch,
                   [&](std::int64_t c, std::int64_t i) {
                       const std::int64_t u = i - packs;
                       if (unfit)
                           return;
                       if (u < 0 && c < chunks)
                           packer.pack(c * chunk, rows_of(c), i * share, std::min((i + 1) * share, panels),
                                       buffers[c % 2].data(), sums);
                       else if (u >= 0 && c > 0)
                           multiply(units[u], c == 1, rows_of(c - 1), buffers[(c - 1) % 2].data(), tiles);
                       if (u == 0 && c > 0)
                           watch.advance(rows_of(c - 1));
                   });
    }

    // Each thread on strands of its own.
    void apart(double* tiles, std::size_t tile_size, double* sums, std::size_t sum_size, int n_threads,
               Watch& watch) const {
        const int team = static_cast<int>(std::min<std::int64_t>(n_threads, strands));
        const Packer<T, Packed> packer(X, terms, k, chunk, divisor, unfit);
        Aligned<std::byte> buffers(packer.bytes() * team);
        each_piece(strands, team, watch, [&](std::int64_t s, int place) {
            std::byte* mine = buffers.data() + packer.bytes() * place;
            const std::int64_t start = chunks * s / strands, end = chunks * (s + 1) / strands;
            for (std::int64_t c = start; c < end && !watch.stopped() && !unfit; ++c) {
                packer.pack(c * chunk, rows_of(c), 0, panels, mine, sums + s * sum_size);
                for (const Unit& unit : units)
                    multiply(unit, c == start, rows_of(c), mine, tiles + s * tile_size);
                watch.advance(rows_of(c));
                if (place == 0)
                    watch.poll();
            }
        });
    }

    std::int64_t columns_of(std::int64_t panel) const {
        return std::min<std::int64_t>(k.panel, X.cols - panel * k.panel);
    }

    // A last panel with empty vectors is faster on the left, where columns are processed one by one.
    bool swapped(std::int64_t p, std::int64_t q) const { return p < q && columns_of(q) <= k.panel - k.lanes; }

    double* square_of(std::int64_t p, std::int64_t q, double* tiles) const {
        return tiles + (q * (q + 1) / 2 + p) * square();
    }

    void multiply(const Unit& unit, bool fresh, std::int64_t rows, const std::byte* packed,
                  double* tiles) const {
        if (fresh)
            for (std::int64_t p = unit.first; p < unit.last; ++p)
                std::fill_n(square_of(p, unit.q, tiles), square(), 0.0);
        for (std::int64_t row = 0; row < rows; row += k.fold)
            for (std::int64_t p = unit.first; p < unit.last; ++p)
                multiply(p, unit.q, packed + row * k.panel * k.item,
                         std::min<std::int64_t>(k.fold, rows - row), square_of(p, unit.q, tiles));
    }

    void multiply(std::int64_t p, std::int64_t q, const std::byte* packed, std::int64_t rows,
                  double* tile) const {
        const std::int64_t steps = ceil_div(rows, k.group), column_bytes = k.item * k.group;
        const std::int64_t left = swapped(p, q) ? q : p, right = swapped(p, q) ? p : q;
        const std::byte* a = packed + left * panel_bytes(k, chunk);
        const std::byte* b = packed + right * panel_bytes(k, chunk);
        for (std::int64_t i = 0; i < columns_of(left); i += k.tile_rows) {
            // On the diagonal, vectors wholly below it are left out.
            const std::int64_t first = p == q ? i / k.lanes : 0;
            const std::int64_t vectors = ceil_div(columns_of(right), k.lanes) - first;
            k.multiply[vectors](a + i * column_bytes, b + first * k.lanes * column_bytes, steps,
                                tile + i * k.panel + first * k.lanes);
        }
    }

    // Writes the full matrix out of the tiles, adding back what Bias subtracted. All are integers below 2^53:
    // exact.
    void finish(double* tiles, const double* sums, double* out, int n_threads, Watch& watch) const {
        std::vector<double> total(X.cols, 0.0);
        for (std::int64_t c = 0; c < terms.n_classes && k.bias != Bias::none; ++c)
            for (std::int64_t j = 0; j < X.cols; ++j)
                total[j] += sums[c * X.cols + j];
        const double constant = 128.0 * 128.0 * static_cast<double>(X.rows);
        const int team = static_cast<int>(std::min<std::int64_t>(n_threads, panels));
        each_piece(panels, team, watch, [&](std::int64_t piece) {
            const std::int64_t q = panels - 1 - piece; // the longest first
            for (std::int64_t p = 0; p <= q; ++p) {
                const std::int64_t left = swapped(p, q) ? q : p, right = swapped(p, q) ? p : q;
                const double* tile = square_of(p, q, tiles);
                for (std::int64_t a = 0; a < columns_of(left); ++a)
                    for (std::int64_t b = p == q ? a : 0; b < columns_of(right); ++b) {
                        const std::int64_t i = left * k.panel + a, j = right * k.panel + b;
                        double value = tile[a * k.panel + b];
                        if (k.bias == Bias::right)
                            value += 128.0 * total[i];
                        else if (k.bias == Bias::both)
                            value += 128.0 * (total[i] + total[j]) - constant;
                        out[i * X.cols + j] = out[j * X.cols + i] = value;
                    }
            }
        });
    }
};

void check(const ScatterTerms& terms, std::int64_t rows) {
    for (std::int64_t i = 0; terms.labels && i < rows; ++i)
        if (terms.labels[i] < 0 || terms.labels[i] >= terms.n_classes)
            throw std::invalid_argument("scatter: labels must be from 0 to n_classes - 1 (" +
                                        std::to_string(terms.n_classes - 1) + "); got " +
                                        std::to_string(terms.labels[i]) + " at row " + std::to_string(i) +
                                        ". Encode the classes as 0, 1, 2, ...");
    for (std::int64_t i = 0; terms.weights && i < rows; ++i)
        if (!(terms.weights[i] >= 0))
            throw std::invalid_argument("scatter: weights must be 0 or more; got " +
                                        std::to_string(terms.weights[i]) + " at row " + std::to_string(i) +
                                        ". Drop such rows or correct their weights.");
}

Kernel integer_kernel() {
    switch (isa()) {
    case Isa::generic:
        return words_kernel();
    case Isa::avx512vnni:
        return vnni_kernel();
    default: // with fused multiplication floats are as fast as 16 bits
        return float_kernel(Element::u8);
    }
}

// Threads worth waking.
int useful(int n_threads, std::int64_t rows, std::int64_t cols) {
    const double work = static_cast<double>(rows) * static_cast<double>(cols * (cols + 8));
    return std::clamp(n_threads, 1, static_cast<int>(std::min(work / thread_work, 1023.0)) + 1);
}

} // namespace

template <class T>
void scatter(const Strided<T>& X, const ScatterTerms& terms, double* sums, double* scatter, int n_threads,
             Watch& watch) {
    constexpr bool integer = std::is_same_v<T, std::uint8_t>;
    if (integer && (terms.shift || terms.weights))
        throw std::invalid_argument(
            "scatter: uint8 data are summed exactly, without shift or weights; got one. "
            "Leave it out, or convert the data to float32 or float64.");
    check(terms, X.rows);
    constexpr Element element = integer                    ? Element::u8
                                : std::is_same_v<T, float> ? Element::f32
                                                           : Element::f64;
    const Kernel kernel = integer ? integer_kernel() : float_kernel(element);
    Scatter<T>(X, terms, kernel).run(sums, scatter, useful(n_threads, X.rows, X.cols), watch);
}

template <class T>
bool scatter_integers(const Strided<T>& X, T divisor, const ScatterTerms& terms, double* sums,
                      double* scatter, int n_threads, Watch& watch) {
    if (terms.shift || terms.weights)
        throw std::invalid_argument("scatter_integers: whole numbers are summed exactly, without shift or "
                                    "weights; got one. Leave it out.");
    check(terms, X.rows);
    const Scatter<T, std::uint8_t> work(X, terms, integer_kernel(), divisor);
    return work.run(sums, scatter, useful(n_threads, X.rows, X.cols), watch);
}

template void scatter(const Strided<std::uint8_t>&, const ScatterTerms&, double*, double*, int, Watch&);
template void scatter(const Strided<float>&, const ScatterTerms&, double*, double*, int, Watch&);
template void scatter(const Strided<double>&, const ScatterTerms&, double*, double*, int, Watch&);
template bool scatter_integers(const Strided<float>&, float, const ScatterTerms&, double*, double*, int,
                               Watch&);
template bool scatter_integers(const Strided<double>&, double, const ScatterTerms&, double*, double*, int,
                               Watch&);

} // namespace lowdim
