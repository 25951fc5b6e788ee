#pragma once

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
    explicit stream_layer(std::shared_ptr<const core::stream_layer_factory> factory) noexcept;

    const std::shared_ptr<const core::stream_layer_factory>& factory() const noexcept
    {
        return factory_;
    }

private:
    std::shared_ptr<const core::stream_layer_factory> factory_;
};

} // namespace holdfast
