// Prefix sums in place by TBB's parallel_scan, on the inputs of `scans`. See scans_tbb.sh.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_scan.h>

using Clock = std::chrono::steady_clock;

static uint64_t looped(std::vector<uint64_t>& v) {
    uint64_t sum = 0;
    for (auto& x : v) {
        sum += x;
        x = sum;
    }
    return sum;
}

static uint64_t scanned(std::vector<uint64_t>& v) {
    return tbb::parallel_scan(
        tbb::blocked_range<size_t>(0, v.size()), uint64_t(0),
        [&](const tbb::blocked_range<size_t>& part, uint64_t sum, bool last) {
            for (size_t i = part.begin(); i != part.end(); ++i) {
                sum += v[i];
                if (last) v[i] = sum;
            }
            return sum;
        },
        [](uint64_t a, uint64_t b) { return a + b; });
}

int main() {
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
    for (size_t n : {100ul, 1000ul, 10000ul, 1000000ul, 100000000ul}) {
        std::vector<uint64_t> a(n), b(n);
        for (size_t i = 0; i < n; ++i) a[i] = b[i] = i * 0x9E3779B9ul % 1000;
        std::vector<double> loop, tbb;
        auto start = Clock::now();
        auto timed = [](auto op) {
            auto begin = Clock::now();
            volatile uint64_t sum = op();
            (void)sum;
            return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
        };
        while (loop.size() < 5 || (Clock::now() - start < std::chrono::seconds(2) && loop.size() < 20000)) {
            loop.push_back(timed([&] { return looped(a); }));
            tbb.push_back(timed([&] { return scanned(b); }));
        }
        std::sort(loop.begin(), loop.end());
        std::sort(tbb.begin(), tbb.end());
        double l = loop[loop.size() / 2], t = tbb[tbb.size() / 2];
        std::printf("u64 prefix sum in place, %zu: loop %.2f us, tbb %.2f us, %.3f\n", n, l, t, t / l);
    }
}
