#include "verification/model/story.hpp"

#include <array>
#include <iomanip>

namespace holdfast::model {

namespace {

using kind = step_kind;

std::string name_of(attempt a)
{
    return std::string(1, "ab"[client_of(a)]) + std::to_string(index_of(a) + 1);
}

std::string node_name(std::size_t i)
{
    return "n" + std::to_string(i + 1);
}

std::string block_of(number token)
{
    return std::to_string(token) + "-" + std::to_string(token + block - 1);
}

// The effects of an answer on a client.
std::string consequences(attempt a, const world& before, const world& after, const protocol& p)
{
    const client& was = before.who[client_of(a)];
    const client& is = after.who[client_of(a)];
    std::string written_back;
    for (std::size_t i = 0; i < p.size().nodes; ++i) {
        if ((after.nodes[i].raises & ~before.nodes[i].raises & bit_of(a)) != 0)
            written_back += " " + node_name(i);
    }
    std::string text;
    if (!written_back.empty())
        text += ", sends WRITE-BACK to" + written_back;
    if (was.now == phase::asking && is.now == phase::held)
        text += ", is granted the lease with tokens " + block_of(is.tokens[is.index]);
    return text;
}

bool was_raised(const step& s, const world& after, const protocol& p)
{
    const client& c = after.who[client_of(s.who)];
    return !after.is_present(s.who) || p.rounds().counts(c.round, s.node);
}

std::string granting(const step& s, const world& before, const world& after, const protocol& p)
{
    const node& n = before.nodes[s.node];
    const node& m = after.nodes[s.node];
    std::string text = node_name(s.node) + " executes GRANT of " + name_of(s.who);
    if (n.lock != 0)
        return text + ": refused, " + name_of(static_cast<attempt>(n.lock - 1)) +
               " has the key, counter " + std::to_string(n.counter) +
               consequences(s.who, before, after, p);
    number start = m.talks[client_of(s.who)].unread;
    if (start == 0)
        return text + ": granted, counter " + std::to_string(m.counter);
    return text + ": start " + std::to_string(start) + ", counter " + std::to_string(m.counter);
}

std::string names_of(unsigned violated)
{
    constexpr std::array<const char*, 4> names{
        "duplicate token", "order of tokens", "stale write", "two holders"};
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if ((violated & bit_of(i)) != 0)
            text += (text.empty() ? "" : ", ") + std::string(names[i]);
    }
    return text;
}

} // namespace

std::string describe_beginning(const world& w, const protocol& p)
{
    std::string text = "counters:";
    for (std::size_t i = 0; i < p.size().nodes; ++i)
        text += " " + node_name(i) + " " + std::to_string(w.nodes[i].counter);
    return text;
}

std::string describe(const step& s, const world& before, const world& after, const protocol& p)
{
    const std::string node = node_name(s.node), name = name_of(s.who);
    const std::string counter = std::to_string(after.nodes[s.node].counter);
    const std::string then = consequences(s.who, before, after, p);
    switch (s.kind) {
    case kind::begin:
        return name + " sends GRANT to all nodes" +
               (s.flag ? ", with floor " + std::to_string(p.size().floor) : std::string());
    case kind::give_up:
        return name + " gives up, sends DEL";
    case kind::release:
        return name + " releases, sends DEL";
    case kind::read:
        return name + " reads that " + node + " grants from " +
               std::to_string(before.nodes[s.node].talks[client_of(s.who)].unread) + then;
    case kind::use:
        return name + " reads counter " + counter + " of " + node + " and writes with it";
    case kind::grant:
        return granting(s, before, after, p);
    case kind::write_back:
        return node + " executes WRITE-BACK of " + name + ": counter " + counter +
               (was_raised(s, after, p) ? "" : ", lost") + then;
    case kind::extend:
        return node + " executes EXTEND of " + name + ": counter " + counter;
    case kind::remove:
        return node + " executes DEL of " + name;
    case kind::stray:
        return node + " executes an old GRANT: counter " + counter + ", and its key expires";
    case kind::expire:
        return "the key of " + name + " expires at " + node;
    case kind::forget:
        return node + " loses its data";
    }
    return {};
}

void print(std::ostream& out, const finding& f, std::chrono::duration<double> took)
{
    for (std::size_t i = 0; i < f.story.size(); ++i)
        out << std::setw(3) << i << "  " << f.story[i] << '\n';
    if (f.violated != none)
        out << "violated: " << names_of(f.violated) << '\n';
    else
        out << "no violation" << (f.complete ? "" : " in the explored part") << '\n';
    out << f.states << " states, " << f.transitions << " transitions, depth " << f.depth << "; "
        << f.rounds << " different rounds; " << std::fixed << std::setprecision(1) << took.count()
        << " s, " << f.bytes / 1'000'000 << " MB\n";
}

void print_row(std::ostream& out, const finding& f, std::chrono::duration<double> took)
{
    const std::string result = f.violated != none ? names_of(f.violated)
                               : f.complete       ? "no violation"
                                                  : "not complete";
    out << result << '\t';
    if (f.violated != none)
        out << f.story.size() - 1;
    else
        out << '-';
    out << '\t' << f.states << '\t' << std::fixed << std::setprecision(1) << took.count() << '\n';
}

} // namespace holdfast::model
