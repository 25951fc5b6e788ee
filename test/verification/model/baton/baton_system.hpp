// TODO comment
#pragma once

#include "verification/model/baton/packing.hpp"
#include "verification/model/baton/protocol.hpp"
#include "verification/model/baton/story.hpp"
#include "verification/model/baton/variant.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace holdfast::model {

class baton_system {
public:
    using world = baton::world;
    using step = baton::step;
    using naming = baton::naming;
    using scope = baton::scope;
    using rules = baton::rules;
    using variant = baton::variant;

    static std::span<const scope> scopes() { return baton::scopes(); }
    static std::span<const variant> variants() { return baton::variants(); }
    static std::string names_of(unsigned violated) { return baton::names_of(violated); }

    baton_system(const scope& s, const rules& how) : protocol_(s, how) {}

    world beginning() const { return {}; }
    void steps(const world& w, std::vector<step>& found) const { protocol_.steps(w, found); }
    unsigned take(world& w, const step& s) const { return protocol_.take(w, s); }
    bool over(const world& w) const { return protocol_.over(w); }
    bool grants(const world& before, const world& after) const
    {
        for (std::size_t p = 0; p < baton::process_count; ++p) {
            if (!protocol_.believes(before, p) && protocol_.believes(after, p))
                return true;
        }
        return false;
    }
    std::size_t width() const { return packing_.width(); }
    words canonical(const world& w, naming& names) { return packing_.canonical(w, names); }
    world unpack(const std::uint32_t* from) const { return packing_.unpack(from); }
    std::string describe(
        const step& s, const world& before, const world& after, const naming& names) const
    {
        return baton::describe(s, before, after, names);
    }
    std::size_t bytes() const { return packing_.bytes(); }

private:
    baton::protocol protocol_;
    baton::packing packing_;
};

} // namespace holdfast::model
