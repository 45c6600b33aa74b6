// StringStream: the stream behind c10::str.
#include <c10/util/StringUtil.h>

#include <sstream>
#include <utility>

namespace c10::inline oploom_v1::detail {

struct StringStream::Impl {
  std::ostringstream stream;
};

StringStream::StringStream() : impl_(new Impl) {}
StringStream::~StringStream() { delete impl_; }
std::ostream& StringStream::stream() noexcept { return impl_->stream; }
std::string StringStream::take() { return std::move(impl_->stream).str(); }

}  // namespace c10::inline oploom_v1::detail
