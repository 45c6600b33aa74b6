# Takes the example package of operators through what its README tells a new user: a copy of the folder,
# built against an installed oploom, used from C++ and from Python.
# Variables: PREFIX (the installed copy), EXAMPLE (examples/custom_ops), PYTHON, GENERATOR_PYTHON (one
# with jinja2), WORK (a scratch folder).
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)
file(REMOVE_RECURSE ${WORK})
file(COPY ${EXAMPLE} DESTINATION ${WORK})

# As somebody adds a formula of their own: two tensors, a number and a branch, and other names for it.
file(APPEND ${WORK}/custom_ops/operators.yaml [[
- func: tukey(Tensor self, Tensor target, *, float c=4.685) -> Tensor
  aliases: biweight, bisquare  # as statisticians call it
  expr: "abs(self - target) < c ? c * c / 6 * (1 - pow(1 - pow((self - target) / c, 2), 3)) : c * c / 6"
  doc: |
    Tukey's loss. An entry of one's own begins with
    - func: imaginary(Tensor self) -> Tensor
      family: Imaginary
      expr: exp(self)
]])
# Of two gradients they write one, as it suits them, and get the other.
file(APPEND ${WORK}/custom_ops/derivatives.yaml [[
- name: tukey(Tensor self, Tensor target, *, float c=4.685) -> Tensor
  self: at::where((self - target).abs() < c, grad * (self - target) * (1 - ((self - target) / c).pow(2)).pow(2), 0)
]])
file(WRITE ${WORK}/tukey.py [[
import mathx
import oploom

x = oploom.tensor([1.0, 5.0], requires_grad=True)
y = mathx.tukey(x, oploom.tensor([0.0]), c=2.0)
(slope,) = oploom.autograd.grad([y.sum()], [x], create_graph=True)
assert abs(slope[0].item() - 0.5625) < 1e-6 and slope[1].item() == 0
(bend,) = oploom.autograd.grad([slope.sum()], [x])
assert abs(bend[0].item() - -0.1875) < 1e-6 and bend[1].item() == 0
target = oploom.tensor([0.0], requires_grad=True)
mathx.tukey(x, target, c=2.0).sum().backward()
assert abs(x.grad[0].item() - 0.5625) < 1e-6 and abs(target.grad.item() + 0.5625) < 1e-6
for other in (mathx.biweight, mathx.bisquare):
    assert other(x, oploom.tensor([0.0]), c=2.0).tolist() == y.tolist()
]])

# What the generator lacks is said when CMake runs, with the cure.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/custom_ops -B ${WORK}/refused -G Ninja
    -DCMAKE_PREFIX_PATH=${PREFIX} -DOPLOOM_PYTHON=/bin/false
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "package jinja2" OR NOT output MATCHES "-DOPLOOM_PYTHON")
  message(FATAL_ERROR "without jinja2 the configuration should have failed and said so:\n${output}")
endif()

# A source that is not there is named, once.
file(READ ${WORK}/custom_ops/CMakeLists.txt lists)
string(REPLACE "SOURCES operators.cpp" "SOURCES operatrs.cpp" wrong "${lists}")
file(MAKE_DIRECTORY ${WORK}/missing)
file(COPY ${WORK}/custom_ops/ DESTINATION ${WORK}/missing)
file(WRITE ${WORK}/missing/CMakeLists.txt "${wrong}")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/missing -B ${WORK}/missing/build -G Ninja
    -DCMAKE_PREFIX_PATH=${PREFIX} -DPython3_EXECUTABLE=${PYTHON} -DOPLOOM_PYTHON=${GENERATOR_PYTHON}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(status EQUAL 0 OR NOT output MATCHES "there is no file [^ ]*operatrs.cpp" OR output MATCHES "file STRINGS")
  message(FATAL_ERROR "a missing source should have been named:\n${output}")
endif()

# The tests are found by ctest without enable_testing(), too.
string(REPLACE "enable_testing()\n" "" lists "${lists}")
file(WRITE ${WORK}/custom_ops/CMakeLists.txt "${lists}")

# Unoptimised, which is quicker to build; this tree's own build has it optimised.
step(${CMAKE_COMMAND} -S ${WORK}/custom_ops -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_PREFIX_PATH=${PREFIX} -DPython3_EXECUTABLE=${PYTHON} -DOPLOOM_PYTHON=${GENERATOR_PYTHON})
file(READ ${WORK}/build/mathx.oploom/outputs.txt outputs)
if(NOT outputs MATCHES "mathx/ops/tukey_jvp.h" OR outputs MATCHES "maginary")
  message(FATAL_ERROR "tukey is an operator, and what its documentation speaks of is none:\n${outputs}")
endif()
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/custom_ops)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build -N OUTPUT_VARIABLE output)
if(NOT output MATCHES "mathx.operators")
  message(FATAL_ERROR "ctest should have found the tests of the operators:\n${output}")
endif()

# From Python, with the installed package of oploom. The tests of the operators run in this tree's own
# build, as custom_ops.operators.
file(GLOB site_packages ${PREFIX}/lib/python3*/site-packages)
step(${CMAKE_COMMAND} -E env PYTHONPATH=${WORK}/build/python:${site_packages}
  ${PYTHON} ${WORK}/custom_ops/example.py)
step(${CMAKE_COMMAND} -E env PYTHONPATH=${WORK}/build/python:${site_packages} ${PYTHON} ${WORK}/tukey.py)

# A package for C++ alone needs no Python but the generator's.
file(WRITE ${WORK}/plain/operators.yaml "- func: cube(Tensor self) -> Tensor\n  expr: self * self * self\n")
file(WRITE ${WORK}/plain/main.cpp [[
#include <aten/ATen.h>
#include <cubes/ops.h>

int main() {
  const at::Tensor x = at::ones({2}).requires_grad_();
  cubes::cube(x * 2).sum().backward();
  return x.grad().sum().item<float>() == 48 ? 0 : 1;
}
]])
file(WRITE ${WORK}/plain/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(plain LANGUAGES CXX)
find_package(oploom CONFIG REQUIRED)
oploom_add_operators(cubes NAMESPACE cubes SCHEMAS operators.yaml NO_PYTHON)
add_executable(plain main.cpp)
target_link_libraries(plain PRIVATE cubes)
]])
step(${CMAKE_COMMAND} -S ${WORK}/plain -B ${WORK}/plain/build -G Ninja -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_PREFIX_PATH=${PREFIX} -DOPLOOM_PYTHON=${GENERATOR_PYTHON})
step(${CMAKE_COMMAND} --build ${WORK}/plain/build)
step(${WORK}/plain/build/plain)
if(EXISTS ${WORK}/plain/build/python)
  message(FATAL_ERROR "a package with NO_PYTHON should have no Python module")
endif()

# The reference of the operators, with their formulas.
step(${CMAKE_COMMAND} --build ${WORK}/build --target mathx_docs)
file(READ ${WORK}/build/docs/mathx/op/mish.html page)
if(page MATCHES "mish_backward" OR NOT page MATCHES "<math" OR NOT page MATCHES "operators.yaml.html#L" OR NOT page MATCHES "mathx::<b")
  message(FATAL_ERROR "the page of mish should have its formula and a link to its entry:\n${page}")
endif()

# A mistake in a formula is shown at its place, and what is meant.
file(READ ${WORK}/custom_ops/derivatives.yaml text)
string(REPLACE "result.exp()" "resul.exp()" text "${text}")
file(WRITE ${WORK}/custom_ops/derivatives.yaml "${text}")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "derivatives.yaml:5:" OR NOT output MATCHES "did you mean 'result'")
  message(FATAL_ERROR "a wrong name in a formula should have been reported:\n${output}")
endif()
file(COPY ${EXAMPLE}/derivatives.yaml DESTINATION ${WORK}/custom_ops)

# An entry that CMake cannot find is refused where it stands.
file(READ ${WORK}/custom_ops/operators.yaml operators)
file(APPEND ${WORK}/custom_ops/operators.yaml
  "- {func: in_a_map(Tensor self) -> Tensor, expr: exp(self)}\n")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "operators.yaml:[0-9]+:4: error: CMake finds")
  message(FATAL_ERROR "an entry in a map should have been refused:\n${output}")
endif()
file(WRITE ${WORK}/custom_ops/operators.yaml "${operators}")

# A body that is not as its schema says does not compile, and is shown the signature expected.
file(READ ${WORK}/custom_ops/operators.cpp text)
string(REPLACE "int64_t dim, double eps" "int dim, double eps" wrong "${text}")
file(WRITE ${WORK}/custom_ops/operators.cpp "${wrong}")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "mathx::native::rms_norm[^\n]* must be" OR
    NOT output MATCHES "int64_t dim, double eps")
  message(FATAL_ERROR "a wrong parameter of a body should have been reported:\n${output}")
endif()

# And the line that sees to it is asked for.
string(REGEX REPLACE "\n#include <mathx/native/signatures[^\n]*" "" without "${text}")
file(WRITE ${WORK}/custom_ops/operators.cpp "${without}")
execute_process(COMMAND ${CMAKE_COMMAND} ${WORK}/build
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake breaks lines where the paths end
if(status EQUAL 0 OR NOT output MATCHES "must end with the line")
  message(FATAL_ERROR "a file without the checks should have been refused:\n${output}")
endif()
