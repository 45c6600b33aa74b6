// Symbol visibility: everything in the library is hidden unless it carries OPLOOM_API.
#pragma once

#define OPLOOM_API __attribute__((visibility("default")))
