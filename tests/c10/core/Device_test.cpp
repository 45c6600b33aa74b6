// Tests of devices: parsing, printing, comparison.
#include <c10/core/Device.h>

#include <unordered_set>

#include "../throws.h"

namespace {

using c10::Device;
using c10::DeviceType;

TEST(Device, ParsesAndPrintsBack) {
  for (const char* text : {"cpu", "cuda", "cuda:0", "cuda:127", "meta", "privateuse1:3"}) {
    EXPECT_EQ(Device(text).str(), text);
  }
  EXPECT_EQ(Device("cuda:1"), Device(DeviceType::CUDA, 1));
  EXPECT_FALSE(Device("cuda") == Device("cuda:0"));
  EXPECT_TRUE(Device("cpu").is_cpu() && Device("meta").is_meta());
  EXPECT_FALSE(Device("cpu").has_index());
}

TEST(Device, RefusesEverythingElse) {
  for (const char* text : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:128", "cuda:1x", "cuda:01",
                           "cuda:1:2", ":1", "cuda: 1"}) {
    EXPECT_THROWS(Device{text}, c10::Error, c10::str("device '", text, "'"));
  }
  EXPECT_THROWS(Device("gpu"), c10::Error, "expected cpu, cuda, meta");
}

TEST(Device, Hashes) {
  std::unordered_set<Device> devices = {Device("cpu"), Device("cuda:0"), Device("cuda:1"),
                                        Device("cuda:0")};
  EXPECT_EQ(devices.size(), 3u);
}

}  // namespace
