#pragma once

namespace benchmark {

double cpu_seconds_now();    // of this process, user and system
double resident_bytes_now(); // of this process
double peak_resident_bytes();

} // namespace benchmark
