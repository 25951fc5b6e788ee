#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::resp {

constexpr std::size_t most_digits = 20; // of a 64-bit number, with a sign

// A number as an argument of a command.
class decimal {
public:
    explicit decimal(std::int64_t number) noexcept;
    std::string_view view() const noexcept { return {digits_.data(), size_}; }

private:
    std::array<char, most_digits> digits_;
    std::size_t size_;
};

// Appends a command to `out` as an array of blob strings. This is the only form that is sent,
// because in it any byte of an argument is data. No argument may point into `out`.
//
// Precondition: at least one argument. Servers do not answer an empty command, so every later reply
// would be assigned to the wrong request.
void append_command(std::string& out, std::initializer_list<std::string_view> arguments);
void append_command(std::string& out, std::span<const std::string_view> arguments);

// The beginning of a command that is sent often: its first arguments, encoded once. So many more
// arguments follow.
std::string encoded_head(std::initializer_list<std::string_view> arguments, std::size_t more);
// `head` and its arguments. No argument may point into `out`.
void append_command(
    std::string& out, const std::string& head, std::initializer_list<std::string_view> arguments);

// The same in pieces, if the number of arguments is known beforehand.
void append_array_header(std::string& out, std::size_t count);
void append_blob(std::string& out, std::string_view argument);
void append_blob(std::string& out, std::int64_t number);

} // namespace holdfast::resp
