// Which instruction set runs, and that OPLOOM_CPU_CAPABILITY chooses it.
#include <aten/Base.h>
#include <aten/stubs/DispatchStub.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <string>

TEST(Capability, IsTheOneAskedFor) {
  const std::string got = at::get_cpu_capability();
  const char* wanted = std::getenv("OPLOOM_CPU_CAPABILITY");
  if (wanted == nullptr) {
    EXPECT_TRUE(got == "DEFAULT" || got == "AVX2" || got == "AVX512") << got;
    return;
  }
  std::string upper = wanted;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(got, upper);
}
