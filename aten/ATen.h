// Everything a program needs: tensors, all operators, automatic differentiation.
//
// Programs that use few operators compile faster with <aten/Base.h> and the headers of these.
#pragma once

#include <aten/Base.h>
#include <generated/ops/Functions.h>
