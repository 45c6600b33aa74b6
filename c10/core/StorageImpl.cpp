// The destructor of StorageImpl and what is freed while weak references remain.
#include <c10/core/StorageImpl.h>

namespace c10::inline oploom_v1 {

StorageImpl::~StorageImpl() = default;

void StorageImpl::release_resources() { data_ptr_.clear(); }

}  // namespace c10::inline oploom_v1
