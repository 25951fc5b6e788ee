#include "holdfast/command.hpp"
#include "holdfast/inspect_command.hpp"
#include "holdfast/list.hpp"
#include "holdfast/ping.hpp"
#include "holdfast/release.hpp"
#include "holdfast/run.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/top.hpp"
#include "holdfast/usage.hpp"

#include <holdfast/version.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace cli = holdfast::cli;
using words = std::vector<std::string>;

// The words before "--" are for this program, the others are the command.
struct command_line {
    words own, program;
    bool divided = false;
};

command_line split(const words& all)
{
    const auto divider = std::find(all.begin(), all.end(), "--");
    command_line line{words(all.begin(), divider), {}, divider != all.end()};
    if (line.divided)
        line.program.assign(divider + 1, all.end());
    return line;
}

// An option on the command line takes precedence over its environment variable, and that over the
// configuration file.
void add_environment(words& own)
{
    constexpr std::array<std::pair<const char*, std::string_view>, 3> variables{
        {{"HOLDFAST_STORE", "--store"}, {"HOLDFAST_USER", "--user"},
            {"HOLDFAST_PASSWORD_FILE", "--password-file"}}};
    words found;
    for (const auto& [variable, option] : variables) {
        const char* const value = std::getenv(variable);
        const bool given = std::any_of(own.begin(), own.end(), [option = option](const auto& word) {
            return word == option || word.starts_with(std::string(option) + "=");
        });
        if (value != nullptr && *value != '\0' && !given)
            found.push_back(std::string(option) + "=" + value);
    }
    own.insert(own.begin(), found.begin(), found.end());
}

std::string usual_configuration()
{
    const char* const base = std::getenv("XDG_CONFIG_HOME");
    if (base != nullptr && *base != '\0')
        return std::string(base) + "/holdfast.toml";
    const char* const home = std::getenv("HOME");
    return home == nullptr ? std::string() : std::string(home) + "/.config/holdfast.toml";
}

void check(const command_line& line)
{
    for (const std::string& word : line.own) {
        if (cli::has_password(word))
            throw std::invalid_argument("a URL on the command line may not have a password, since "
                                        "all users can read it there: use HOLDFAST_PASSWORD, "
                                        "HOLDFAST_STORE, --password-file or the configuration "
                                        "file");
    }
}

void check_program(const cli::command& chosen, const command_line& line)
{
    if (chosen.takes_program() && line.program.empty())
        throw std::invalid_argument("there must be a command after \"--\"");
    if (!chosen.takes_program() && line.divided)
        throw std::invalid_argument("this command has no \"--\"");
}

class parser {
public:
    parser()
    {
        app_.name("holdfast");
        app_.description("Distributed locks for programs and scripts");
        app_.formatter(std::make_shared<cli::usage>("holdfast [OPTIONS] COMMAND ..."));
        app_.set_version_flag("--version", "holdfast " HOLDFAST_VERSION_STRING);
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.allow_config_extras(CLI::config_extras_mode::error);
        app_.set_config("--config", usual_configuration(),
                "configuration file (TOML); default ~/.config/holdfast.toml")
            ->type_name("FILE");
        app_.add_flag("--json", how_.json, "print results and messages as JSON, one object a line");
        auto* const quiet = app_.add_flag("-q,--quiet", how_.quiet, "print errors only");
        app_.add_flag("-v,--verbose", how_.verbose, "print details")->excludes(quiet);
        app_.footer(
            "Examples:\n"
            "  holdfast run --try nightly-backup -- /usr/local/bin/backup\n"
            "  holdfast inspect nightly-backup\n"
            "  holdfast ping --store redis://a.example,redis://b.example,redis://c.example\n\n"
            "For the options of a command see: holdfast COMMAND --help");
        cli::add_store_options(app_, stores_);
        commands_.push_back(std::make_unique<cli::run_command>());
        commands_.push_back(std::make_unique<cli::inspect_command>());
        commands_.push_back(std::make_unique<cli::list_command>());
        commands_.push_back(std::make_unique<cli::top_command>());
        commands_.push_back(std::make_unique<cli::release_command>());
        commands_.push_back(std::make_unique<cli::ping_command>());
        for (const auto& each : commands_)
            each->add_to(app_);
    }

    void parse(words own)
    {
        std::reverse(own.begin(), own.end()); // the parser takes them from the back
        app_.parse(std::move(own));
    }

    // The exit status of help and version, else that of a failure.
    int report(const CLI::ParseError& error) const
    {
        if (error.get_exit_code() == 0)
            return app_.exit(error);
        cli::console(how_).message(
            cli::console::level::error, "usage", in_words(error) + " (see: holdfast --help)");
        return cli::status::failed;
    }

    cli::command& chosen() const
    {
        return **std::find_if(
            commands_.begin(), commands_.end(), [](const auto& each) { return each->chosen(); });
    }
    cli::console::settings how() const noexcept { return how_; }
    const cli::store_settings& stores() const noexcept { return stores_; }

private:
    // The parser names a section by the name and ".++", calls every file an INI file, and does not
    // name a command that does not exist.
    std::string in_words(const CLI::ParseError& error) const
    {
        const std::string text = error.what();
        if (error.get_name() == "RequiredError" && app_.get_subcommands().empty()) {
            const words left = app_.remaining();
            return left.empty() ? "a command is missing" : "there is no command " + left.front();
        }
        constexpr std::string_view unknown = "INI was not able to parse ";
        if (!text.starts_with(unknown))
            return text;
        const std::string entry = text.substr(unknown.size());
        const auto section = entry.find(".++");
        return "the configuration file has an unknown " +
               (section == entry.npos ? "option: " + entry
                                      : "section: " + entry.substr(0, section));
    }

    CLI::App app_;
    cli::console::settings how_;
    cli::store_settings stores_;
    std::vector<std::unique_ptr<cli::command>> commands_;
};

// If a standard stream were closed, a connection could get its number, and messages would go there.
void open_standard_streams() noexcept
{
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(number, F_GETFD) == -1)
            ::open("/dev/null", O_RDWR); // gets the lowest free number, which is this one
    }
}

} // namespace

int main(int argc, char** argv)
{
    open_standard_streams();
    cli::console::settings how;
    try {
        parser options;
        command_line line = split(words(argv + 1, argv + argc));
        check(line);
        add_environment(line.own);
        try {
            options.parse(line.own);
        } catch (const CLI::ParseError& e) {
            return options.report(e);
        }
        how = options.how();
        check_program(options.chosen(), line);
        const cli::console out(how);
        return options.chosen().run({options.stores(), line.program, out});
    } catch (const std::exception& e) {
        cli::console(how).message(
            cli::console::level::error, "failed", cli::without_prefix(e.what()));
        return cli::status::failed;
    }
}
