#pragma once

/// Marks what a shared build of Errand exports; everything else stays hidden.
#define ERRAND_EXPORT __attribute__((visibility("default")))
