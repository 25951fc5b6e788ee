#pragma once

#include <exception>

namespace flash_sale_web {

/// For `co_spawn`: a failure of the coroutine ends the process, by an exception out of `run()`.
inline void rethrow(std::exception_ptr error)
{
    if (error)
        std::rethrow_exception(error);
}

} // namespace flash_sale_web
