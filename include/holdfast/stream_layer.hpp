#pragma once

#include <holdfast/detail/export.hpp>

#include <memory>

namespace holdfast {

namespace core {
class stream_layer_factory;
}

/// A layer between the protocol of a store and its connections. Made by `tls()`, used by the
/// options of backends.
///
/// A value type, cheap to copy. Immutable, so safe to use from many threads.
class stream_layer {
public:
    /// For the library's own layers. Precondition: `factory` is not null.
    HOLDFAST_EXPORT explicit stream_layer(
        std::shared_ptr<const core::stream_layer_factory> factory) noexcept;
    /// Moves copy as well: an object without a layer would mean plain text.
    stream_layer(const stream_layer&) = default;
    /// As above.
    stream_layer& operator=(const stream_layer&) = default;
    ~stream_layer() = default;

    /// For the library.
    const std::shared_ptr<const core::stream_layer_factory>& factory() const noexcept
    {
        return factory_;
    }

private:
    std::shared_ptr<const core::stream_layer_factory> factory_;
};

} // namespace holdfast
