#include "support/zookeeper_log.hpp"

#include "zookeeper/wire/jute.hpp"

#include <filesystem>
#include <fstream>

namespace holdfast::test {

using zookeeper_store::wire::jute_writer;

namespace {

// The check sum of the server's log of transactions.
std::int64_t adler32(const std::string& bytes)
{
    std::uint32_t a = 1, b = 0;
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    return static_cast<std::int64_t>(b << 16 | a);
}

// A transaction in that log: a node was created, and its parent had so many before.
std::string creation(std::int64_t zxid, const std::string& path, std::int32_t creations)
{
    jute_writer all;
    all.int64(0); // the session
    all.int32(0);
    all.int64(zxid);
    all.int64(1'700'000'000'000);
    all.int32(1); // creates a node
    all.text(path);
    all.text("");
    all.int32(1); // everybody may do everything
    all.int32(31);
    all.text("world");
    all.text("anyone");
    all.boolean(false);
    all.int32(creations);
    jute_writer entry;
    entry.int64(adler32(all.encoded()));
    entry.text(all.encoded());
    return entry.encoded() + 'B';
}

} // namespace

void write_zookeeper_log(
    const std::string& folder, const std::map<std::string, std::int32_t>& nodes)
{
    std::filesystem::create_directories(folder + "/version-2");
    jute_writer head;
    head.int32(0x5a4b4c47);
    head.int32(2);
    head.int64(0);
    std::string all = head.encoded();
    std::int64_t zxid = 0;
    for (const auto& [path, creations] : nodes) {
        ++zxid;
        all += creation(zxid, path, static_cast<std::int32_t>(zxid));
        all += creation(++zxid, path + "/old", creations);
    }
    std::ofstream(folder + "/version-2/log.1", std::ios::binary) << all << std::string(64, '\0');
}

} // namespace holdfast::test
