// The commands of the `oploom` program.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace oploom::frontend {

// Exit codes: 0 all is well; 1 the files have mistakes, all of which were reported; 2 the command
// itself is wrong; 3 a file cannot be read or written, or the back end failed.
int run_command_line(const std::vector<std::string>& arguments, std::ostream& out,
                     std::ostream& err);

}  // namespace oploom::frontend
