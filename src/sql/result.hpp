#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::sql {

// The rows that a query has returned, as text.
class result {
public:
    virtual std::size_t rows() const noexcept = 0;
    virtual std::size_t columns() const noexcept = 0;
    // Empty if it is null. Precondition: there is such a row and column.
    virtual std::string_view text(std::size_t row, std::size_t column) const noexcept = 0;

protected:
    ~result() = default;
};

} // namespace holdfast::sql
