# A project that takes oploom's source tree in with add_subdirectory() and has a package of operators of
# its own beside it. Configures it, and has Ninja go through the whole build without carrying it out, which
# finds what is missing or made twice. With OPLOOM_TEST_SUBDIRECTORY in the environment it is built as well,
# for one instruction set, and its program, its Python module and its tests are run: minutes of compiling,
# which is why that is done by hand.
# Variables: TREE (oploom's source), PYTHON, GENERATOR_PYTHON (one with jinja2), WORK (a scratch folder).
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)
file(REMOVE_RECURSE ${WORK})
file(COPY ${TREE}/examples/custom_ops DESTINATION ${WORK})
file(WRITE ${WORK}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(foreign LANGUAGES CXX)
enable_testing()
add_subdirectory(${TREE} oploom)
add_subdirectory(custom_ops)
")
step(${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug
  -DOPLOOM_CPU_CAPABILITIES=DEFAULT -DPython3_EXECUTABLE=${PYTHON} -DOPLOOM_PYTHON=${GENERATOR_PYTHON})
step(${CMAKE_COMMAND} --build ${WORK}/build -- -n)
foreach(piece IN ITEMS "Generating the operators of mathx" "bin/custom_ops|custom_ops/custom_ops" "mathx/_C.so")
  if(NOT step_output MATCHES "${piece}")
    message(FATAL_ERROR "the build should make ${piece}:\n${step_output}")
  endif()
endforeach()
# Oploom's own tests and examples are not the project's.
if(step_output MATCHES "codegen_test|digits")
  message(FATAL_ERROR "the build should not make oploom's tests:\n${step_output}")
endif()

if(DEFINED ENV{OPLOOM_TEST_SUBDIRECTORY})
  step(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
  step(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure)
  message(STATUS "${step_output}")
  step(${CMAKE_COMMAND} -E env PYTHONPATH=${WORK}/build/custom_ops/python:${WORK}/build/oploom/python
    ${PYTHON} ${WORK}/custom_ops/example.py)
endif()
