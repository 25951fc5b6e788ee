#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

// A sorted set of the model of a Redis server. A small one is a vector in its order. A large one is
// a hash table whose parts are shared by copies until they change: a snapshot of 16,384 registers
// costs little, and so does a change after it. Its order is found only when it is needed.
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

    // False if there is no such member.
    bool erase(std::string_view name);

    // Up to `count` members in their order, from number `first` on.
    std::vector<member> range(std::size_t first, std::size_t count) const;
    std::vector<member> all() const { return range(0, size_); }

    bool operator==(const sorted_set& other) const
    {
        return size_ == other.size_ && (shares_all(other) || all() == other.all());
    }

private:
    using group = std::vector<member>; // of a hash, in any order

    bool is_large() const noexcept { return !groups_.empty(); }
    bool shares_all(const sorted_set& other) const
    {
        return groups_ == other.groups_ && is_large();
    }
    void grow();
    const group& group_of(std::string_view name) const;
    group& own_group_of(std::string_view name);

    std::vector<member> small_; // in order
    std::vector<std::shared_ptr<group>> groups_;
    std::size_t size_ = 0;
};

} // namespace holdfast::test
