// TensorBase: the parts that need no inlining.
#include <aten/core/TensorBase.h>
#include <c10/util/Exception.h>

namespace at::inline oploom_v1 {

void TensorBase::type_mismatch(ScalarType wanted) const {
  OPLOOM_CHECK(defined(), "data_ptr(): the tensor is undefined");
  OPLOOM_CHECK(false, "data_ptr(): expected a tensor of dtype ", wanted, ", got ", scalar_type());
}

}  // namespace at::inline oploom_v1
