#pragma once

#include "redis/node/handshake.hpp"
#include "resp/reader.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"
#include "unit/redis/blob.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test::greeting {

using namespace redis;
using test::blob;

inline const std::string ok = "+OK\r\n", wrong = "-ERR unknown subcommand\r\n";
inline const std::string hello = "%2\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n";
inline const std::string hello_unknown = "-ERR unknown command 'HELLO'\r\n";

inline const std::string memory =
    blob("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
inline const std::string info =
    blob("# Server\r\nredis_mode:standalone\r\nrun_id:abc\r\n") + memory;
inline const std::string scripts =
    blob(release_script.digest) + blob(renew_script.digest) + blob(pass_on_script.digest);

// A greeting, and the replies of a node to it.
struct scripted_greeting {
    node_settings settings{};
    handshake h{};
    std::string out{};
    handshake::outcome result = handshake::outcome::going_on;

    // Delivers the replies one after the other until the handshake ends; true if all were needed.
    bool run(const std::string& replies)
    {
        h.start(settings, out);
        resp::reader reader;
        reader.feed(replies);
        while (reader.next() == resp::reader::status::reply) {
            if (result != handshake::outcome::going_on)
                return false;
            result = h.on_reply(reader.reply(), start, out);
        }
        return true;
    }

    // What was sent: one command a line, arguments separated by spaces.
    std::string sent()
    {
        resp::reader reader;
        reader.feed(out);
        std::string all;
        while (reader.next() == resp::reader::status::reply) {
            for (const resp::value& v : reader.reply().subspan(1))
                all += std::string(v.text) + " ";
            all.back() = '\n';
        }
        return all;
    }

    // Expects a failure.
    void refuses(errc code, const std::string& replies)
    {
        run(replies);
        BOOST_TEST((result == handshake::outcome::failed));
        BOOST_TEST((h.why().code == code), h.why().text);
        BOOST_TEST(!h.why().text.empty());
        BOOST_TEST(h.why().text.find("s3cret") == std::string::npos, h.why().text);
    }
};

} // namespace holdfast::test::greeting
