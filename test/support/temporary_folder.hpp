#pragma once

#include <filesystem>
#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace holdfast::test {

/// A new folder, which is deleted with this object.
class temporary_folder {
public:
    /// `purpose` is part of its name.
    explicit temporary_folder(const std::string& purpose)
        : path_((std::filesystem::temp_directory_path() / ("holdfast-" + purpose + "-XXXXXX"))
                    .string())
    {
        if (::mkdtemp(path_.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }

    temporary_folder(temporary_folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    temporary_folder& operator=(temporary_folder&& other) noexcept
    {
        std::swap(path_, other.path_);
        return *this;
    }

    ~temporary_folder()
    {
        std::error_code ignored;
        if (!path_.empty())
            std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

} // namespace holdfast::test
