#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flash_sale_web {

struct load_settings {
    std::vector<std::uint16_t> servers; ///< their ports
    unsigned buyers = 0;                ///< orders under way at the same time
    unsigned rate = 0; ///< orders a second; 0: each buyer orders again when it is answered
};
std::string load_arguments(const load_settings& from);

/// The buyers, in one process. `given`: a JSON object, made by `load_arguments()`.
///
/// Reads commands, one JSON object a line:
/// - `{"strategy":"fenced","item":1,"next":2}`  what to buy; `next`, when that is sold out
/// - `{"measure":true}`, `{"measure":false}`    the beginning and the end of a measurement
///
/// Prints its counts five times a second, and the result of each measurement, as `{"measured":…}`.
/// Ends when its input ends. Returns the exit status.
int run_load(const std::string& given);

} // namespace flash_sale_web
