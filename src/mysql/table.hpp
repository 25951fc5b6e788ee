#pragma once

#include "sql/result.hpp"

#include <mysql.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace holdfast::mysql_store {

// The rows of a result that the library has read, as text.
class table final : public sql::result {
public:
    explicit table(MYSQL_RES* of) : columns_(::mysql_num_fields(of))
    {
        texts_.reserve(columns_ * ::mysql_num_rows(of));
        while (const MYSQL_ROW next = ::mysql_fetch_row(of)) {
            const unsigned long* const lengths = ::mysql_fetch_lengths(of);
            for (unsigned i = 0; i < columns_; ++i)
                texts_.push_back(next[i] == nullptr ? std::string_view()
                                                    : std::string_view(next[i], lengths[i]));
            ++rows_;
        }
    }

    std::size_t rows() const noexcept override { return rows_; }
    std::size_t columns() const noexcept override { return columns_; }
    std::string_view text(std::size_t row, std::size_t column) const noexcept override
    {
        return texts_[row * columns_ + column];
    }

private:
    const unsigned columns_;
    std::size_t rows_ = 0;
    std::vector<std::string_view> texts_;
};

} // namespace holdfast::mysql_store
