// The nearest known spelling of a name, for "did you mean" in error messages.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace c10::inline oploom_v1 {

// Edits (insert, delete, replace, swap of neighbours) that turn a into b; case counts for nothing,
// since "tensor" for "Tensor" is the likeliest slip of all.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// The candidate nearest to `name`, or "" when none is near enough to be a misspelling of it. Of two
// that are equally near, the one with the same letters: two of them have changed places.
template <class Range>
std::string closest_name(std::string_view name, const Range& candidates) {
  std::string best;
  // One slip in a name of up to five letters, one more for every three.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3 + 1);
  for (const auto& candidate : candidates) {
    const std::string_view text(candidate);
    const std::size_t gap =
        text.size() > name.size() ? text.size() - name.size() : name.size() - text.size();
    if (gap >= best_distance || text == name) continue;
    const std::size_t distance = edit_distance(name, text);
    const bool swapped =
        !best.empty() && std::is_permutation(text.begin(), text.end(), name.begin(), name.end());
    const bool nearer = distance < best_distance || (distance == best_distance && swapped);
    if (nearer && distance < std::max(name.size(), text.size())) {
      best_distance = distance;
      best = std::string(text);
    }
  }
  return best;
}

}  // namespace c10::inline oploom_v1
