// The engine of the reductions.
#include <aten/core/Parallel.h>
#include <aten/core/Processor.h>
#include <aten/stubs/Reduction.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {

Ahead fetched_ahead(Fetches kernel) {
  return kernel.near && at::detail::fetches_near() ? Ahead::Near : Ahead::Far;
}

Ahead ahead_in(const TensorBase& tensor, bool in_order, Fetches kernel) {
  if (!has_bytes(tensor, kFetchedBytes)) return Ahead::None;
  const Ahead ahead = fetched_ahead(kernel);
  if (ahead == Ahead::Near) return ahead;
  if (!is_far(tensor)) return Ahead::None;
  return kernel.spread && in_order && at::detail::fetches_spread() ? Ahead::Spread : ahead;
}

Ahead ahead_in_rows(const TensorBase& tensor, int64_t depth, Fetches kernel, Together rows) {
  if (!has_bytes(tensor, kFetchedBytes)) return Ahead::None;
  if (rows == Together::Few && fetched_ahead(kernel) == Ahead::Near) {
    const bool few = depth <= kRowsInTurn && at::detail::fetches_rows_near();
    return few ? Ahead::Beside : Ahead::Near;
  }
  return has_bytes(tensor, 8 << 20) ? Ahead::Far : Ahead::None;
}

void simplify(WalkDims& dims) {
  if (dims.size() < 2) return;
  // Stride 0 (an expanded dimension) counts as the longest.
  auto key = [](const WalkDim& d) {
    return d.in == 0 ? std::numeric_limits<int64_t>::max() : std::abs(d.in);
  };
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = i; j > 0 && key(dims[j]) < key(dims[j - 1]); --j)
      std::swap(dims[j], dims[j - 1]);
  }
  size_t last = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    WalkDim& inner = dims[last];
    if (dims[i].in == inner.size * inner.in && dims[i].out == inner.size * inner.out) {
      inner.size *= dims[i].size;
    } else {
      dims[++last] = dims[i];
    }
  }
  dims.resize(last + 1);
}

bool are_planes(const WalkDims& kept, int64_t stride, int64_t count, int64_t in_size) {
  constexpr int64_t kRowBytes = 128, kBytes = 1024, kFewest = 16;
  if (kept.size() < 2 || kept[0].in != in_size || count > kRows) return false;
  const int64_t bytes = kept[0].size * in_size;
  return bytes <= kRowBytes && bytes * count <= kBytes && stride >= bytes &&
         kept[1].size >= kFewest && kept[1].out == kept[0].size * kept[0].out;
}

namespace {

// Whether rows of `width` neighbours are many short ones with gaps between them, which are better
// put together before they are reduced: one after the other they would take a call, or a turn of a
// loop, each.
bool have_gaps(const Reduction& r, const WalkDim& rows, int64_t stride, int64_t width) {
  constexpr int64_t kBytes = 64, kFewest = 256;
  const int64_t bytes = width * r.in_size;
  return stride == r.in_size && bytes <= kBytes && rows.size >= kFewest && rows.in != 0 &&
         rows.in != bytes;
}

struct ReducePlan {
  // `most`: columns that are taken together where the elements of `in` are neighbours.
  ReducePlan(const Reduction& r, const TensorBase& out, const TensorBase& in, DimMask mask,
             int64_t most) {
    const bool keepdim = out.dim() == in.dim();
    const int64_t in_size = r.in_size;
    const auto out_size = static_cast<int64_t>(out.itemsize());
    int64_t out_dim = 0;
    for (int64_t d = 0; d < in.dim(); ++d) {
      const int64_t size = in.sizes()[d];
      const int64_t stride = in.strides()[d] * in_size;
      const bool is_reduced = (mask >> d) & 1;
      if (is_reduced) {
        count *= size;
        if (size != 1) reduced.push_back({size, stride, 0});
      } else {
        outputs *= size;
        if (size != 1) {
          kept.push_back({size, stride, out.strides()[keepdim ? d : out_dim] * out_size});
        }
      }
      if (keepdim || !is_reduced) ++out_dim;
    }
    if (outputs == 0 || count == 0) return;
    simplify(reduced);
    if (reduced.empty()) reduced.push_back({1, in_size, 0});
    simplify(kept);
    // Neighbouring outputs are reduced side by side where they lie closer together than the
    // elements of one, unless they are few and far from the next, or where one has few elements.
    const WalkDim rows = reduced[0];
    const int64_t width = kept.empty() ? 0 : kept[0].size;
    by_planes =
        kept.size() > 1 && reduced.size() == 1 && are_planes(kept, rows.in, rows.size, in_size);
    if (by_planes) return;
    depth = count / rows.size;
    const bool apart = rows.in == 0 || std::abs(rows.in) > std::abs(kept[0].in);
    if (width > 0 && apart && kept[0].in != 0) {
      by_columns = width >= 8 || (rows.in == width * kept[0].in && rows.size >= 8) ||
                   (width >= 4 && have_gaps(r, rows, kept[0].in, width));
    } else if (depth > 1 && rows.size <= (rows.in == in_size ? most : kShortRow) &&
               (depth >= 8 || are_better_across(r, rows.size))) {
      // So are the elements of short rows, and those of neighbouring outputs with them.
      by_columns = true;
      across = rows.size;
      reduced.erase(reduced.begin());
      columns = {across, rows.in, 0};
      if (width > 0 && kept[0].in == across * rows.in) {
        columns.size *= width;
        columns.out = kept[0].out;
        kept.erase(kept.begin());
      }
      return;
    } else {
      // Rows that are whole outputs are gone through by one call. Others take a walk for each
      // output: sums of patches of 2 x 2, 14 beside each other, took seven times as long so.
      const int64_t fewest = depth == 1 ? 16 : std::max<int64_t>(4, rows.size);
      by_columns = (rows.size < r.shortest && width >= fewest) || is_turned(r, rows, width);
    }
    depth = count;
    if (by_columns) {
      columns = kept[0];
      kept.erase(kept.begin());
    } else if (kept.empty()) {
      kept.push_back({1, 0, 0});
    }
  }

  // Dimensions of the result, and those that each of its elements is made of, without `columns`.
  WalkDims kept;
  WalkDims reduced;
  int64_t outputs = 1;
  // Elements for each output.
  int64_t count = 1;
  bool by_columns = false;
  bool by_planes = false;  // see reduce_planes()
  // What is reduced side by side: `across` neighbours, of `depth` elements each, make an output.
  WalkDim columns{};
  int64_t across = 1;
  int64_t depth = 1;

 private:
  // Whether rows that are whole outputs are better turned, many at a time: short ones of narrow
  // elements, whose states are not much wider (measured on a Zen 4).
  bool is_turned(const Reduction& r, const WalkDim& rows, int64_t width) const {
    constexpr int64_t kLongest = 10, kFewest = 64;
    return depth == 1 && r.direct && rows.in == r.in_size && r.elem_size <= sizeof(float) &&
           r.state_bytes <= 2 * r.elem_size && rows.size <= kLongest && width >= kFewest;
  }
  // Whether two rows of n elements for an output, or a few, are better taken element by element,
  // and their sums together, than one after the other: that takes as long for a row as some hundred
  // numbers. Of states that take longer to come together it does not pay, nor of elements that
  // become much wider ones, unless rows are shorter.
  OPLOOM_NOINLINE static bool are_better_across(const Reduction& r, int64_t n) {
    const int64_t most_bytes = r.state_bytes > 2 * r.elem_size ? 512 : 1024;
    return n >= r.shortest && n * static_cast<int64_t>(r.state_bytes) <= most_bytes &&
           r.state_bytes > 0;
  }
};

// Combines states pairwise: the k-th level holds a state of 2^k parts, or nothing.
class Cascade {
 public:
  explicit Cascade(const Reduction& r) : r_(r) {}
  void push(ReduceState state) {
    size_t level = 0;
    for (uint64_t n = parts_++; n & 1; n >>= 1, ++level) r_.combine(levels_[level], state);
    if (level == levels_.size()) levels_.push_back(state);
    levels_[level] = state;
  }
  // There must be a part.
  ReduceState finish() const {
    size_t level = 0;
    while (((parts_ >> level) & 1) == 0) ++level;
    ReduceState result = levels_[level];
    for (++level; (parts_ >> level) != 0; ++level) {
      if ((parts_ >> level) & 1) r_.combine(levels_[level], result);
    }
    return result;
  }

 private:
  const Reduction& r_;
  SmallVector<ReduceState, 8> levels_;
  uint64_t parts_ = 0;
};

// The same for the states of neighbouring outputs.
class ColumnsCascade {
 public:
  explicit ColumnsCascade(const Reduction& r) : r_(r) {}
  // Begins with other outputs.
  void start(int64_t width) {
    if (next_ == nullptr) next_ = make();
    width_ = width;
    parts_ = 0;
  }
  // Where the states of the next part are to be written.
  void* next() { return next_.get(); }
  void push() {
    size_t level = 0;
    for (uint64_t n = parts_++; n & 1; n >>= 1, ++level) {
      r_.columns_merge(levels_[level].get(), 0, next_.get(), width_);
    }
    while (level >= levels_.size()) levels_.push_back(make());
    std::swap(levels_[level], next_);
  }
  // There must be a part.
  void* finish() {
    size_t level = 0;
    while (((parts_ >> level) & 1) == 0) ++level;
    void* result = levels_[level].get();
    for (++level; (parts_ >> level) != 0; ++level) {
      if ((parts_ >> level) & 1) r_.columns_merge(levels_[level].get(), 0, result, width_);
    }
    return result;
  }

 private:
  using Buffer = std::unique_ptr<char[]>;
  Buffer make() const { return Buffer(new char[r_.columns_size]); }

  const Reduction& r_;
  int64_t width_ = 0;
  SmallVector<Buffer, 8> levels_;
  Buffer next_;
  uint64_t parts_ = 0;
};

// Whether elements `stride` bytes apart are neighbours that need no conversion.
bool is_dense(const Reduction& r, int64_t stride) {
  return r.direct && stride == static_cast<int64_t>(r.elem_size);
}

// Elements that chunk() takes at once, of those that lie `stride` bytes apart.
int64_t longest(const Reduction& r, int64_t stride) {
  if (is_dense(r, stride)) return r.longest;
  return std::min(r.longest, kGathered / static_cast<int64_t>(r.elem_size));
}

// Elements that become wider ones, and lie no further apart than those will.
bool has_narrow_rows(const Reduction& r, int64_t stride) {
  return !is_dense(r, stride) && stride <= static_cast<int64_t>(r.elem_size);
}

// The state of one output whose first element is at `in`, part by part.
ReduceState reduce_one(const Reduction& r, const WalkDims& reduced, int64_t count, const char* in) {
  const int64_t row = reduced[0].size;
  const int64_t stride = reduced[0].in;
  const auto elem_size = static_cast<int64_t>(r.elem_size);
  // Rows that are long enough are reduced where they lie, others are put together in the buffer.
  const bool in_place = is_dense(r, reduced[0].in) && (row >= 128 || row == count);
  const int64_t most = longest(r, in_place ? elem_size : 0);
  ReduceState state;
  alignas(64) char buffer[kGathered];
  Cascade cascade(r);
  Walker walker(reduced.data() + 1, reduced.size() - 1, 0);
  int64_t filled = 0;
  const auto push = [&](const void* elements, int64_t n) {
    r.chunk(elements, n, in_place ? r.ahead : Ahead::None, state);
    cascade.push(state);
  };
  for (int64_t done = 0; done < count; done += row, walker.next()) {
    const char* p = in + walker.in;
    int64_t left = row;
    if (in_place) {
      for (; left > 0; left -= most, p += most * elem_size) push(p, std::min(left, most));
      continue;
    }
    while (left > 0) {
      const int64_t n = std::min(left, most - filled);
      r.load(p, stride, n, buffer + filled * elem_size, r.parameter);
      filled += n;
      left -= n;
      p += n * stride;
      if (filled == most) {
        push(buffer, filled);
        filled = 0;
      }
    }
  }
  if (filled > 0) push(buffer, filled);
  return cascade.finish();
}

// The results of n outputs along the first of the kept dimensions, each of one row; the first one's
// elements begin at `in`.
void reduce_whole_rows(const Reduction& r, const ReducePlan& plan, const char* in, char* out,
                       int64_t n) {
  const WalkDim row = plan.reduced[0], next = plan.kept[0];
  if (is_dense(r, row.in)) {
    r.rows(in, next.in, n, plan.count, r.ahead, out, next.out, r.parameter);
    return;
  }
  // As many as the buffer holds are gathered or converted, rows without gaps as one.
  alignas(64) char buffer[kGathered];
  const int64_t bytes = row.size * static_cast<int64_t>(r.elem_size);
  const bool joined = next.in == row.size * row.in;
  for (const int64_t most = longest(r, row.in) / row.size; n > 0; n -= most) {
    const int64_t some = std::min(n, most), loads = joined ? 1 : some;
    for (int64_t i = 0; i < loads; ++i) {
      r.load(in + i * next.in, row.in, some / loads * row.size, buffer + i * bytes, r.parameter);
    }
    r.rows(buffer, bytes, some, plan.count, Ahead::None, out, next.out, r.parameter);
    in += some * next.in;
    out += some * next.out;
  }
}

// Reduces neighbouring outputs, whose elements lie `stride` apart.
class ColumnsReduction {
 public:
  ColumnsReduction(const Reduction& r, int64_t stride)
      : r_(r),
        elem_size_(static_cast<int64_t>(r.elem_size)),
        stride_(stride),
        in_place_(is_dense(r, stride)),
        cascade_(r),
        rest_(r),
        buffer_(in_place_ ? nullptr : new char[kRows * limit(r, stride) * elem_size_]) {}

  // The greatest number of outputs, of `width` that there are, or of many. Rows are taken as they
  // lie 4 KB at a time, or as a whole where they are not much longer. The buffer of columns that
  // are gathered is to stay in half of the first-level cache. That of dense rows that are converted
  // is as large as such a cache: longer runs of memory are worth more.
  static int64_t limit(const Reduction& r, int64_t stride,
                       int64_t width = std::numeric_limits<int64_t>::max() / 16) {
    const auto size = static_cast<int64_t>(r.elem_size);
    if (is_dense(r, stride)) {
      return std::min(r.most_columns, (width * size <= 6144 ? 6144 : 4096) / size);
    }
    return has_narrow_rows(r, stride) ? std::min(r.most_columns, 2048 / size) : kShortRow;
  }

  // The states of `width` outputs, the first element of the first of which is at `in`.
  OPLOOM_NOINLINE const void* operator()(const WalkDims& reduced, int64_t count, const char* in,
                                         int64_t width) {
    const WalkDim rows = reduced[0];
    if (have_gaps(r_, rows, stride_, width)) return without_gaps(reduced, count, in, width);
    int64_t joined = 1;
    if (rows.in == width * stride_) {
      if (in_place_ && width <= r_.widest && (width & (width - 1)) == 0 && rows.size == count) {
        cascade_.start(width);
        for (int64_t left = count * width; left > 0; left -= r_.longest) {
          r_.columns_add_periods(cascade_.next(), in, std::min(left, r_.longest), width, r_.ahead);
          cascade_.push();
          in += r_.longest * elem_size_;
        }
        return cascade_.finish();
      }
      // A call for fewer longer rows, and merging their parts, took up to twice as long.
      const int64_t fewest = width < 16 ? 8 : 16;
      const int64_t most = std::min(kJoined / width, rows.size / fewest);
      while (2 * joined <= most) joined *= 2;
    }
    if (joined == 1) return run(cascade_, reduced, count, in, width);
    // Rows that follow one another are taken as a longer one, whose parts are merged at the end.
    part_ = reduced;
    const int64_t others = count / rows.size;
    part_[0] = {rows.size / joined, rows.in * joined, 0};
    void* states = run(cascade_, part_, others * part_[0].size, in, joined * width);
    for (int64_t n = joined / 2 * width; n >= width; n /= 2) r_.columns_merge(states, n, states, n);
    if (const int64_t left = rows.size % joined; left > 0) {
      part_[0] = {left, rows.in, 0};
      in += (rows.size - left) * rows.in;
      r_.columns_merge(run(rest_, part_, others * left, in, width), 0, states, width);
    }
    return states;
  }

 private:
  // For rows that are put together: see have_gaps().
  struct WithoutGaps {
    explicit WithoutGaps(const Reduction& r) : states(r) {}
    ColumnsCascade states;
    char rows[kGathered];
  };
  OPLOOM_COLD const void* without_gaps(const WalkDims& reduced, int64_t count, const char* in,
                                       int64_t width) {
    if (dense_ == nullptr) dense_.reset(new WithoutGaps(r_));
    char* const dense = dense_->rows;
    ColumnsCascade& pieces = dense_->states;
    const WalkDim rows = reduced[0];
    const int64_t bytes = width * r_.in_size, most = kGathered / bytes;
    pieces.start(width);
    WalkDims piece{{0, bytes, 0}};
    Walker walker(reduced.data() + 1, reduced.size() - 1, 0);
    for (int64_t done = 0; done < count; done += rows.size, walker.next()) {
      for (int64_t i = 0; i < rows.size; i += most) {
        const int64_t n = piece[0].size = std::min(most, rows.size - i);
        at::detail::copy_rows(dense, bytes, in + walker.in + i * rows.in, rows.in, bytes, n);
        const void* states = (*this)(piece, n, dense, width);
        std::memcpy(pieces.next(), states, r_.bytes_of(width));
        pieces.push();
      }
    }
    return pieces.finish();
  }

  void* run(ColumnsCascade& cascade, const WalkDims& reduced, int64_t count, const char* in,
            int64_t width) {
    cascade.start(width);
    const WalkDim first = reduced[0];
    Walker walker(reduced.data() + 1, reduced.size() - 1, 0);
    const char* from = in;
    int64_t left = first.size;
    const void* rows[kRowsInTurn];
    const bool narrow = has_narrow_rows(r_, stride_);
    const bool turned =
        !in_place_ && reduced.size() == 1 && first.size > 2 && is_dense(r_, first.in);
    const int64_t most = in_place_ ? r_.most_rows : kRows;
    for (int64_t done = 0; done < count; done += most) {
      const int64_t n = std::min(count - done, most);
      if (turned) {
        // The elements of each output follow one another.
        at::detail::get_transpose_loop(elem_size_)(buffer_.get(), width * elem_size_, from, stride_,
                                                   n, width, /*stream=*/false);
        for (int64_t i = 0; i < n; ++i) rows[i] = buffer_.get() + i * width * elem_size_;
        from += n * elem_size_;
      }
      for (int64_t i = 0; i < n && !turned; ++i) {
        rows[i] = from;
        if (!in_place_) {
          char* row = buffer_.get() + i * width * elem_size_;
          if (narrow) {
            at::detail::fetch<2>(reinterpret_cast<uintptr_t>(from) + kRows * first.in,
                                 width * stride_, at::detail::kLineBytes);
          }
          r_.load(from, stride_, width, row, r_.parameter);
          rows[i] = row;
        }
        from += first.in;
        if (--left == 0) {
          walker.next();
          from = in + walker.in;
          left = first.size;
        }
      }
      r_.columns_add(cascade.next(), rows, n, width, in_place_ ? r_.rows_ahead : Ahead::None);
      cascade.push();
    }
    return cascade.finish();
  }

  const Reduction& r_;
  const int64_t elem_size_;
  const int64_t stride_;
  const bool in_place_;
  ColumnsCascade cascade_;
  ColumnsCascade rest_;
  WalkDims part_;
  std::unique_ptr<char[]> buffer_;
  std::unique_ptr<WithoutGaps> dense_;
};

// The elements of each output, split along one dimension into parts that are reduced independently.
class ReduceParts {
 public:
  ReduceParts(const Reduction& r, const ReducePlan& plan) : plan_(plan) {
    const int64_t work = plan.outputs * plan.count;
    if (work < 2 * GRAIN_SIZE) return;
    const int64_t together = plan.by_columns ? std::min(plan.columns.size, r.most_columns) : 1;
    const int64_t tasks = plan.outputs * plan.across / together;
    // The last dimension that makes enough parts: their elements are neighbours then. Of columns,
    // and where there is none, the longest.
    constexpr int64_t kEnough = 16;
    for (size_t d = 1; d < plan.reduced.size(); ++d) {
      const bool enough = !plan.by_columns && tasks * plan.reduced[d].size >= kEnough;
      if (enough || plan.reduced[d].size > plan.reduced[dim_].size) dim_ = d;
    }
    const int64_t length = plan.reduced[dim_].size;
    step_ = length;
    if (tasks < 32) {
      // The states of columns are not worth merging after few rows.
      const int64_t most = plan.by_columns ? std::max<int64_t>(1, length / 32) : length;
      const int64_t wanted = even_parts(std::min({int64_t{64} / tasks, work / GRAIN_SIZE, most}));
      step_ = (length + wanted - 1) / wanted;
    }
    number = (length + step_ - 1) / step_;
  }
  WalkDims reduced(int64_t part) const {
    WalkDims dims = plan_.reduced;
    dims[dim_].size = std::min(step_, dims[dim_].size - part * step_);
    return dims;
  }
  int64_t count(int64_t part) const {
    if (number == 1) return plan_.depth;
    const int64_t length = plan_.reduced[dim_].size;
    return plan_.depth / length * std::min(step_, length - part * step_);
  }
  int64_t offset(int64_t part) const { return part * step_ * plan_.reduced[dim_].in; }
  // Elements of the largest.
  int64_t longest() const { return count(0); }

  int64_t number = 1;

 private:
  const ReducePlan& plan_;
  size_t dim_ = 0;
  int64_t step_ = 1;
};

// How many tasks of `work` elements go to one thread at least.
int64_t grain_of(int64_t work) { return (GRAIN_SIZE + work - 1) / work; }

// Calls merge(i, j) until what belongs to parts 0 to `number` - 1 has come together in the first.
template <typename Merge>
void merge_parts(int64_t number, const Merge& merge) {
  for (int64_t gap = 1; gap < number; gap *= 2) {
    for (int64_t i = 0; i + gap < number; i += 2 * gap) merge(i, i + gap);
  }
}

void reduce_rows(const Reduction& r, const ReducePlan& plan, const char* in, char* out) {
  const ReduceParts parts(r, plan);
  const int64_t grain = grain_of(parts.longest());
  if (parts.number == 1) {
    const WalkDim row = plan.reduced[0];
    const bool is_whole = row.size == plan.count && row.size <= longest(r, row.in);
    if (is_whole && plan.outputs == 1) return reduce_whole_rows(r, plan, in, out, 1);
    at::parallel_for(0, plan.outputs, grain, [&](int64_t begin, int64_t end) {
      if (is_whole) {
        return for_each_run(plan.kept, begin, end, [&](int64_t from, int64_t to, int64_t n) {
          reduce_whole_rows(r, plan, in + from, out + to, n);
        });
      }
      Walker walker(plan.kept.data(), plan.kept.size(), begin);
      for (int64_t i = begin; i < end; ++i, walker.next()) {
        const ReduceState state = reduce_one(r, plan.reduced, plan.count, in + walker.in);
        r.store(state, plan.count, out + walker.out, r.parameter);
      }
    });
    return;
  }
  // Those of one output side by side.
  std::vector<ReduceState> states(static_cast<size_t>(parts.number * plan.outputs));
  at::parallel_for(0, parts.number * plan.outputs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Walker walker(plan.kept.data(), plan.kept.size(), i / parts.number);
      const int64_t part = i % parts.number;
      states[i] = reduce_one(r, parts.reduced(part), parts.count(part),
                             in + walker.in + parts.offset(part));
    }
  });
  Walker walker(plan.kept.data(), plan.kept.size(), 0);
  for (int64_t i = 0; i < plan.outputs; ++i, walker.next()) {
    ReduceState* state = states.data() + i * parts.number;
    merge_parts(parts.number, [&](int64_t a, int64_t b) { r.combine(state[b], state[a]); });
    r.store(*state, plan.count, out + walker.out, r.parameter);
  }
}

void reduce_columns(const Reduction& r, const ReducePlan& plan, const char* in, char* out) {
  const ReduceParts parts(r, plan);
  const WalkDim& inner = plan.columns;
  const int64_t across = plan.across;
  const int64_t most = ColumnsReduction::limit(r, inner.in, inner.size) / across * across;
  const int64_t strips = (inner.size + most - 1) / most;
  // All about as wide, since they go to different threads.
  const int64_t unit = 16 * across, even = (inner.size + strips - 1) / strips;
  const int64_t limit = std::min(most, (even + unit - 1) / unit * unit);
  const int64_t tasks = plan.outputs * across / inner.size * strips;
  const int64_t grain = grain_of(std::min(limit, inner.size) * parts.longest());
  // Goes through the strips from `task` on.
  struct Strip {
    Strip(const ReducePlan& plan, int64_t strips, int64_t limit, int64_t task)
        : plan(plan),
          strips(strips),
          limit(limit),
          walker(plan.kept.data(), plan.kept.size(), task / strips),
          number(task % strips) {}
    void next() {
      if (++number < strips) return;
      number = 0;
      walker.next();
    }
    int64_t in() const { return walker.in + number * limit * plan.columns.in; }
    int64_t out() const { return walker.out + number * limit / plan.across * plan.columns.out; }
    int64_t width() const { return std::min(limit, plan.columns.size - number * limit); }

    const ReducePlan& plan;
    int64_t strips;
    int64_t limit;
    Walker walker;
    int64_t number;
  };
  const auto store = [&](const Strip& strip, const void* columns) {
    char* to = out + strip.out();
    if (across == 1) {
      r.columns_store(columns, strip.width(), plan.count, to, inner.out, r.parameter);
      return;
    }
    ReduceState state;
    for (int64_t j = 0; j < strip.width(); j += across, to += inner.out) {
      r.columns_across(columns, j, across, state);
      r.store(state, plan.count, to, r.parameter);
    }
  };
  if (parts.number == 1) {
    at::parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
      ColumnsReduction reduction(r, inner.in);
      Strip strip(plan, strips, limit, begin);
      for (int64_t i = begin; i < end; ++i, strip.next()) {
        store(strip, reduction(plan.reduced, plan.depth, in + strip.in(), strip.width()));
      }
    });
    return;
  }
  // The states of the parts of a strip side by side.
  const size_t size = r.columns_size;
  const std::unique_ptr<char[]> states(new char[size * tasks * parts.number]);
  at::parallel_for(0, tasks * parts.number, grain, [&](int64_t begin, int64_t end) {
    ColumnsReduction reduction(r, inner.in);
    for (int64_t i = begin; i < end; ++i) {
      const Strip strip(plan, strips, limit, i / parts.number);
      const int64_t part = i % parts.number;
      const void* columns = reduction(parts.reduced(part), parts.count(part),
                                      in + strip.in() + parts.offset(part), strip.width());
      std::memcpy(states.get() + i * size, columns, r.bytes_of(strip.width()));
    }
  });
  Strip strip(plan, strips, limit, 0);
  for (int64_t task = 0; task < tasks; ++task, strip.next()) {
    char* columns = states.get() + task * parts.number * size;
    merge_parts(parts.number, [&](int64_t a, int64_t b) {
      r.columns_merge(columns + b * size, 0, columns + a * size, strip.width());
    });
    store(strip, columns);
  }
}

// See are_planes().
void reduce_planes(const Reduction& r, const ReducePlan& plan, const char* in, char* out) {
  const WalkDim columns = plan.kept[0], row = plan.reduced[0];
  const int64_t in_size = r.in_size, width = columns.size, bytes = width * in_size;
  const auto elem_size = static_cast<int64_t>(r.elem_size);
  const int64_t most =
      std::min({r.most_columns, kGathered / (elem_size * row.size), kGathered / in_size}) / width;
  WalkDims planes(plan.kept.begin() + 1, plan.kept.end());
  const int64_t grain = grain_of(width * row.size);
  at::parallel_for(0, plan.outputs / width, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char buffer[kGathered], unconverted[kGathered];
    const std::unique_ptr<char[]> states(new char[r.columns_size]);
    const void* rows[kRows];
    for (int64_t i = 0; i < row.size; ++i) rows[i] = buffer + i * most * width * elem_size;
    for_each_run(planes, begin, end, [&](int64_t from, int64_t to, int64_t n) {
      for (int64_t j = 0; j < n; j += most) {
        const int64_t some = std::min(most, n - j), stride = planes[0].in;
        for (int64_t i = 0; i < row.size; ++i) {
          char* const place = buffer + i * most * width * elem_size;
          at::detail::copy_rows(r.direct ? place : unconverted, bytes,
                                in + from + j * stride + i * row.in, stride, bytes, some);
          if (!r.direct) r.load(unconverted, in_size, some * width, place, r.parameter);
        }
        r.columns_add(states.get(), rows, row.size, some * width, Ahead::None);
        r.columns_store(states.get(), some * width, plan.count, out + to + j * planes[0].out,
                        columns.out, r.parameter);
      }
    });
  });
}

}  // namespace

void reduce(Reduction&& r, const TensorBase& result, const TensorBase& self, DimMask mask) {
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* out = static_cast<char*>(result.mutable_data_ptr());
  r.in_size = static_cast<int64_t>(self.itemsize());
  const ReducePlan plan(r, result, self, mask, ColumnsReduction::limit(r, r.in_size));
  r.ahead = r.rows_ahead = Ahead::None;
  if (has_bytes(self, kFetchedBytes)) {
    const bool in_order = self.is_contiguous() && plan.reduced.size() == 1 && plan.kept.size() <= 1;
    r.ahead = ahead_in(self, in_order, r.fetches);
    r.rows_ahead = ahead_in_rows(self, plan.depth, r.fetches, r.together);
  }
  if (plan.outputs == 0) return;
  if (plan.count == 0) {
    alignas(16) char value[16];
    ReduceState state;
    r.identity(state);
    r.store(state, 0, value, r.parameter);
    const auto size = static_cast<int64_t>(result.itemsize());
    WalkDims dims;
    for (int64_t d = result.dim() - 1; d >= 0; --d) {
      dims.push_back({result.sizes()[d], 0, result.strides()[d] * size});
    }
    if (dims.empty()) dims.push_back({1, 0, size});
    const at::detail::CastLoop move = at::detail::get_move_loop(size);
    Walker walker(dims.data() + 1, dims.size() - 1, 0);
    for (int64_t i = 0; i < plan.outputs; i += dims[0].size, walker.next()) {
      move(out + walker.out, dims[0].out, value, 0, dims[0].size);
    }
    return;
  }
  if (plan.by_planes) return reduce_planes(r, plan, in, out);
  (plan.by_columns ? reduce_columns : reduce_rows)(r, plan, in, out);
}

}  // namespace at::inline oploom_v1::native
