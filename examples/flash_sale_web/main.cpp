// The flash sale as a web service, for a browser: several server processes on Boost.Beast sell a
// stock in PostgreSQL, under fenced locks on Redis servers, while a visitor breaks them by buttons.
// See --help and docs/flash_sale.md.
//
// controller.cpp       starts and ends everything
// page_server.cpp      the page (index.html), its figures and its buttons
// figures.cpp          what the page shows
// buttons.cpp          what the page can do
// sale.cpp             rounds of the sale
// comparison.cpp       the strategies side by side
// statistics.cpp       counting, without I/O
// shop.cpp, server.cpp a server of the shop: the strategies, HTTP
// load.cpp             the buyers
// order_book.cpp       the stock and the orders in PostgreSQL

#include "controller.hpp"
#include "load.hpp"
#include "server.hpp"
#include "settings.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace {

int run(int argc, char** argv)
{
    flash_sale_web::settings wanted;
    CLI::App app(
        "A flash sale for a browser: stock in PostgreSQL, locks on Redis, faults by button");
    const auto option = [&app](const std::string& name, auto& value, const std::string& text) {
        return app.add_option("--" + name, value, text)->capture_default_str();
    };
    option("port", wanted.port, "port of the page on 127.0.0.1; 0: any free port");
    option("servers", wanted.servers, "server processes of the shop")->check(CLI::Range(2, 16));
    option("nodes", wanted.nodes, "Redis servers that store the locks")
        ->check(CLI::IsMember({3, 5, 7}));
    option("buyers", wanted.buyers, "orders under way at once")->check(CLI::Range(1, 1'000));
    option("rate", wanted.rate, "orders a second; 0: each buyer orders again when answered")
        ->check(CLI::Range(0, 100'000));
    option("stock", wanted.stock, "items of one round")->check(CLI::Range(1, 1'000'000));
    option("think-us", wanted.think_us, "microseconds between reading the stock and writing it")
        ->check(CLI::Range(0, 1'000'000));
    option("seconds", wanted.seconds, "seconds for each strategy that is compared")
        ->check(CLI::Range(1, 60));
    app.add_flag(
        "--strategies", wanted.only_strategies, "compare the strategies, print the table, and end");

    // How the parent starts the other processes.
    std::string given;
    CLI::App* const server = app.add_subcommand("server", "")->group("");
    server->add_option("settings", given)->required();
    CLI::App* const load = app.add_subcommand("load", "")->group("");
    load->add_option("settings", given)->required();

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e);
    }
    if (*server)
        return flash_sale_web::run_server(given);
    if (*load)
        return flash_sale_web::run_load(given);
    return flash_sale_web::run_controller(wanted);
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "flash_sale_web: " << e.what() << '\n';
        return 1;
    }
}
