#include <holdfast/resource.hpp>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

// What the name of another resource and this make is the key of its queue on Redis nodes.
constexpr std::string_view reserved_ending = ":holdfast:queue";

} // namespace

resource::resource(std::string name) : name_(std::move(name))
{
    if (name_.empty())
        throw std::invalid_argument("holdfast: a resource name must not be empty");
    if (name_.size() > max_size)
        throw std::invalid_argument("holdfast: a resource name of " + std::to_string(name_.size()) +
                                    " bytes; at most " + std::to_string(max_size) + " are allowed");
    if (name_.ends_with(reserved_ending))
        throw std::invalid_argument("holdfast: a resource name must not end in \"" +
                                    std::string(reserved_ending) +
                                    "\": keys of that name are queues");
}

} // namespace holdfast
