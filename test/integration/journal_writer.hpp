#pragma once

#include "support/redis_client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace holdfast::test {

using steady = std::chrono::steady_clock;

// An open file that is closed by the destructor.
class file {
public:
    file(const std::string& name, int flags)
        : descriptor_(::open(name.c_str(), flags | O_CREAT | O_CLOEXEC, 0600))
    {
        if (descriptor_ == -1)
            fail(name);
    }
    file(file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    ~file()
    {
        if (descriptor_ != -1)
            ::close(descriptor_);
    }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

// The journal of a worker. When a call returns, its line is completely in the file, even if the
// worker is killed afterwards.
class journal_writer {
public:
    journal_writer(const std::string& name, std::string resource, const std::string& holder)
        : out_(name, O_WRONLY | O_APPEND),
          resource_(std::move(resource)),
          prefix_(resource_ + " " + holder + " ")
    {}

    const std::string& resource() const { return resource_; }

    void held(steady::time_point from, steady::time_point until)
    {
        write("held " + prefix_ + text(from) + " " + text(until));
    }
    void over(steady::time_point from, steady::time_point until, const std::string& why)
    {
        write("over " + prefix_ + text(from) + " " + text(until) + " " + why);
    }
    void wrote(long number) { write("wrote " + std::to_string(number)); }
    void failed(int error, const std::string& nodes)
    {
        write("failed " + text(steady::now()) + " " + std::to_string(error) + " " + nodes);
    }

private:
    static std::string text(steady::time_point t)
    {
        return std::to_string(std::chrono::nanoseconds(t.time_since_epoch()).count());
    }

    void write(const std::string& line)
    {
        const std::string all = line + "\n";
        if (::write(out_.descriptor(), all.data(), all.size()) != static_cast<ssize_t>(all.size()))
            fail("journal");
    }

    file out_;
    std::string resource_, prefix_;
};

// A number in a file, not protected in any way.
class number_file {
public:
    explicit number_file(const std::string& name) : file_(name, O_RDWR) {}

    // 0 in a new file.
    long read() const
    {
        std::string digits(width, '0');
        const auto count = ::pread(file_.descriptor(), digits.data(), width, 0);
        if (count == -1)
            fail("number");
        return std::stol(digits);
    }

    long write(long number)
    {
        const std::string digits = std::to_string(number);
        const std::string all = std::string(width - digits.size(), '0') + digits;
        if (::pwrite(file_.descriptor(), all.data(), width, 0) != static_cast<ssize_t>(width))
            fail("number");
        return number;
    }

private:
    static constexpr std::size_t width = 12;
    file file_;
};

} // namespace holdfast::test
