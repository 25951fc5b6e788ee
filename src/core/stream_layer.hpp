#pragma once

#include "core/connection.hpp"

#include <memory>
#include <string>

namespace holdfast::core {

// Makes layers: connections that pass the bytes of an inner connection on in another form, as TLS
// does. The I/O layer serves the layer instead of the inner connection.
class stream_layer_factory {
public:
    virtual ~stream_layer_factory() = default;
    // `inner` outlives the layer. `host`: of the server, to verify it; empty: that of the target at
    // the time of each opening.
    virtual std::unique_ptr<connection> wrap(connection& inner, const std::string& host) const = 0;
};

} // namespace holdfast::core
