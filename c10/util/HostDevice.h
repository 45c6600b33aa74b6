// Functions that run on the CPU and, compiled by nvcc, on a GPU as well.
#pragma once

#if defined(__CUDACC__)
#define OPLOOM_HOST_DEVICE __host__ __device__
#else
#define OPLOOM_HOST_DEVICE
#endif
