// Forward mode: dual levels, and the tangents of tensors. See Note [Tangents].
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/Views.h>
#include <c10/util/Exception.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/alias.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty_strided.h>
#include <generated/ops/expand.h>
#include <generated/ops/to.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros_like.h>

#include <memory>
#include <mutex>
#include <unordered_set>

namespace at::inline oploom_v1::autograd {

// ---- Levels ----

// Knows the slots that are filled, to empty them when it is left. A slot may be freed by any
// thread.
class TangentLevel {
 public:
  void add(TangentSlot* slot) {
    const std::lock_guard lock(mutex_);
    slots_.insert(slot);
  }
  void remove(TangentSlot* slot) {
    const std::lock_guard lock(mutex_);
    slots_.erase(slot);
  }
  void close() {
    // Outlives the lock: freeing a tangent may free other slots.
    std::vector<Tensor> tangents;
    const std::lock_guard lock(mutex_);
    for (TangentSlot* slot : slots_) tangents.push_back(std::move(slot->tangent_));
    slots_.clear();
  }

 private:
  std::mutex mutex_;
  std::unordered_set<TangentSlot*> slots_;
};

TangentSlot::~TangentSlot() {
  if (level_ != nullptr) level_->remove(this);
}

void TangentSlot::set(const std::shared_ptr<TangentLevel>& level, Tensor tangent) {
  if (level_ != level) {
    if (level_ != nullptr) level_->remove(this);
    level_ = level;
  }
  tangent_ = std::move(tangent);
  level_->add(this);
}

namespace forward_ad {

constinit thread_local bool tls_forward_on OPLOOM_TLS_INITIAL_EXEC = false;

namespace {

thread_local std::shared_ptr<TangentLevel> open_level;

TangentSlot& slot_of(const Tensor& tensor) {
  AutogradMeta* meta = materialize_autograd_meta(tensor);
  if (!meta->tangent_.defined()) meta->tangent_ = c10::make_intrusive<TangentSlot>();
  return *meta->tangent_;
}

// Elements at different places do not share memory, as far as the strides tell at once.
bool may_be_written(const Tensor& tensor) {
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return false;
  }
  return true;
}

bool same_strides(const Tensor& a, const Tensor& b) {
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  }
  return true;
}

// An empty tensor laid out like `tensor`.
Tensor empty_laid_out_like(const Tensor& tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
}

// `tangent` in the shape, dtype and layout of `tensor`, itself if it has them.
Tensor fitted(const Tensor& tangent, const Tensor& tensor) {
  const bool same_dtype = tangent.scalar_type() == tensor.scalar_type();
  const bool same_sizes = tangent.sizes().equals(tensor.sizes());
  if (!may_be_written(tensor)) {
    const Tensor converted = same_dtype ? tangent : tangent.to(tensor.scalar_type());
    return same_sizes ? converted : converted.expand(tensor.sizes());
  }
  if (same_dtype && same_sizes && same_strides(tangent, tensor)) return tangent;
  Tensor result = empty_laid_out_like(tensor);
  result.copy_(tangent);
  return result;
}

bool takes_tangent(const Tensor& tensor) {
  return tensor.defined() && is_differentiable_type(tensor.scalar_type());
}

void put(const Tensor& tensor, Tensor&& tangent) {
  slot_of(tensor).set(open_level, std::move(tangent));
}

// What a tensor has a tangent of by being a view of it; null for others.
const Tensor* base_for_tangents(const Tensor& tensor) {
  const ViewMeta* view = get_view_meta(tensor);
  return view != nullptr && !view->own_tangent_ ? &view->base_ : nullptr;
}

}  // namespace

void enter_dual_level() {
  OPLOOM_CHECK(open_level == nullptr,
               "dual level: one is open in this thread already, and levels cannot be nested; leave "
               "it first, or take a gradient of the tangents for a second derivative");
  open_level = std::make_shared<TangentLevel>();
  tls_forward_on = true;
}

void exit_dual_level() {
  OPLOOM_CHECK(open_level != nullptr, "dual level: none is open in this thread");
  tls_forward_on = false;
  std::exchange(open_level, nullptr)->close();
}

DualLevel::DualLevel() { enter_dual_level(); }
DualLevel::~DualLevel() {
  if (level_is_open()) exit_dual_level();
}

bool level_is_open() { return open_level != nullptr; }

// ---- Duals ----

Tensor make_dual(const Tensor& primal, const Tensor& tangent) {
  OPLOOM_CHECK(open_level != nullptr,
               "make_dual(): no dual level is open in this thread; make duals inside of one");
  OPLOOM_CHECK(primal.defined() && tangent.defined(), "make_dual(): expected two tensors, got ",
               primal.defined() ? "no tangent" : "no primal");
  OPLOOM_CHECK(takes_tangent(primal),
               "make_dual(): expected a primal of floating-point or complex dtype, got ",
               primal.scalar_type());
  OPLOOM_CHECK(tangent.sizes().equals(primal.sizes()), "make_dual(): expected a tangent of shape ",
               primal.sizes(), " as the primal has, got ", tangent.sizes());
  OPLOOM_CHECK(tangent.scalar_type() == primal.scalar_type(),
               "make_dual(): expected a tangent of dtype ", primal.scalar_type(),
               " as the primal has, got ", tangent.scalar_type());
  OPLOOM_CHECK(tangent.device() == primal.device(), "make_dual(): expected a tangent on device ",
               primal.device(), " where the primal is, got ", tangent.device());
  OPLOOM_CHECK(!has_tangent(primal),
               "make_dual(): the primal has a tangent already; unpack_dual(...).primal has none");
  OPLOOM_CHECK(!has_tangent(tangent),
               "make_dual(): the tangent is a dual itself, and there is one level of them; "
               "unpack_dual(...).primal has no tangent");
  const Pause pause;
  Tensor dual = at::alias(primal);
  get_view_meta(dual)->own_tangent_ = true;
  put(dual, fitted(tangent, dual));
  return dual;
}

UnpackedDual unpack_dual(const Tensor& tensor) {
  OPLOOM_CHECK(tensor.defined(), "unpack_dual(): expected a tensor, got an undefined one");
  Tensor tangent = tangent_of(tensor);
  if (!tangent.defined()) return {tensor, Tensor()};
  const Pause pause;
  Tensor primal = at::alias(tensor);
  get_view_meta(primal)->own_tangent_ = true;
  return {std::move(primal), std::move(tangent)};
}

Tensor tangent_of(const Tensor& tensor) {
  const AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr || open_level == nullptr) return Tensor();
  if (meta->tangent_.defined() && !meta->tangent_->empty()) {
    OPLOOM_CHECK(meta->tangent_->level() == open_level.get(),
                 "forward mode: the tensor has a tangent of a dual level of another thread; use it "
                 "there, or pass on what unpack_dual() gives");
    return meta->tangent_->tangent();
  }
  const Tensor* base = base_for_tangents(tensor);
  if (base == nullptr) return Tensor();
  const Tensor whole = tangent_of(*base);
  if (!whole.defined()) return Tensor();
  const Pause pause;
  put(tensor, replay_view(whole, TensorGeometry(*base), TensorGeometry(tensor)));
  return meta->tangent_->tangent();
}

Tensor tangent_or_zeros(const Tensor& tensor) {
  Tensor tangent = tangent_of(tensor);
  return tangent.defined() || !tensor.defined() ? tangent : at::zeros_like(tensor);
}

std::vector<Tensor> tangent_or_zeros(TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(tangent_or_zeros(tensor));
  return result;
}

bool has_tangent(const Tensor& tensor) { return tangent_of(tensor).defined(); }

bool has_tangent(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (has_tangent(tensor)) return true;
  }
  return false;
}

bool has_tangent(OptionalTensorList tensors) {
  for (const std::optional<Tensor>& tensor : tensors) {
    if (has_tangent(tensor)) return true;
  }
  return false;
}

// ---- Results ----

void add_term(Tensor& sum, Tensor term) {
  if (!sum.defined()) {
    sum = std::move(term);
  } else if (term.defined()) {
    sum = sum + term;
  }
}

void set_tangent(const Tensor& result, Tensor&& tangent) {
  if (!tangent.defined() || !takes_tangent(result)) return;
  // A formula may hand the tangent of an argument through, which is not the result's to change.
  const bool own = tangent.getIntrusivePtr().unique() && tangent.storage().unique();
  Tensor mine = fitted(tangent, result);
  if (!own && mine.is_alias_of(tangent)) mine = mine.clone();
  put(result, std::move(mine));
}

void set_view_tangent(const Tensor& view, Tensor&& tangent) {
  if (tangent.defined() && takes_tangent(view)) put(view, std::move(tangent));
}

void set_view_tangent(TensorList views, std::vector<Tensor>&& tangents) {
  OPLOOM_INTERNAL_ASSERT(views.size() == tangents.size(),
                         "a forward formula gave a wrong number of tangents");
  for (size_t i = 0; i < views.size(); ++i) set_view_tangent(views[i], std::move(tangents[i]));
}

void update_tangent(const Tensor& self, const Tensor& tangent) {
  if (!takes_tangent(self)) return;
  Tensor mine = tangent_of(self);
  if (!tangent.defined()) {
    if (mine.defined()) mine.zero_();
    return;
  }
  if (!mine.defined()) {
    const Tensor* base = base_for_tangents(self);
    const Tensor& owner = base != nullptr ? *base : self;
    put(owner, may_be_written(owner) ? empty_laid_out_like(owner).zero_() : at::zeros_like(owner));
    mine = tangent_of(self);
  }
  if (mine.is_same(tangent)) return;
  // Written into, as the value is. But a node may have saved a tangent that is recorded: it would
  // then lead to the node, and the node to it, and neither would be freed. Where no view looks at
  // the same memory, another tensor takes its place.
  if (tangent.requires_grad() && mine.storage().use_count() == 1) {
    set_tangent(self, Tensor(tangent));
  } else {
    mine.copy_(tangent);
  }
}

void reshape_tangent(const Tensor& self, Tensor&& tangent) {
  if (!tangent.defined()) return;
  // What shares the old slot keeps the old shape.
  AutogradMeta* meta = materialize_autograd_meta(self);
  meta->tangent_ = c10::make_intrusive<TangentSlot>();
  meta->tangent_->set(open_level, std::move(tangent));
}

void throw_no_formula(const char* name) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(false, name,
                               "(): an argument has a tangent, and there is no forward formula to "
                               "compute that of the result; "
                               "pass detach() of the argument to leave its tangent out");
}

void share_tangent(const Tensor& tensor, const Tensor& copy) {
  slot_of(tensor);
  AutogradMeta* meta = materialize_autograd_meta(copy);
  meta->tangent_ = get_autograd_meta(tensor)->tangent_;
  if (meta->is_view_) static_cast<ViewMeta*>(meta)->own_tangent_ = true;
}

}  // namespace forward_ad

}  // namespace at::inline oploom_v1::autograd
