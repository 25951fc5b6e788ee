// Runs a fuzz target over stored inputs, without libFuzzer, so that every build tests earlier
// findings. Arguments: folders, the first of which must not be empty.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder)
{
    std::vector<fs::path> files;
    if (fs::exists(folder)) {
        for (const auto& entry : fs::directory_iterator(folder))
            files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void run(const fs::path& file)
{
    std::printf("%s\n", file.c_str());
    std::fflush(stdout); // after a failure the last name printed is that of the failing input
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

} // namespace

int main(int count, char** arguments)
{
    std::size_t inputs = 0;
    for (int i = 1; i < count; ++i) {
        for (const fs::path& file : files_in(arguments[i])) {
            run(file);
            ++inputs;
        }
        if (inputs == 0) {
            std::fprintf(stderr, "no inputs in %s\n", arguments[i]);
            return 1;
        }
    }
    std::printf("%zu inputs\n", inputs);
    return inputs == 0 ? 1 : 0;
}
