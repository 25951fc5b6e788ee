#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::etcd_store::wire {

// Writes the fields of a protobuf message: numbers, texts and messages, which is all that etcd's
// requests have.
class proto_writer {
public:
    // Left out if it is 0, the default of each field.
    void number(std::uint32_t field, std::uint64_t value)
    {
        if (value != 0)
            explicit_number(field, value);
    }
    // Also if it is 0, for fields that are one of several.
    void explicit_number(std::uint32_t field, std::uint64_t value)
    {
        varint(std::uint64_t(field) << 3u);
        varint(value);
    }
    // Left out if it is empty.
    void text(std::uint32_t field, std::string_view value)
    {
        if (!value.empty())
            message(field, value);
    }
    void message(std::uint32_t field, std::string_view encoded)
    {
        varint(std::uint64_t(field) << 3u | 2u);
        varint(encoded.size());
        out_ += encoded;
    }

    const std::string& encoded() const noexcept { return out_; }

private:
    void varint(std::uint64_t value)
    {
        for (; value > 0x7f; value >>= 7u)
            out_ += static_cast<char>((value & 0x7fu) | 0x80u);
        out_ += static_cast<char>(value);
    }

    std::string out_;
};

// Reads the fields of a protobuf message in order. Refers to the bytes that it reads.
class proto_reader {
public:
    explicit proto_reader(std::string_view encoded) noexcept : rest_(encoded) {}

    // Goes to the next field. False at the end, and if the bytes are no message.
    bool next() noexcept;
    std::uint32_t field() const noexcept { return field_; }

    // The value of the field. The message is malformed if the value has another type.
    std::uint64_t number() noexcept;
    std::int64_t integer() noexcept { return static_cast<std::int64_t>(number()); }
    std::string_view bytes() noexcept;

    // False once something malformed was found.
    bool good() const noexcept { return good_; }

private:
    enum class kind : std::uint8_t { number = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

    bool fail() noexcept
    {
        good_ = false;
        return false;
    }
    bool varint(std::uint64_t& value) noexcept;
    bool take(std::uint64_t size) noexcept;

    std::string_view rest_, bytes_;
    std::uint64_t number_ = 0;
    std::uint32_t field_ = 0;
    kind kind_ = kind::number;
    bool good_ = true;
};

} // namespace holdfast::etcd_store::wire
