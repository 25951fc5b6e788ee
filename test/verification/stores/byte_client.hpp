#pragma once

#include "verification/stores/byte_streams.hpp"
#include "verification/stores/client.hpp"

namespace holdfast::store_simulation {

// A client whose store uses connections of bytes (core::connection).
class byte_client : public client, private stream_owner {
public:
    byte_client(world& w, referee& judge, const client_params& p, const client_habits& h)
        : client(w, judge, p, h),
          streams_(w, *this)
    {}

    process& runs() noexcept final { return client::runs(); }
    // All its connections break.
    void lose_connections() { streams_.lose_connections(); }

private:
    // stream_owner. The derived class opens connections.
    std::span<core::connection* const> connections() final { return store().connections(); }
    void turn() final { client::turn(); }

    void serve(time_point now) final { streams_.serve(now); }
    void cut_off() final { streams_.cut_off(); }

    byte_streams streams_;
};

} // namespace holdfast::store_simulation
