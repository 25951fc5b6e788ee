#include <holdfast/resource.hpp>

#include <stdexcept>
#include <utility>

namespace holdfast {

resource::resource(std::string name) : name_(std::move(name))
{
    if (name_.empty())
        throw std::invalid_argument("holdfast: a resource name must not be empty");
    if (name_.size() > max_size)
        throw std::invalid_argument("holdfast: a resource name of " + std::to_string(name_.size()) +
                                    " bytes; at most " + std::to_string(max_size) + " are allowed");
}

} // namespace holdfast
