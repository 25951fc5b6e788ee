#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The messages of ZooKeeper's protocol that a store of locks needs, both ways: a client writes
// requests and reads replies, a model of the server does the opposite. All are records without
// their length: see framed(). What follows the known fields of a record is skipped.
namespace holdfast::zookeeper_store::wire {

// The longest record that is read. A list of children has about 60 bytes for each.
inline constexpr std::size_t longest_record = std::size_t(16) * 1024 * 1024;

enum class operation : std::int32_t {
    create = 1,
    remove = 2,
    exists = 3,
    get_data = 4,
    set_data = 5,
    get_children = 8,
    sync = 9,
    ping = 11,
    get_children2 = 12, // with the stat of the parent
    create2 = 15,       // with the stat of the new node
    create_container = 19,
    authenticate = 100,
    close_session = -11,
};

// How a node is created.
enum class node_mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    ephemeral_sequential = 3,
    container = 4, // the server removes it when it has been empty for a while
};

// Numbers of requests with a meaning. Others are those of requests with a reply each.
namespace number {
inline constexpr std::int32_t watch_event = -1, ping = -2, authentication = -4;
} // namespace number

// Codes in replies; others exist.
namespace code {
inline constexpr std::int32_t ok = 0, marshalling_error = -5, unimplemented = -6,
                              operation_timeout = -7, bad_arguments = -8, no_node = -101,
                              no_auth = -102, node_exists = -110, not_empty = -111,
                              session_expired = -112, invalid_acl = -114, auth_failed = -115,
                              session_moved = -118, not_read_only = -119, quota_exceeded = -125,
                              throttled = -127;
} // namespace code

// What a watch tells.
namespace change {
inline constexpr std::int32_t none = -1, created = 1, deleted = 2, data = 3, children = 4;
} // namespace change

struct access {
    std::int32_t permissions = 0;
    std::string scheme, id;

    friend bool operator==(const access&, const access&) = default;
};

struct connect_request {
    std::int64_t last_zxid = 0; // the newest that the client has seen
    std::int32_t timeout_ms = 0;
    std::int64_t session = 0; // 0: a new one
    std::string password{};   // of the session
    bool read_only = false;
};

struct connect_reply {
    std::int32_t timeout_ms = 0; // not positive: the session has expired
    std::int64_t session = 0;
    std::string password{};
    bool read_only = false;
};

// Any other request. Each operation has some of the fields.
struct request {
    std::int32_t number = 0;
    operation what{};
    std::string path{};
    std::string data{};           // of create, create2, create_container, set_data
    std::vector<access> rights{}; // of create, create2, create_container
    node_mode mode{};             // the same
    std::int32_t version = -1;    // of remove, set_data; -1: any
    bool watch = false;           // of exists, get_data, get_children, get_children2
    std::string scheme{};         // of authenticate, whose data is the login
};

struct node_stat {
    std::int64_t created = 0, modified = 0;       // the transactions
    std::int64_t created_ms = 0, modified_ms = 0; // since the epoch
    std::int32_t version = 0, children_version = 0, acl_version = 0;
    std::int64_t owner = 0; // the session of an ephemeral node; 0 of others
    std::int32_t data_length = 0, children = 0;
    std::int64_t children_modified = 0; // the transaction

    friend bool operator==(const node_stat&, const node_stat&) = default;
};

struct reply_header {
    std::int32_t number = 0;
    std::int64_t zxid = 0; // the newest transaction that the server had seen
    std::int32_t error = code::ok;
};

// What follows the header if there is no error. Each operation has some of the fields.
struct reply_body {
    std::string path{};                  // of create, create2, create_container, sync
    node_stat stat{};                    // of all that read or create, but create and get_children
    std::string data{};                  // of get_data
    std::vector<std::string> children{}; // of get_children, get_children2
};

struct watch_event {
    std::int32_t change = 0, state = 0;
    std::string path{};
};

std::string encode(const connect_request& r);
std::string encode(const connect_reply& r);
std::string encode(const request& r);
std::string encode(const reply_header& header);
std::string encode(const reply_header& header, operation what, const reply_body& body);
std::string encode(const watch_event& event); // with its header

// None if the bytes are no such message.
std::optional<connect_request> read_connect_request(std::string_view record);
std::optional<connect_reply> read_connect_reply(std::string_view record);
std::optional<request> read_request(std::string_view record);
// Of replies and events.
std::optional<reply_header> read_header(std::string_view record);
// Precondition: the header was read, and has no error.
std::optional<reply_body> read_body(operation what, std::string_view record);
std::optional<watch_event> read_event(std::string_view record);

} // namespace holdfast::zookeeper_store::wire
