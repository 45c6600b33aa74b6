// What every program needs beside the operators: tensors, their printing and indexing, automatic
// differentiation, threads, random numbers. A program adds <generated/ops/relu.h> for each operator
// that it uses, and is compiled again only when one of those changes; <aten/ATen.h> has them all.
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
#include <generated/ops/TensorOperators.h>
