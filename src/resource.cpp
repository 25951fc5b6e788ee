#include <holdfast/resource.hpp>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

// The name of a resource with one of these endings is a key of its queue on Redis nodes.
constexpr std::string_view reserved_endings[] = {":holdfast:queue", ":holdfast:open"};
// In a cluster also with one of these parts.
constexpr std::string_view reserved_parts[] = {"}:holdfast:queue:", "}:holdfast:open:"};
// And with this beginning, that of a client record.
constexpr std::string_view reserved_beginning = "holdfast:client:";

} // namespace

resource::resource(std::string name) : name_(std::move(name))
{
    if (name_.empty())
        throw std::invalid_argument("holdfast: a resource name must not be empty");
    if (name_.size() > max_size)
        throw std::invalid_argument("holdfast: a resource name of " + std::to_string(name_.size()) +
                                    " bytes; at most " + std::to_string(max_size) + " are allowed");
    if (name_.starts_with(reserved_beginning))
        throw std::invalid_argument("holdfast: a resource name must not begin with \"" +
                                    std::string(reserved_beginning) +
                                    "\": such names are reserved for client records");
    for (const std::string_view ending : reserved_endings) {
        if (name_.ends_with(ending))
            throw std::invalid_argument("holdfast: a resource name must not end in \"" +
                                        std::string(ending) +
                                        "\": such names are reserved for the keys of queues");
    }
    for (const std::string_view part : reserved_parts) {
        if (name_.find(part) != name_.npos)
            throw std::invalid_argument("holdfast: a resource name must not contain \"" +
                                        std::string(part) +
                                        "\": such names are reserved for the keys of queues");
    }
}

} // namespace holdfast
