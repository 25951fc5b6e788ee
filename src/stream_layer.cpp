#include <holdfast/stream_layer.hpp>

#include "core/stream_layer.hpp"

#include <cassert>
#include <utility>

namespace holdfast {

stream_layer::stream_layer(std::shared_ptr<const core::stream_layer_factory> factory) noexcept
    : factory_(std::move(factory))
{
    assert(factory_ != nullptr);
}

} // namespace holdfast
