// The two halves of a step for one instruction set; see each_isa.inl.

// A row of V.
template <class T> struct Block;
template <> struct Block<double> {
    typedef double Row __attribute__((vector_size(64)));
    typedef double Stored __attribute__((vector_size(64), aligned(8), may_alias));
};
template <> struct Block<float> {
    typedef float Row __attribute__((vector_size(32)));
    typedef float Stored __attribute__((vector_size(32), aligned(4), may_alias));
};

template <class T> LOWDIM_TARGET LOWDIM_INLINE typename Block<T>::Row row_of(const T* V, std::int64_t i) {
    return *reinterpret_cast<const typename Block<T>::Stored*>(V + i * width);
}

template <class T>
LOWDIM_TARGET LOWDIM_INLINE void put_row(T* V, std::int64_t i, const typename Block<T>::Row& row) {
    *reinterpret_cast<typename Block<T>::Stored*>(V + i * width) = row;
}

// Row i of A V. With `hasten`, rows of V that are needed soon are asked for: others write them, and they lie
// in other caches.
template <class T>
LOWDIM_TARGET LOWDIM_INLINE typename Block<T>::Row row_product(const CsrOf<T>& A, std::int64_t i, const T* V,
                                                               bool hasten) {
    typename Block<T>::Row sum = {};
    const std::int32_t last = A.starts[A.rows] - 1;
    for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
        if (hasten)
            __builtin_prefetch(V + A.columns[std::min(place + ahead, last)] * width);
        sum += A.values[place] * row_of(V, A.columns[place]);
    }
    return sum;
}

// Rows from first to last of out = A V.
template <class T>
LOWDIM_TARGET void multiply(const CsrOf<T>& A, const T* V, T* out, std::int64_t first, std::int64_t last,
                            bool hasten) {
    for (std::int64_t i = first; i < last; ++i) {
        if (hasten)
            claim(out + std::min(i + early, last - 1) * width);
        put_row(out, i, row_product(A, i, V, hasten));
    }
}

// Rows from first to last of one step: out = scale (A W − centre V) − before, where before may be out itself.
template <class T>
LOWDIM_TARGET void advance(const CsrOf<T>& A, const T* W, const T* V, T scale, T centre, const T* before,
                           T* out, std::int64_t first, std::int64_t last, bool hasten) {
    for (std::int64_t i = first; i < last; ++i) {
        if (hasten)
            claim(out + std::min(i + early, last - 1) * width);
        typename Block<T>::Row sum = row_product(A, i, W, hasten);
        sum = scale * (sum - centre * row_of(V, i));
        if (before)
            sum -= row_of(before, i);
        put_row(out, i, sum);
    }
}
