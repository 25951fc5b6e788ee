#pragma once

#include "support/redis_model_call.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace holdfast::test {

struct redis_model::script {
    std::string text, digest;
    std::size_t index; // in the order in which they were learned
    int function;      // the compiled text, in Lua's registry
};

// The Lua interpreter of the modelled servers of a thread: runs the text of scripts. A script
// cannot make global variables, so the servers can share it. The rules by which values become
// arguments of commands and replies are those of Redis.
class redis_model::interpreter {
public:
    static interpreter& of_this_thread();

    interpreter(const interpreter&) = delete;
    interpreter& operator=(const interpreter&) = delete;

    // Null if the script is unknown. A digest may be in upper case.
    const script* with_text(std::string_view text) const;
    const script* with_digest(std::string_view digest) const;

    // `shorter`: a text that does the same in less time. Throws std::invalid_argument if the text
    // does not compile.
    void learn(std::string_view text, std::string_view digest, std::string_view shorter = {});

    // Runs a script for the caller, which executes its commands and gets its reply. Rethrows what
    // a command has thrown.
    void run(const script& s, call& caller, arguments keys, arguments values);

private:
    interpreter();

    static interpreter& of(lua_State* state);
    static int on_call(lua_State* state);
    static int on_pcall(lua_State* state);
    static int on_error(lua_State* state);
    static int on_unknown_global(lua_State* state);
    static int on_new_global(lua_State* state);

    void open_libraries();
    void learn_known();
    void set_global(const char* name, arguments words);
    bool perform(lua_State* state);
    bool take_words(lua_State* state);
    void answer(call& caller);
    void answer_table(call& caller);
    void answer_failure(const script& s, call& caller);

    std::unique_ptr<lua_State, void (*)(lua_State*)> state_;
    std::deque<script> scripts_;
    // Of the script that is being run.
    call* caller_ = nullptr;
    arguments keys_;
    session client_; // of its commands; the caller's may have another protocol and database
    int line_ = 0;   // on which it failed
    std::exception_ptr thrown_;
    // Of the command that is being executed. Members, so that their memory is reused.
    std::vector<std::string_view> words_;
    std::vector<char> digits_; // of the words that are numbers
    std::string reply_;
};

} // namespace holdfast::test
