#pragma once

#include "support/node_clock_settings.hpp"
#include "support/redis_client.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::test {

// The wall clock of servers, set by the test. By default it runs with the machine's clock.
class node_clock {
public:
    node_clock()
    {
        const int file = ::mkstemp(name_.data());
        if (file == -1 || ::ftruncate(file, sizeof *shared_) == -1)
            fail("mkstemp");
        void* const mapped =
            ::mmap(nullptr, sizeof *shared_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped == MAP_FAILED)
            fail("mmap");
        shared_ = static_cast<volatile node_clock_settings*>(mapped);
    }
    explicit node_clock(std::chrono::milliseconds stands_at) : node_clock() { stand(stands_at); }
    node_clock(const node_clock&) = delete;
    node_clock& operator=(const node_clock&) = delete;
    ~node_clock()
    {
        ::munmap(const_cast<node_clock_settings*>(shared_), sizeof *shared_);
        ::unlink(name_.c_str());
    }

    // Servers started by `function` have this clock. Not thread-safe.
    template <class Function>
    auto start(Function function) const
    {
        const environment preload("LD_PRELOAD", HOLDFAST_PRELOADED_CLOCK);
        const environment which(node_clock_settings::variable, name_.c_str());
        return function();
    }

    void step(std::chrono::seconds by)
    {
        shared_->off_by_seconds = shared_->off_by_seconds + by.count();
    }
    void stand(std::chrono::milliseconds since_1970) { shared_->stands_at_ms = since_1970.count(); }

private:
    struct environment {
        environment(const char* name, const char* value) : variable(name)
        {
            if (const char* const old = std::getenv(name))
                before = old;
            ::setenv(name, value, 1);
        }
        environment(const environment&) = delete;
        environment& operator=(const environment&) = delete;
        ~environment() { before ? ::setenv(variable, before->c_str(), 1) : ::unsetenv(variable); }

        const char* variable;
        std::optional<std::string> before{};
    };

    std::string name_ = (std::filesystem::temp_directory_path() / "holdfast-clock-XXXXXX").string();
    volatile node_clock_settings* shared_ = nullptr;
};

} // namespace holdfast::test
