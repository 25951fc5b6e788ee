#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

// A sorted set of the model of a Redis server. A small one is a vector in its order. A large one is
// a hash table whose parts are shared by copies until they change: a snapshot of 16,384 registers
// costs little, and so does a change after it. Its order is found only when it is needed, and kept
// while members are erased from its front: scripts pop all of a long queue one by one. Registers
// are all made, and raised, at once.
class sorted_set {
public:
    using member = std::pair<double, std::string>; // score and name

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

    std::optional<double> score_of(std::string_view name) const;

    // Whether a member is put: NX, XX, GT and LT of ZADD.
    struct condition {
        bool nx = false, xx = false, gt = false, lt = false;

        bool allows(std::optional<double> old, double score) const
        {
            return old ? !nx && !(gt && score <= *old) && !(lt && score >= *old) : !xx;
        }
    };
    enum class outcome : std::uint8_t { added, changed, same };
    outcome put(double score, std::string_view name, const condition& c);

    // Puts members with this score and the names "0" to `count` - 1, each if it is new or has a
    // smaller score. False if nothing has changed.
    bool raise_numbered(double score, std::size_t count);

    // False if there is no such member.
    bool erase(std::string_view name);

    // Up to `count` members in their order, from number `first` on.
    std::vector<member> range(std::size_t first, std::size_t count) const;
    std::vector<member> all() const { return range(0, size_); }

    bool operator==(const sorted_set& other) const
    {
        return size_ == other.size_ &&
               ((shares_all(other) && least_ == other.least_) || all() == other.all());
    }

private:
    using group = std::vector<member>; // of a hash, in any order
    static constexpr double lowest = -std::numeric_limits<double>::infinity();

    bool is_large() const noexcept { return !groups_.empty(); }
    bool shares_all(const sorted_set& other) const
    {
        return groups_ == other.groups_ && is_large();
    }
    void grow();
    void settle();
    double score_of(const member& m) const { return std::max(m.first, least_); }
    std::optional<double> lowest_score() const;
    const group& group_of(std::string_view name) const;
    group& own_group_of(std::string_view name);
    const std::vector<member>& order() const;

    std::vector<member> small_; // in order
    std::vector<std::shared_ptr<group>> groups_;
    std::size_t size_ = 0;
    double least_ = lowest;    // no member of a large set has a lower score, whatever is in groups_
    std::size_t numbered_ = 0; // not 0: its members are "0" to this number - 1
    mutable std::shared_ptr<const std::vector<member>> order_; // its last size_ members are here
};

} // namespace holdfast::test
