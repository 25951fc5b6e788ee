#pragma once

#include <holdfast/error.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace holdfast::test {

inline error_code code_of(error_code ec)
{
    return ec;
}

inline error_code code_of(const std::exception_ptr& error)
{
    if (!error)
        return {};
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
        return e.code();
    }
}

/// One asynchronous operation, started with a plain callback that can be cancelled, and its
/// results. `Results` are those of the signature, after the error.
template <class... Results>
class call {
public:
    /// The completion token. It keeps alive only what it needs.
    auto token()
    {
        return asio::bind_cancellation_slot(
            signal_.slot(), [seen = seen_](auto error, Results... results) {
                ++seen->completions;
                seen->error = code_of(error);
                seen->results.reset(new std::tuple<Results...>(std::move(results)...));
            });
    }

    void cancel(asio::cancellation_type type = asio::cancellation_type::terminal)
    {
        signal_.emit(type);
    }

    int completions() const { return seen_->completions; }
    bool done() const { return completions() > 0; }
    error_code error() const { return seen_->error; }

    template <class Result>
    Result& result()
    {
        return std::get<Result>(*seen_->results);
    }

private:
    struct record {
        int completions = 0;
        error_code error;
        std::unique_ptr<std::tuple<Results...>> results;
    };
    std::shared_ptr<record> seen_ = std::make_shared<record>();
    asio::cancellation_signal signal_;
};

} // namespace holdfast::test
