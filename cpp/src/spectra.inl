// Jacobi's method for one small matrix and one instruction set; see each_isa.inl.

// Rows a and b (k) turned by an angle of cosine c and sine s.
LOWDIM_TARGET LOWDIM_INLINE void turn(double* a, double* b, std::int64_t k, double c, double s) {
    for (std::int64_t i = 0; i < k; ++i) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

// A (k × k) becomes diagonal, the rows of V its eigenvectors.
LOWDIM_TARGET void diagonalise(double* A, std::int64_t k, double* V) {
    double size = 0;
    for (std::int64_t i = 0; i < k * k; ++i)
        size += A[i] * A[i];
    const double nothing = 1e-17 * __builtin_sqrt(size);
    for (std::int64_t i = 0; i < k * k; ++i)
        V[i] = 0;
    for (std::int64_t i = 0; i < k; ++i)
        V[i * k + i] = 1;
    bool turned = true;
    for (int sweep = 0; turned && sweep < sweeps; ++sweep) {
        turned = false;
        for (std::int64_t p = 0; p + 1 < k; ++p)
            for (std::int64_t q = p + 1; q < k; ++q) {
                const double off = A[p * k + q];
                if (!(__builtin_fabs(off) > nothing))
                    continue;
                turned = true;
                const double app = A[p * k + p], aqq = A[q * k + q];
                const double slope = (aqq - app) / (2 * off);
                const double t = __builtin_copysign(1.0, slope) /
                                 (__builtin_fabs(slope) + __builtin_sqrt(slope * slope + 1));
                const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
                turn(A + p * k, A + q * k, k, c, s);
                for (std::int64_t i = 0; i < k; ++i) {
                    A[i * k + p] = A[p * k + i];
                    A[i * k + q] = A[q * k + i];
                }
                A[p * k + p] = app - t * off;
                A[q * k + q] = aqq + t * off;
                A[p * k + q] = A[q * k + p] = 0;
                turn(V + p * k, V + q * k, k, c, s);
            }
    }
}
