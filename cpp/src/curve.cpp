// The curve of UMAP's loss.
#include <lowdim/cross_entropy.hpp>

#include <algorithm>
#include <cmath>

namespace lowdim {

Curve fitted_curve(double min_dist) {
    // Gauss and Newton's steps for the logarithms of both, shorter where they would raise the sum of squares.
    constexpr int points = 300;
    const auto residuals = [&](double log_a, double log_b, double* off, double (*slopes)[2]) {
        double sum = 0;
        for (int i = 0; i < points; ++i) {
            const double d = 3.0 * i / (points - 1), wanted = d < min_dist ? 1 : std::exp(min_dist - d);
            const double power = d > 0 ? std::exp(log_a + 2 * std::exp(log_b) * std::log(d)) : 0;
            const double value = 1 / (1 + power);
            off[i] = value - wanted;
            sum += off[i] * off[i];
            slopes[i][0] = -value * value * power;
            slopes[i][1] = d > 0 ? slopes[i][0] * 2 * std::exp(log_b) * std::log(d) : 0;
        }
        return sum;
    };
    double x = 0, y = 0, off[points], slopes[points][2];
    double now = residuals(x, y, off, slopes), damping = 1e-3;
    for (int step = 0; step < 200 && damping < 1e12; ++step) {
        double A = 0, B = 0, C = 0, f = 0, g = 0;
        for (int i = 0; i < points; ++i) {
            A += slopes[i][0] * slopes[i][0];
            B += slopes[i][0] * slopes[i][1];
            C += slopes[i][1] * slopes[i][1];
            f += slopes[i][0] * off[i];
            g += slopes[i][1] * off[i];
        }
        const double P = A * (1 + damping), R = C * (1 + damping), det = P * R - B * B;
        const double dx = (R * f - B * g) / det, dy = (P * g - B * f) / det;
        double there[points], slopes_there[points][2];
        const double then = residuals(x - dx, y - dy, there, slopes_there);
        if (!(then <= now)) {
            damping *= 10;
            continue;
        }
        x -= dx;
        y -= dy;
        damping /= 10;
        std::copy_n(there, points, off);
        std::copy_n(&slopes_there[0][0], 2 * points, &slopes[0][0]);
        now = then;
        if (std::fabs(dx) + std::fabs(dy) < 1e-13)
            break;
    }
    return {std::exp(x), std::exp(y)};
}

} // namespace lowdim
