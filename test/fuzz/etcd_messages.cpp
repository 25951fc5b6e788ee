// The reader of etcd's messages: no bytes do harm, and what is read was there.
#include "etcd/wire/messages.hpp"

#include "fuzz/checks.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace holdfast::fuzz;
namespace wire = holdfast::etcd_store::wire;

void check_answer(const wire::answer& a, std::string_view bytes)
{
    std::size_t size = 0;
    for (const wire::listed_key& each : a.keys)
        size += each.name.size() + 1; // a key takes at least a byte
    check(size <= bytes.size() + 1, "no more keys than bytes");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const auto list = wire::read_list(bytes))
        check_answer(list->found, bytes);
    if (const auto removal = wire::read_removal(bytes))
        check(removal->found.keys.empty(), "a removal has no keys");
    if (const auto txn = wire::read_txn(bytes)) {
        check(txn->answers.size() <= bytes.size(), "no more answers than bytes");
        for (const wire::answer& each : txn->answers)
            check_answer(each, bytes);
    }
    if (const auto watch = wire::read_watch(bytes)) {
        check(watch->deletions.size() <= bytes.size(), "no more deletions than bytes");
        check(watch->reason.size() <= bytes.size(), "no longer reason than the bytes");
    }
    if (const auto token = wire::read_auth_token(bytes))
        check(!token->empty() && token->size() <= bytes.size(), "a token that was there");
    (void)wire::read_lease(bytes);
    return 0;
}
