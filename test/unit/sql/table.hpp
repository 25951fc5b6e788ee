#pragma once

#include "sql/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// Rows that a query has returned.
class table final : public sql::result {
public:
    explicit table(std::size_t columns, std::vector<std::vector<std::string>> all = {})
        : columns_(columns),
          all_(std::move(all))
    {}

    std::size_t rows() const noexcept override { return all_.size(); }
    std::size_t columns() const noexcept override { return columns_; }
    std::string_view text(std::size_t row, std::size_t column) const noexcept override
    {
        return all_[row][column];
    }

private:
    std::size_t columns_;
    std::vector<std::vector<std::string>> all_;
};

} // namespace holdfast::test
