#pragma once

#include "core/slot_map.hpp"
#include "zookeeper/claim.hpp"

#include <cstddef>
#include <cstdint>

namespace holdfast::zookeeper_store {

// The claims of a locker.
class claim_table {
public:
    core::claim_id take()
    {
        const core::claim_id id = slots_.take();
        slots_[id] = claim{};
        return id;
    }
    void give_back(core::claim_id id) { slots_.give_back(id); }
    // Null if it has ended.
    claim* find(core::claim_id id) noexcept { return slots_.find(id); }
    const claim* find(core::claim_id id) const noexcept { return slots_.find(id); }
    // Precondition: it has not ended.
    claim& operator[](core::claim_id id) noexcept { return slots_[id]; }
    std::size_t size() const noexcept { return slots_.size(); }

    // Claims may end meanwhile.
    template <class Do>
    void for_each(Do act)
    {
        for (std::uint32_t i = 0; i < slots_.capacity(); ++i) {
            if (const core::claim_id id = slots_.id_at(i); id != 0)
                act(id, slots_[id]);
        }
    }

private:
    core::slot_map<claim> slots_;
};

} // namespace holdfast::zookeeper_store
