#pragma once

#include <cstdio>
#include <cstdlib>

/// For programming errors only, always on. Never on anything that a peer, a file or the kernel
/// sent.
#define UPF_ASSERT(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
