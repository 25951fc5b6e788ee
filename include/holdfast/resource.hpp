#pragma once

#include <holdfast/detail/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

/// The name of a resource.
///
/// Any bytes are allowed, 1 to `max_size` of them: the name is sent as data and is never part of a
/// command or a script. Without fencing, it is the key on Redis nodes, as with other Redlock
/// clients. Names that end in `:holdfast:queue` or `:holdfast:open` are reserved for the keys of
/// queues, as are names that contain `}:holdfast:queue:` or `}:holdfast:open:`; and names that
/// begin with `holdfast:client:` for client records.
class resource {
public:
    static constexpr std::size_t max_size = 512; ///< in bytes

    /// Throws `std::invalid_argument` when the name is empty, longer than `max_size`, or reserved.
    HOLDFAST_EXPORT resource(std::string name);
    /// As above.
    resource(std::string_view name) : resource(std::string(name)) {}
    /// As above. Precondition: not null.
    resource(const char* name) : resource(std::string(name)) {}

    const std::string& name() const noexcept { return name_; } ///< as given

    friend bool operator==(const resource&, const resource&) = default;

private:
    std::string name_;
};

} // namespace holdfast
