#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper_store::wire {

// Writes the fields of a record in Jute, the serialization of ZooKeeper: big-endian numbers, and
// texts with their length before them.
class jute_writer {
public:
    void boolean(bool value) { out_ += value ? '\1' : '\0'; }
    void int32(std::int32_t value) { number(static_cast<std::uint32_t>(value), 4); }
    void int64(std::int64_t value) { number(static_cast<std::uint64_t>(value), 8); }
    void text(std::string_view value)
    {
        int32(static_cast<std::int32_t>(value.size()));
        out_ += value;
    }

    const std::string& encoded() const noexcept { return out_; }

private:
    void number(std::uint64_t value, unsigned bytes)
    {
        while (bytes-- != 0)
            out_ += static_cast<char>(value >> (8 * bytes) & 0xffu);
    }

    std::string out_;
};

// Reads the fields of a record in order. Refers to the bytes that it reads. Once something was
// malformed, it reads zeros and empty texts.
class jute_reader {
public:
    explicit jute_reader(std::string_view encoded) noexcept : rest_(encoded) {}

    bool boolean() noexcept { return number(1) != 0; }
    std::int32_t int32() noexcept { return static_cast<std::int32_t>(number(4)); }
    std::int64_t int64() noexcept { return static_cast<std::int64_t>(number(8)); }
    // A text or bytes. Length -1, which stands for none, is read as empty.
    std::string_view text() noexcept
    {
        const std::int32_t length = int32();
        if (length == -1)
            return {};
        return take(length < 0 ? rest_.size() + 1 : static_cast<std::size_t>(length));
    }
    // How many elements of a list follow, each of which has at least `least` bytes.
    std::size_t count(std::size_t least) noexcept
    {
        const std::int32_t n = int32();
        if (n == -1)
            return 0;
        if (n < 0 || static_cast<std::size_t>(n) > rest_.size() / least) {
            good_ = false;
            return 0;
        }
        return static_cast<std::size_t>(n);
    }

    // False once something malformed was found.
    bool good() const noexcept { return good_; }
    bool at_end() const noexcept { return rest_.empty(); }

private:
    std::string_view take(std::size_t size) noexcept
    {
        if (!good_ || size > rest_.size()) {
            good_ = false;
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::uint64_t number(std::size_t bytes) noexcept
    {
        std::uint64_t value = 0;
        for (const char c : take(bytes))
            value = value << 8u | static_cast<unsigned char>(c);
        return value;
    }

    std::string_view rest_;
    bool good_ = true;
};

// A record with its length before it, as it is sent.
inline std::string framed(std::string_view record)
{
    jute_writer out;
    out.text(record);
    return out.encoded();
}

// Takes records out of a stream of bytes.
class frame_reader {
public:
    // Longer records break the stream.
    explicit frame_reader(std::size_t longest) noexcept : longest_(longest) {}

    void append(std::string_view bytes)
    {
        if (begin_ != 0 && begin_ * 2 >= bytes_.size()) {
            bytes_.erase(0, begin_);
            begin_ = 0;
        }
        bytes_ += bytes;
    }
    // The next record, valid until append(); none if it has not arrived as a whole.
    std::optional<std::string_view> next() noexcept
    {
        const std::string_view rest = std::string_view(bytes_).substr(begin_);
        if (broken_ || rest.size() < 4)
            return std::nullopt;
        const std::int32_t length = jute_reader(rest.substr(0, 4)).int32();
        if (length < 0 || static_cast<std::size_t>(length) > longest_) {
            broken_ = true;
            return std::nullopt;
        }
        const auto size = static_cast<std::size_t>(length);
        if (rest.size() - 4 < size)
            return std::nullopt;
        begin_ += 4 + size;
        return rest.substr(4, size);
    }
    // A length was negative or too large.
    bool is_broken() const noexcept { return broken_; }
    void clear() noexcept
    {
        bytes_.clear();
        begin_ = 0;
        broken_ = false;
    }

private:
    const std::size_t longest_;
    std::string bytes_;
    std::size_t begin_ = 0; // what is before was taken
    bool broken_ = false;
};

} // namespace holdfast::zookeeper_store::wire
