#include "etcd/wire/protobuf.hpp"

namespace holdfast::etcd_store::wire {

bool proto_reader::next() noexcept
{
    if (!good_ || rest_.empty())
        return false;
    std::uint64_t tag = 0;
    if (!varint(tag))
        return fail();
    if (tag >> 3u == 0 || tag >> 3u > 0x1fffffffu) // the range of field numbers
        return fail();
    field_ = static_cast<std::uint32_t>(tag >> 3u);
    kind_ = static_cast<kind>(tag & 7u);
    bytes_ = {};
    number_ = 0;
    switch (kind_) {
    case kind::number:
        return varint(number_) || fail();
    case kind::fixed64:
        return take(8);
    case kind::bytes: {
        std::uint64_t size = 0;
        return (varint(size) && take(size)) || fail();
    }
    case kind::fixed32:
        return take(4);
    }
    return fail(); // a group, which proto3 does not have
}

std::uint64_t proto_reader::number() noexcept
{
    if (kind_ != kind::number)
        fail();
    return number_;
}

std::string_view proto_reader::bytes() noexcept
{
    if (kind_ != kind::bytes)
        fail();
    return bytes_;
}

bool proto_reader::varint(std::uint64_t& value) noexcept
{
    constexpr unsigned longest = 10; // bytes, for 64 bits
    value = 0;
    for (unsigned i = 0; i < longest && i < rest_.size(); ++i) {
        const auto byte = static_cast<unsigned char>(rest_[i]);
        if (i + 1 == longest && byte > 1)
            return false; // more than 64 bits
        value |= static_cast<std::uint64_t>(byte & 0x7fu) << (7 * i);
        if (byte < 0x80) {
            rest_.remove_prefix(i + 1);
            return true;
        }
    }
    return false;
}

bool proto_reader::take(std::uint64_t size) noexcept
{
    if (size > rest_.size())
        return fail();
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
}

} // namespace holdfast::etcd_store::wire
