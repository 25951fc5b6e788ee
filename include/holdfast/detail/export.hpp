#pragma once

// Marks what the shared library exports; it hides all other names. Stands at each function of the
// public interface that is not inline. It does not stand at classes: their members have types that
// stay hidden.
#define HOLDFAST_EXPORT __attribute__((visibility("default")))
