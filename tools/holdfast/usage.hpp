#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

namespace holdfast::cli {

/// Help with its own line of usage, for a terminal of 80 columns.
class usage : public CLI::Formatter {
public:
    explicit usage(std::string line) : line_(std::move(line)) {}

    std::string make_usage(const CLI::App*, std::string) const override
    {
        return "Usage: " + line_ + "\n";
    }

    /// Only the kind of the value: defaults are part of the descriptions.
    std::string make_option_opts(const CLI::Option* option) const override
    {
        return option->get_type_size() == 0 ? std::string() : " " + option->get_type_name();
    }

    std::string make_option_desc(const CLI::Option* option) const override
    {
        constexpr std::size_t widest = 49;
        std::istringstream words(option->get_description());
        std::string text, line;
        for (std::string word; words >> word;) {
            if (!line.empty() && line.size() + 1 + word.size() > widest) {
                text += line + '\n';
                line.clear();
            }
            line += (line.empty() ? "" : " ") + word;
        }
        return text + line;
    }

private:
    std::string line_;
};

} // namespace holdfast::cli
