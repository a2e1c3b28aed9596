// Empty stages of TBB's parallel_pipeline, as `streams` has them. See streams_tbb.sh.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

using Clock = std::chrono::steady_clock;
constexpr uint64_t ITEMS = 1'000'000;

template <typename Stages> static double run(size_t limit, Stages stages) {
    std::vector<double> times;
    for (int round = 0; round < 9; ++round) {
        uint64_t next = 0;
        auto source = tbb::make_filter<void, uint64_t>(
            tbb::filter_mode::serial_in_order, [&next](tbb::flow_control& flow) -> uint64_t {
                if (next == ITEMS) flow.stop();
                return next++;
            });
        auto begin = Clock::now();
        tbb::parallel_pipeline(limit, source & stages());
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / ITEMS;
}

int main() {
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
    volatile uint64_t last = 0;
    auto map = [] { return tbb::make_filter<uint64_t, uint64_t>(tbb::filter_mode::parallel, [](uint64_t n) { return n; }); };
    auto serial = [] { return tbb::make_filter<uint64_t, uint64_t>(tbb::filter_mode::serial_in_order, [](uint64_t n) { return n; }); };
    auto end = [&last] { return tbb::make_filter<uint64_t, void>(tbb::filter_mode::serial_in_order, [&last](uint64_t n) { last = n; }); };
    for (size_t limit : {64, 1024}) {
        std::printf("in order, limit %zu: %.1f ns an item\n", limit, run(limit, end));
        std::printf("map, in order, limit %zu: %.1f ns an item\n", limit, run(limit, [&] { return map() & end(); }));
        std::printf("in order, map, in order, limit %zu: %.1f ns an item\n", limit,
                    run(limit, [&] { return serial() & map() & end(); }));
    }
}
