// Nothing: CMake needs a source beside the precompiled headers.
