# Installs the library into an empty prefix, then configures, builds and runs a program against it:
# the C++ example of README.md.
# Variables: BUILD (the build tree), SOURCE (the consumer), README, WORK (a scratch folder).
file(REMOVE_RECURSE ${WORK})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
endfunction()

file(READ ${README} readme)
string(REGEX MATCH "```cpp\n([^`]*)```" block "${readme}")
if(NOT block)
  message(FATAL_ERROR "${README} has no C++ example")
endif()
file(COPY ${SOURCE}/CMakeLists.txt DESTINATION ${WORK}/consumer)
file(WRITE ${WORK}/consumer/main.cpp "${CMAKE_MATCH_1}")

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(${CMAKE_COMMAND} -S ${WORK}/consumer -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
