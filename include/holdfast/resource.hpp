#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

/// The name of what is locked.
///
/// Any bytes will do, 1 to `max_size` of them: the name travels as data and is never part of a
/// command or a script. On Redis nodes it is the key, as other Redlock clients have it, but not
/// with fencing. Names that end in `:holdfast:queue` or `:holdfast:open` are reserved: they are
/// keys of queues.
class resource {
public:
    static constexpr std::size_t max_size = 512; ///< in bytes

    /// Throws `std::invalid_argument` when the name is empty, longer than `max_size`, or reserved.
    resource(std::string name);
    resource(std::string_view name) : resource(std::string(name)) {}
    resource(const char* name) : resource(std::string(name)) {}

    const std::string& name() const noexcept { return name_; }

    friend bool operator==(const resource&, const resource&) = default;

private:
    std::string name_;
};

} // namespace holdfast
