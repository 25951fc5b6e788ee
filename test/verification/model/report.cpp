#include "verification/model/report.hpp"

#include <iomanip>

namespace holdfast::model {

void print(std::ostream& out, const finding& f, const std::string& violated,
    std::chrono::duration<double> took)
{
    for (std::size_t i = 0; i < f.story.size(); ++i)
        out << std::setw(3) << i + 1 << "  " << f.story[i] << '\n';
    if (f.violated != no_violation)
        out << "violated: " << violated << '\n';
    else
        out << "no violation" << (f.complete ? "" : " in the explored part") << '\n';
    out << f.states << " states, " << f.transitions << " transitions, depth " << f.depth << "; "
        << f.grants << " grants; " << std::fixed << std::setprecision(1) << took.count() << " s, "
        << f.bytes / 1'000'000 << " MB\n";
}

void print_row(std::ostream& out, const finding& f, const std::string& violated,
    std::chrono::duration<double> took)
{
    const std::string result = f.violated != no_violation ? violated
                               : f.complete               ? "no violation"
                                                          : "not complete";
    out << result << '\t';
    if (f.violated != no_violation)
        out << f.story.size();
    else
        out << '-';
    out << '\t' << f.states << '\t' << std::fixed << std::setprecision(1) << took.count() << '\n';
}

} // namespace holdfast::model
