#include <holdfast/tls.hpp>

#include "core/stream_layer.hpp"
#include "tls/context.hpp"
#include "tls/layer.hpp"

namespace holdfast {

namespace {

class layer_factory final : public core::stream_layer_factory {
public:
    explicit layer_factory(const tls_options& options)
        : context_(std::make_shared<tls_stream::context>(options))
    {}

    std::unique_ptr<core::connection> wrap(
        core::connection& inner, const std::string& host) const override
    {
        return std::make_unique<tls_stream::layer>(inner, context_, host);
    }

private:
    std::shared_ptr<const tls_stream::context> context_;
};

} // namespace

stream_layer tls(const tls_options& options)
{
    return stream_layer(std::make_shared<layer_factory>(options));
}

} // namespace holdfast
