#include "io/operation_table.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::io;
using holdfast::core::slot_id;

namespace {

struct finished_operation final : operation {
    using operation::operation;
    asio::cancellation_slot slot() const noexcept override { return {}; }
    void set_error(holdfast::error_code) override {}
    bool has_failed() const noexcept override { return false; }
    void deliver(std::unique_ptr<operation>) override {}
};

struct table_fixture {
    operation_table table;

    void finish(operation_kind kind, slot_id subject, holdfast::error_code error = {})
    {
        const slot_id id = table.add(std::make_unique<finished_operation>(kind, subject));
        table.finish(*table.find(id), error);
    }
    void refuse(slot_id subject)
    {
        finish(operation_kind::acquire, subject, make_error_code(holdfast::errc::overloaded));
    }
    std::string deliver_all()
    {
        std::string subjects;
        while (table.has_finished())
            subjects +=
                (subjects.empty() ? "" : " ") + std::to_string(table.next_finished()->about);
        return subjects;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_operation_table, table_fixture)

BOOST_AUTO_TEST_CASE(finished_operations_are_delivered_in_their_order)
{
    for (slot_id each = 1; each <= 3; ++each)
        finish(operation_kind::release, each);
    BOOST_TEST(deliver_all() == "1 2 3");
    for (slot_id each = 1; each <= 3; ++each)
        refuse(each);
    BOOST_TEST(deliver_all() == "1 2 3");
}

BOOST_AUTO_TEST_CASE(a_granted_acquire_does_not_wait_behind_refused_ones)
{
    for (slot_id each = 1; each <= 4; ++each)
        refuse(each);
    finish(operation_kind::acquire, 10);
    finish(operation_kind::release, 11);
    BOOST_TEST(deliver_all() == "10 1 11 2 3 4");
}

BOOST_AUTO_TEST_CASE(refused_acquires_do_not_wait_behind_all_others)
{
    for (slot_id each = 1; each <= 4; ++each)
        finish(operation_kind::release, each);
    refuse(10);
    refuse(11);
    BOOST_TEST(deliver_all() == "1 10 2 11 3 4");
}

BOOST_AUTO_TEST_CASE(drains_and_closes_come_after_what_had_finished)
{
    refuse(1);
    finish(operation_kind::release, 2);
    finish(operation_kind::drain, 6);
    refuse(3);
    finish(operation_kind::close, 7);
    BOOST_TEST(deliver_all() == "2 1 6 3 7");
}

// A caller that tries again at once finishes an acquire whenever one is delivered.
BOOST_AUTO_TEST_CASE(refused_acquires_do_not_keep_back_a_drain_or_a_close)
{
    refuse(1);
    finish(operation_kind::drain, 6);
    finish(operation_kind::close, 7);
    refuse(2);
    refuse(3);
    BOOST_TEST(deliver_all() == "1 6 7 2 3");
}

BOOST_AUTO_TEST_SUITE_END()
