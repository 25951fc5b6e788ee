#pragma once

#include <holdfast/detail/export.hpp>

#include <memory>

namespace holdfast {

namespace core {
class backend_factory;
}

/// The store of the locks. Made by `redlock()`, `redis_primary()`, `redis_sentinel()`,
/// `redis_cluster()`, `etcd()`, `zookeeper()`, `postgresql()`, `mysql()` or `memory()`, used by
/// `locker`.
///
/// A value type, cheap to copy. Copies refer to the same store. Immutable, so safe to use from many
/// threads.
class backend {
public:
    /// For the library's own backends. Precondition: `factory` is not null.
    HOLDFAST_EXPORT explicit backend(std::shared_ptr<const core::backend_factory> factory) noexcept;

    /// For the library.
    const core::backend_factory& factory() const noexcept { return *factory_; }

private:
    std::shared_ptr<const core::backend_factory> factory_;
};

} // namespace holdfast
