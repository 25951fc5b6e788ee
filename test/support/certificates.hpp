#pragma once

#include "support/temporary_folder.hpp"

#include <string>
#include <string_view>

namespace holdfast::test {

/// A folder with certificates for tests: an authority and what it signs. Removed with the object.
class certificates {
public:
    certificates();

    struct pair {
        std::string certificate, key; ///< PEM files
    };

    /// The authority's own certificate: a PEM file.
    const std::string& authority() const noexcept { return authority_.certificate; }

    /// A new certificate of the authority. `names`: as in a configuration of OpenSSL, for example
    /// "IP:127.0.0.1,DNS:localhost". It is valid from a day ago to `last_day` days from now.
    pair issue(std::string_view name, const std::string& names, long last_day = 1);

private:
    temporary_folder folder_{"certificates"};
    pair authority_;
};

} // namespace holdfast::test
