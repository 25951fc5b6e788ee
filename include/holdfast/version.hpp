#pragma once

/// The version of these headers: the only place where it is written. CMake reads these lines.
///
/// Until 1.0 a change of the minor number may break source and binary compatibility; a change of
/// the patch number breaks neither.
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0

/// One number for comparisons: major * 1,000,000 + minor * 1,000 + patch.
#define HOLDFAST_VERSION                                                                           \
    (HOLDFAST_VERSION_MAJOR * 1000000 + HOLDFAST_VERSION_MINOR * 1000 + HOLDFAST_VERSION_PATCH)

/// The same as text: "major.minor.patch".
#define HOLDFAST_VERSION_STRING                                                                    \
    HOLDFAST_VERSION_TEXT_(HOLDFAST_VERSION_MAJOR, HOLDFAST_VERSION_MINOR, HOLDFAST_VERSION_PATCH)

// Two steps: the arguments are expanded before they are turned into text.
#define HOLDFAST_VERSION_TEXT_(major, minor, patch) HOLDFAST_VERSION_QUOTE_(major, minor, patch)
#define HOLDFAST_VERSION_QUOTE_(major, minor, patch) #major "." #minor "." #patch
