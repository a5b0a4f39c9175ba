// Candidates of a row by their exact distances.
#pragma once

#include "aligned.hpp"
#include "nearest_scan.hpp"
#include "raw_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace lowdim::detail {

// Exact distances from a row to some candidates, as the exact search has them.
template <class T> class Ranking {
public:
    explicit Ranking(std::int64_t d) : with_(scanner()), query_(d), point_(d) {}

    // The first k of the candidates by (distance, index).
    void write(const RawRows& points, const RawRows& queries, std::int64_t q, const std::int32_t* candidates,
               std::int64_t among, std::int64_t k, std::int32_t* indices, float* distances) {
        constexpr std::int64_t ahead = 2;
        read_row(queries, q, query_.data());
        hits_.clear();
        for (std::int64_t c = 0; c < among; ++c) {
            if (c + ahead < among)
                fetch_row(points, candidates[c + ahead]);
            read_row(points, candidates[c], point_.data());
            if constexpr (std::is_same_v<T, float>)
                hits_.push_back({with_.squared_float(query_.data(), point_.data(), points.d), candidates[c]});
            else
                hits_.push_back(
                    {with_.squared_double(query_.data(), point_.data(), points.d), candidates[c]});
        }
        std::partial_sort(hits_.begin(), hits_.begin() + k, hits_.end());
        for (std::int64_t j = 0; j < k; ++j) {
            indices[j] = hits_[j].point;
            distances[j] = static_cast<float>(std::sqrt(hits_[j].square));
        }
    }

private:
    struct Hit {
        double square;
        std::int32_t point;
        bool operator<(const Hit& other) const {
            return square != other.square ? square < other.square : point < other.point;
        }
    };
    const Scanner with_;
    Aligned<T> query_, point_;
    std::vector<Hit> hits_;
};

} // namespace lowdim::detail
