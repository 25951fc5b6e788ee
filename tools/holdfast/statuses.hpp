#pragma once

namespace holdfast::cli::status {

/// The exit statuses of this program, apart from those of a command that it has started.
///
/// They are near those of env(1) and timeout(1), because most commands do not use these values.
enum : int {
    good = 0,
    lease_lost = 123,      ///< `run`: the lease could not be kept, and the command was stopped
    not_acquired = 124,    ///< `run`: others held the lock the whole time; the default of -E
    failed = 125,          ///< this program failed: options, nodes, rights
    cannot_execute = 126,  ///< `run`: the command was found and could not be started
    not_found = 127,       ///< `run`: the command was not found
    signal_base = 128,     ///< plus the number of the signal that has ended the command
    some_nodes_failed = 1, ///< `ping`: a majority of the nodes is usable, others are not
    no_majority = 2,       ///< `ping`: too few nodes are usable for any lock
    not_held = 1,          ///< `inspect`, `release`: nobody holds the lock
    incomplete = 1,        ///< `list`, `top`: locks may be missing from the list
    not_confirmed = 2,     ///< `release`: the person at the terminal did not say yes
    holder_not_told = 3,   ///< `release`: the lock was taken away, and its holder may go on
};

} // namespace holdfast::cli::status
