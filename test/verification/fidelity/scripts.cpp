// How Lua and Redis convert values, and how scripts fail: the model runs small scripts like a real
// server.
#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using words = twins::words;

struct scripts_fixture {
    twins both;
    random_commands random{1};
    std::string reply; // the last one of both servers

    scripts_fixture()
    {
        both.on_reply = [this](const words&, const std::string& said) {
            reply = said;
        };
        say({{"HELLO", "3"}}, 1);
    }

    void say(const std::vector<words>& commands, std::size_t connection = 0)
    {
        both.say(both.connected(connection), commands, random);
    }

    // Runs the script with two keys and two arguments, on connections of both protocols. Both
    // servers have the same data each time.
    void run(const std::string& script)
    {
        const std::string digest = both.real_only({"SCRIPT", "LOAD", script});
        redis_model::learn_script(script, digest);
        for (const std::size_t connection : {0u, 1u}) {
            say({{"FLUSHALL"}, {"SET", "a", "x"}, {"LPUSH", "list", "y"},
                    {"ZADD", "q", "1", "one", "2.5", "two"}},
                connection);
            say({{"EVAL", script, "2", "a", "list", "first", "2"}}, connection);
            const std::string by_text = reply;
            say({{"SCRIPT", "LOAD", script}, {"SCRIPT", "EXISTS", digest}, {"EVALSHA", digest, "0"},
                    {"GET", "a"}, {"TYPE", "a"}},
                connection);
            reply = by_text;
        }
    }

    void run(const std::vector<std::string>& scripts)
    {
        for (const std::string& script : scripts) {
            BOOST_TEST_CONTEXT(script)
            {
                run(script);
            }
        }
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scripts, scripts_fixture)

BOOST_AUTO_TEST_CASE(values_become_replies)
{
    run({"return 3.99", "return -3.99", "return 2^53", "return -2^62", "return true",
        "return false", "return nil", "return", "local x = 1", "return ''", "return 'a\\r\\n\\0b'",
        "return {}", "return {1,2,nil,4}", "return {nil,2}", "return {1.5,'a',{true,false,{}}}",
        "return {false,nil,1}", "return {one=1}", "return {ok='FINE'}", "return {ok='a\\r\\nb'}",
        "return {err='MINE failed'}", "return {err='a\\r\\nb'}", "return {err='X',ok='Y'}",
        "return {ok=7}", "return {err=7}", "return string.sub", "return {string.sub,1}"});
}

BOOST_AUTO_TEST_CASE(keys_and_arguments_are_tables_of_strings)
{
    run({"return {KEYS[1],KEYS[2],ARGV[1],#KEYS,#ARGV}",
        "KEYS[3]='left' ARGV[1]=1 ARGV[9]=1 return {#KEYS,ARGV[1]}",
        "return {#KEYS,#ARGV,KEYS[3] or 'none',ARGV[1] or 'none',ARGV[9] or 'none'}",
        "return ARGV[2]+1", "return {type(ARGV[2]),type(KEYS[1])}"});
}

BOOST_AUTO_TEST_CASE(numbers_become_words_with_17_digits)
{
    for (const std::string number :
        {"1.5", "10/3", "0.1", "2^53", "2^53+2", "2^63", "-2^63", "999999999999999", "1e15",
            "-1e15", "1e16", "1e100", "-0", "0*-1", "1/0", "-1/0", "1e-7", "12345678.25", "-7"})
        run({"redis.call('set',KEYS[1] or 'a'," + number + ") return redis.call('get','a')",
            "return tostring(" + number + ")..' '..string.format('%.0f '," + number + ")",
            "return " + std::string(number == "1/0" || number == "2^63" ? "1" : number)});
}

BOOST_AUTO_TEST_CASE(replies_become_values)
{
    run({"return redis.call('get','none')", "return redis.call('get','none')==false",
        "return {redis.call('get','none'),1}", "return type(redis.call('get','a'))",
        "return redis.call('set','a','y')", "return redis.call('set','a','y').ok",
        "return redis.call('set','a','y','nx')", "return redis.call('exists','a','list')",
        "return type(redis.call('exists','a'))", "return redis.call('mget','a','none','list')",
        "return redis.call('zrange','q',0,-1,'withscores')",
        "return redis.call('zscore','q','two')+1", "return redis.call('zscore','q','none')",
        "return redis.call('zadd','q','xx','gt','ch',3,'one',1,'two',5,'three')",
        "local a={} for i=1,500 do a[#a+1]=i*1.5 a[#a+1]=i end "
        "redis.call('zadd','q','gt',unpack(a)) return redis.call('zrange','q',-9,-1,'withscores')",
        "return {redis.call('zcard','q'),redis.call('zcard','none')}",
        "return redis.call('zpopmin','q')", "return redis.call('zpopmin','none')[1]",
        "return #redis.call('time')", "return redis.call('ping')", "return redis.call('type','q')",
        "return redis.call('pttl','a')", "return redis.call('SET','a','b','PX','100')",
        "redis.call('select','3') redis.call('set','a','there') return redis.call('get','a')",
        "return coroutine.wrap(function() return redis.call('get','a') end)()"});
}

BOOST_AUTO_TEST_CASE(failed_commands_end_a_script_or_are_returned)
{
    for (const std::string command : {"'lpush','a','y'", "'get','list'", "'get'", "'nothing','a'",
             "", "{}", "'get',nil", "'get',true", "nil", "'expire','a','x'",
             "'set','a','b','px','0'", "'client','id'", "'client'", "'eval','return 1','0'",
             "'evalsha','x','0'", "'script','flush'", "'subscribe','one'", "'unsubscribe'",
             "'role'", "'hello','3'", "'auth','x'", "'select','99'", "'zadd','q','x','y'",
             "'zadd','q','xx','nx',1,'y'", "'zadd','list','gt',1,'y'", "'zcard','list'"})
        run({"return redis.call(" + command + ")", "return redis.pcall(" + command + ")",
            "local r=redis.pcall(" + command + ")\nreturn type(r)=='table' and r.err or r",
            "redis.call('set','a','z')\n\nlocal r = redis.call(" + command + ")\nreturn 1"});
}

BOOST_AUTO_TEST_CASE(errors_of_lua_name_the_line)
{
    run({"return nil+1", "\n\nreturn nil..'x'", "error('mine')", "error('two\\r\\nlines')",
        "error('no place',0)", "error({err='MINE x'})", "error({err=7})", "error(7)",
        "local function f()\n  error('deep')\nend\n\nf()", "return string.sub(nil,1,2)",
        "return 1\n  + string.sub()", "return y", "\nx = 1", "x = 1 return x",
        "local t = {}\nt.a.b = 1", "return 1 < 'x'", "return KEYS[1] < 1", "return #nil",
        "local function f() return f() + 1 end return f()"});
    BOOST_TEST(reply.starts_with("-ERR user_script:1: stack overflow"));
}

BOOST_AUTO_TEST_CASE(a_text_that_does_not_compile_cannot_be_learned)
{
    BOOST_CHECK_THROW(redis_model::learn_script("return return", ""), std::invalid_argument);
    run(std::string("return 'as before'"));
}

BOOST_AUTO_TEST_SUITE_END()
