#include <holdfast/backend.hpp>

#include "core/backend.hpp"

#include <cassert>
#include <utility>

namespace holdfast {

backend::backend(std::shared_ptr<const core::backend_factory> factory) noexcept
    : factory_(std::move(factory))
{
    assert(factory_ != nullptr);
}

} // namespace holdfast
