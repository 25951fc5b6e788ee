#pragma once

#include <holdfast/error.hpp>

#include <iostream>

namespace holdfast::test {

/// Judges operations in a forked child, whose checks Boost.Test does not see.
struct verdict {
    void expect(const char* what, const auto& op, error_code why)
    {
        if (op.completions() == 1 && op.error() == why)
            return;
        std::cerr << what << ": " << op.completions() << ", " << op.error().message() << '\n';
        right = false;
    }

    bool right = true;
};

} // namespace holdfast::test
