#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace holdfast::cli {

/// What is printed, and how. Results go to the standard output, messages to the standard error.
///
/// Colours only on a terminal, and not if NO_COLOR is set. No message contains the user name and
/// the password of a URL.
class console {
public:
    struct settings {
        bool json = false;    ///< messages and results are JSON objects, one a line
        bool quiet = false;   ///< only errors
        bool verbose = false; ///< details as well
    };

    enum class level { error, warning, note, detail };
    enum class colour { plain, green, yellow, red };

    explicit console(settings how);

    const settings& how() const noexcept { return how_; }

    /// `event` names in one word what happened, for programs. `fields` are added to the JSON form.
    void message(level severity, std::string_view event, std::string_view text,
        boost::json::object fields = {}) const;

    /// A line of the result in its JSON form.
    void result(const boost::json::object& line) const;

    /// A line of the result for people.
    void result(std::string_view line) const;

    /// The text in this colour, if results are coloured.
    std::string painted(std::string_view text, colour with) const;

private:
    settings how_;
    bool coloured_results_, coloured_messages_;
};

/// The text without what stands between "://" and "@" in a URL.
std::string without_credentials(std::string_view text);

/// The text of an exception of the library without the name of the library before it, which is also
/// the name of this program.
std::string_view without_prefix(std::string_view text);

} // namespace holdfast::cli
