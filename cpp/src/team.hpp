// The threads that kernels share.
#pragma once

#include <lowdim/watch.hpp>

#include <atomic>
#include <cstdint>

namespace lowdim::detail {

// What the members of a team run: a reference to something callable with the member's place.
class Body {
public:
    template <class Call>
    explicit Body(const Call& call)
        : call_([](const void* of, int place) { (*static_cast<const Call*>(of))(place); }), of_(&call) {}
    void operator()(int place) const { call_(of_, place); }

private:
    void (*call_)(const void*, int);
    const void* of_;
};

// Runs body(0) on the calling thread and body(1), body(2) … body(n_threads − 1) on threads that are free, and
// returns when all that began have ended. A thread that does not start in time is not waited for, so the body
// must work with any number of members: they take pieces of work until none is left. Whatever a member throws
// is thrown here again, once all have ended. While it waits, the calling thread polls the watch.
void with_team(int n_threads, Watch& watch, const Body& body);

// Whether `done` is at least `least`, or becomes so within a few microseconds.
bool comes_soon(const std::atomic<std::int64_t>& done, std::int64_t least);

// Waits until `done` is at least `least`, first without sleeping; false where the watch or `ended` says to
// give up. The member at place 0 polls the watch.
bool wait_for(const std::atomic<std::int64_t>& done, std::int64_t least, const std::atomic<bool>& ended,
              int place, Watch& watch);

// Threads that wait for work.
std::int64_t team_threads();

} // namespace lowdim::detail
