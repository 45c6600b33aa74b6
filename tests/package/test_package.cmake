# Configures, builds and runs a program against an installed copy: the C++ example of README.md.
# Variables: PREFIX (the installed copy), SOURCE (the consumer), README, WORK (a scratch folder).
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)
file(REMOVE_RECURSE ${WORK})

file(READ ${README} readme)
string(REGEX MATCH "```cpp\n([^`]*)```" block "${readme}")
if(NOT block)
  message(FATAL_ERROR "${README} has no C++ example")
endif()
file(COPY ${SOURCE}/CMakeLists.txt DESTINATION ${WORK}/source)
file(WRITE ${WORK}/source/main.cpp "${CMAKE_MATCH_1}")

step(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
