// Everything a program needs: tensors, all operators, automatic differentiation.
//
// Programs that use few operators compile faster with their own headers, <generated/ops/add.h>.
#pragma once

#include <aten/api/from_blob.h>
#include <aten/api/indexing.h>
#include <aten/api/tensor.h>
#include <aten/autograd/autograd.h>
#include <aten/core/Formatting.h>
#include <aten/core/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Generator.h>
#include <c10/core/GradMode.h>
#include <generated/ops/Functions.h>
