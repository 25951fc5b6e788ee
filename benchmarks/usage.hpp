#pragma once

namespace benchmark {

double cpu_seconds_now();    // of this process, user and system
double resident_bytes_now(); // what of it is in memory

} // namespace benchmark
