# oploom_add_operators(): operators of a project of its own, made as those of oploom are.
#
#   find_package(oploom CONFIG REQUIRED)          # or add_subdirectory(oploom)
#   oploom_add_operators(mathx
#     NAMESPACE mathx                 # C++ namespace and folder of headers: mathx::mish, <mathx/ops.h>
#     SCHEMAS operators.yaml          # entries as in oploom's native_functions.yaml
#     DERIVATIVES derivatives.yaml    # as in its derivatives.yaml
#     SOURCES operators.cpp           # shape functions and bodies: namespaces mathx::meta, mathx::native
#     CPU_KERNELS kernels.cpp         # compiled once for each instruction set
#     HELPERS formulas.h              # functions of namespace mathx::autograd that formulas call
#     PYTHON_MODULE mathx)            # its name; the namespace unless given. NO_PYTHON: none
#
# makes the shared library <target>, to be linked as any other; where oploom has CUDA and the project has
# called enable_language(CUDA), the library <target>_cuda with kernels for GPUs; with Python, the package
# <module> in <build>/python; the test <target>.operators, which runs the generated tests of all operators (a
# call in a subdirectory needs enable_testing() in the topmost one); the target <target>_docs, which writes
# their reference to <build>/docs/<module>/index.html; and the target <target>_benchmark, which times them.
#
# Set Python3_EXECUTABLE for another Python than CMake finds, OPLOOM_PYTHON for another one that the code
# generator shall run in.

# The lines of YAML files that hold one of the keys of an entry, from the key on, with a comma for characters
# that mean something in a list. The front end sees to it that each entry begins on the line of its dash and
# has one key a line; so a line that is further in than its entry's keys is part of a text, as in `doc`.
function(_oploom_lines variable keys)
  set(found "")
  string(ASCII 239 187 191 byte_order_mark)
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(REPLACE "${byte_order_mark}" "" text "${text}")
    string(REGEX REPLACE "[][;\\]" "," text "\n${text}")
    string(REGEX MATCHALL "\n *(- +|(${keys}):)[^\n]*" lines "${text}")
    unset(dash)
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^\n( *)(- +)?(.*)" _ "${line}")
      set(line "${CMAKE_MATCH_3}")
      if(NOT CMAKE_MATCH_2)
        set(key "${CMAKE_MATCH_1}")
      elseif(NOT DEFINED dash OR dash STREQUAL CMAKE_MATCH_1)
        set(dash "${CMAKE_MATCH_1}")
        string(REPLACE "-" " " key "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
        set(key_of_entry "${key}")
      else()
        continue()
      endif()
      if(key STREQUAL key_of_entry AND line MATCHES "^(${keys}):")
        list(APPEND found "${line}")
      endif()
    endforeach()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# The names under a key of the entries, as a list without duplicates.
function(_oploom_scan variable key)
  _oploom_lines(found ${key} ${ARGN})
  list(TRANSFORM found REPLACE "^${key}: *[\"']?([A-Za-z0-9_]*).*" "\\1")
  list(REMOVE_ITEM found "")
  list(REMOVE_DUPLICATES found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# The other names of operators, of which a line may have several: `aliases: f, g`.
function(_oploom_aliases variable)
  set(found "")
  _oploom_lines(lines aliases ${ARGN})
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^aliases:|#.*" "" line "${line}")
    string(REGEX MATCHALL "[A-Za-z0-9_]+" names "${line}")
    list(APPEND found ${names})
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# The operators that those that are expressions bring along: one for the gradient, and of several tensors
# one for the tangent.
function(_oploom_made_operators variable)
  set(found "")
  _oploom_lines(lines "func|expr" ${ARGN})
  foreach(line IN LISTS lines)
    if(line MATCHES "^func: *[\"']?([A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)?)")
      string(REPLACE "." "_" operator ${CMAKE_MATCH_1})
      string(REGEX REPLACE "->.*" "" line "${line}")
      string(REGEX MATCHALL "[(, ]Tensor +[A-Za-z0-9_]+" tensors "${line}")
      list(LENGTH tensors count)
    else()
      list(APPEND found ${operator}_backward)
      if(count GREATER 1)
        list(APPEND found ${operator}_jvp)
      endif()
    endif()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# The first Python there is that can run the statement; "" where there is none.
function(_oploom_python_for variable statement)
  get_property(root GLOBAL PROPERTY OPLOOM_ROOT)
  foreach(python IN ITEMS ${OPLOOM_PYTHON} $ENV{OPLOOM_PYTHON} ${Python3_EXECUTABLE}
      ${root}/.venv/bin/python)
    execute_process(COMMAND ${python} -c ${statement} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${variable} ${python} PARENT_SCOPE)
      return()
    endif()
    if(DEFINED OPLOOM_PYTHON)
      break()  # named on the command line: that one or none
    endif()
  endforeach()
  set(${variable} "" PARENT_SCOPE)
endfunction()

function(oploom_add_operators target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_PYTHON" "NAMESPACE;PYTHON_MODULE"
    "SCHEMAS;DERIVATIVES;SOURCES;CPU_KERNELS;HELPERS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "oploom_add_operators(${target}): unknown argument '${ARG_UNPARSED_ARGUMENTS}'; "
      "there are NAMESPACE, SCHEMAS, DERIVATIVES, SOURCES, CPU_KERNELS, HELPERS, PYTHON_MODULE and "
      "NO_PYTHON")
  endif()
  foreach(needed IN ITEMS NAMESPACE SCHEMAS)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "oploom_add_operators(${target}): ${needed} is missing; the least is\n"
        "  oploom_add_operators(${target} NAMESPACE mathx SCHEMAS operators.yaml)")
    endif()
  endforeach()
  get_target_property(list oploom::oploom OPLOOM_OPERATOR_LIST)
  if(list)
    message(FATAL_ERROR "oploom_add_operators(${target}): this oploom has the operators of ${list} only, "
      "and exports nothing else; packages need one that was built without OPLOOM_OPERATORS")
  endif()
  set(namespace ${ARG_NAMESPACE})
  if(NOT ARG_PYTHON_MODULE)
    set(ARG_PYTHON_MODULE ${namespace})
  endif()
  foreach(list IN ITEMS SCHEMAS DERIVATIVES HELPERS CPU_KERNELS SOURCES)
    set(${list}_paths "")
    foreach(file IN LISTS ARG_${list})
      get_filename_component(path ${file} ABSOLUTE)
      list(APPEND ${list}_paths ${path})
    endforeach()
  endforeach()
  foreach(path IN LISTS SCHEMAS_paths DERIVATIVES_paths HELPERS_paths CPU_KERNELS_paths SOURCES_paths)
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "oploom_add_operators(${target}): there is no file ${path}")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SCHEMAS_paths} ${SOURCES_paths})
  # A body with other parameters than its schema's is found where it stands, see aten/native/Signatures.h.
  foreach(path IN LISTS SOURCES_paths)
    file(STRINGS ${path} declared REGEX "^#include <${namespace}/native/[A-Za-z0-9_]+\\.h>")
    file(STRINGS ${path} checked REGEX "^#include <${namespace}/native/signatures/[A-Za-z0-9_]+\\.h>")
    if(declared AND NOT checked)
      message(FATAL_ERROR "oploom_add_operators(${target}): ${path} must end with the line\n"
        "  #include <${namespace}/native/signatures/${namespace}.h>\n"
        "which compares the functions above it with their schemas (the last ${namespace} is the family "
        "of the operators, where the YAML names one)")
    endif()
  endforeach()

  # ---- Python: one that the generator runs in, and the one that the module is made for ----
  get_property(python_version GLOBAL PROPERTY OPLOOM_PYTHON_VERSION)
  if(NOT TARGET oploom::python)
    set(ARG_NO_PYTHON ON)
  endif()
  if(ARG_NO_PYTHON)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
  else()
    find_package(Python3 ${python_version} EXACT REQUIRED COMPONENTS Interpreter Development.Module)
  endif()
  _oploom_python_for(python "import jinja2")
  if(NOT python)
    set(tried ${Python3_EXECUTABLE})
    if(DEFINED OPLOOM_PYTHON)
      set(tried ${OPLOOM_PYTHON})
    endif()
    message(FATAL_ERROR
      "oploom_add_operators(${target}): the code generator needs Python with the package jinja2, which "
      "${tried} cannot import. Install it (apt install python3-jinja2, or pip install jinja2), or name "
      "another Python with -DOPLOOM_PYTHON=<path>.")
  endif()

  # ---- What the generator writes ----
  set(root ${CMAKE_CURRENT_BINARY_DIR}/${target}.oploom)
  set(include ${root}/include)
  _oploom_scan(families family ${SCHEMAS_paths})
  list(APPEND families ${namespace})
  list(REMOVE_DUPLICATES families)
  _oploom_scan(bases func ${SCHEMAS_paths})
  _oploom_aliases(aliases ${SCHEMAS_paths})
  list(APPEND bases ${aliases})
  list(TRANSFORM bases REPLACE "([^_])_$" "\\1" OUTPUT_VARIABLE operators)
  _oploom_made_operators(made_operators ${SCHEMAS_paths})
  list(APPEND operators ${made_operators})
  list(REMOVE_DUPLICATES operators)
  set(headers namespace.h ops.h)
  set(sources dispatch/Boxing.cpp dispatch/Operators.cpp)
  set(python_sources python/Families.cpp python/Module.cpp)
  set(others "")
  foreach(file IN ITEMS __init__.py _C.pyi py.typed return_types.py)
    list(APPEND others python/${ARG_PYTHON_MODULE}/${file})
  endforeach()
  foreach(operator IN LISTS operators)
    list(APPEND headers ops/${operator}.h native/${operator}.h)
  endforeach()
  foreach(family IN LISTS families)
    list(APPEND headers autograd/${family}.h autograd/${family}Kernels.h native/signatures/${family}.h)
    list(APPEND sources autograd/${family}.cpp dispatch/${family}.cpp)
    list(APPEND python_sources python/${family}.cpp)
    list(APPEND others tests/test_${family}.py)
  endforeach()
  set(expression_kernels "")
  set(cuda_kernels "")
  if(made_operators)
    foreach(family IN LISTS families)
      list(APPEND headers stubs/${family}.h)
      list(APPEND expression_kernels cpu/${family}.cpp)
      list(APPEND cuda_kernels cuda/${family}.cu)
    endforeach()
  endif()
  set(outputs ${headers} ${sources} ${expression_kernels} ${cuda_kernels} ${python_sources} ${others})
  list(TRANSFORM outputs PREPEND ${namespace}/ OUTPUT_VARIABLE expected)
  list(JOIN expected "\n" expected)
  file(CONFIGURE OUTPUT ${root}/outputs.txt CONTENT "@expected@\n" @ONLY)
  foreach(list IN ITEMS outputs sources expression_kernels cuda_kernels python_sources)
    list(TRANSFORM ${list} PREPEND ${include}/${namespace}/)
  endforeach()

  # ---- The rule that runs it ----
  get_property(oploom_root GLOBAL PROPERTY OPLOOM_ROOT)
  get_property(data_dir GLOBAL PROPERTY OPLOOM_DATA_DIR)
  file(GLOB generator ${data_dir}/codegen/backend/*.py ${data_dir}/codegen/templates/*.j2)
  set(options --namespace ${namespace} --python-module ${ARG_PYTHON_MODULE} --oploom ${oploom_root})
  foreach(pair IN ITEMS SCHEMAS:--schemas DERIVATIVES:--derivatives HELPERS:--helpers)
    string(REGEX MATCH "([A-Z]+):(.*)" _ ${pair})
    foreach(file IN LISTS ARG_${CMAKE_MATCH_1})
      list(APPEND options ${CMAKE_MATCH_2} ${file})
    endforeach()
  endforeach()
  # Files are named as the project names them, so that diagnostics do.
  add_custom_command(OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -E env OPLOOM_PYTHON=${python} $<TARGET_FILE:oploom::cli> generate ${options}
      --expect ${root}/outputs.txt --out ${include}/${namespace}
    DEPENDS oploom::cli ${generator} ${data_dir}/native_functions.yaml ${root}/outputs.txt
      ${SCHEMAS_paths} ${DERIVATIVES_paths} ${HELPERS_paths}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Generating the operators of ${namespace}"
    VERBATIM)
  set(generated ${target}_generated)
  add_custom_target(${generated} DEPENDS ${outputs})
  add_custom_target(${target}_docs
    COMMAND ${CMAKE_COMMAND} -E env OPLOOM_PYTHON=${python} $<TARGET_FILE:oploom::cli> docs ${options}
      --out ${PROJECT_BINARY_DIR}/docs/${ARG_PYTHON_MODULE}
    DEPENDS oploom::cli
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    VERBATIM)

  # ---- The library ----
  get_target_property(capabilities oploom::oploom OPLOOM_CPU_CAPABILITIES)
  set(stub_definitions ${capabilities})
  list(TRANSFORM stub_definitions PREPEND OPLOOM_KERNELS_FOR_)
  set(kernels "")
  foreach(isa IN LISTS capabilities)
    if(CPU_KERNELS_paths OR expression_kernels)
      string(TOLOWER ${isa} suffix)
      set(objects ${target}_cpu_${suffix})
      oploom_kernel_copies(written ${root}/kernels ${isa} ${CMAKE_CURRENT_SOURCE_DIR}
        ${CPU_KERNELS_paths})
      oploom_kernel_copies(made ${root}/expressions ${isa} ${include} ${expression_kernels})
      add_library(${objects} OBJECT ${written} ${made})
      _oploom_package_options(${objects})
      oploom_kernel_options(${objects} ${isa} ${made})
      list(APPEND kernels $<TARGET_OBJECTS:${objects}>)
    endif()
  endforeach()
  add_library(${target} SHARED ${sources} ${SOURCES_paths})
  _oploom_package_options(${target})
  # Behind the other objects, simplest instruction set first, as in oploom's own library: of an inline
  # function that several hold, the linker keeps the first copy.
  target_link_libraries(${target} PRIVATE ${kernels})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${include}>)
  # A kernel that is declared and not written is an error here, not in the program that calls it. Once
  # loaded, the library stays: graphs and operator tables lead to its code.
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-z,nodelete)

  # ---- Kernels for GPUs, in a library of their own, as those of oploom are ----
  set(cuda "")
  if(TARGET oploom::cuda AND cuda_kernels AND CMAKE_CUDA_COMPILER)
    set(cuda ${target}_cuda)
    get_target_property(architectures oploom::cuda OPLOOM_CUDA_ARCHITECTURES)
    add_library(${cuda} SHARED ${cuda_kernels})
    set_target_properties(${cuda} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
    oploom_cuda_options(${cuda})
    target_compile_definitions(${cuda} PRIVATE ${stub_definitions})
    target_link_libraries(${cuda} PUBLIC ${target} oploom::cuda)
    add_dependencies(${cuda} ${generated})
  elseif(TARGET oploom::cuda AND cuda_kernels)
    message(STATUS "oploom_add_operators(${target}): no kernels for GPUs are compiled, which this oploom "
      "has; enable_language(CUDA) before the call adds them")
  endif()

  # ---- The Python package and the tests ----
  if(ARG_NO_PYTHON)
    return()
  endif()
  set(package ${PROJECT_BINARY_DIR}/python/${ARG_PYTHON_MODULE})
  file(MAKE_DIRECTORY ${package})
  foreach(file IN ITEMS __init__.py _C.pyi py.typed return_types.py)
    file(CREATE_LINK ${include}/${namespace}/python/${ARG_PYTHON_MODULE}/${file} ${package}/${file}
      SYMBOLIC)
  endforeach()
  add_library(${target}_python MODULE ${python_sources})
  _oploom_package_options(${target}_python)
  target_link_libraries(${target}_python PRIVATE ${target} oploom::python Python3::Module)
  # CPython's tables leave most of their fields out.
  target_compile_options(${target}_python PRIVATE -Wno-missing-field-initializers)
  set_target_properties(${target}_python PROPERTIES
    PREFIX "" OUTPUT_NAME _C SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${package})

  if(cuda)  # which oploom.cuda loads
    add_custom_command(TARGET ${cuda} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${cuda}> ${package}/_cuda.so
      VERBATIM)
  endif()

  # Where no Python can run the tests, that is what the configuration and the test say.
  get_property(oploom_python_path GLOBAL PROPERTY OPLOOM_PYTHON_PATH)
  string(REPLACE "." ", " version ${python_version})
  _oploom_python_for(tester
    "import numpy, pytest, scipy, sys; assert sys.version_info[:2] == (${version})")
  if(NOT tester)
    message(STATUS "oploom_add_operators(${target}): the tests of its operators need a Python "
      "${python_version} with numpy, scipy and pytest, which ${Python3_EXECUTABLE} lacks; "
      "-DPython3_EXECUTABLE=<path> names another one")
    set(tester ${Python3_EXECUTABLE})
  endif()
  # For ctest, which looks in the topmost folder. A call from this function would have ended with it.
  if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
    cmake_language(DEFER CALL enable_testing)
  endif()
  add_test(NAME ${target}.operators
    COMMAND ${tester} -m pytest -q -p no:cacheprovider --import-mode=importlib
      --rootdir=${include}/${namespace} ${include}/${namespace}/tests)
  set(environment PYTHONPATH=${PROJECT_BINARY_DIR}/python:${oploom_python_path} PYTHONDONTWRITEBYTECODE=1)
  set_tests_properties(${target}.operators PROPERTIES ENVIRONMENT "${environment}")
  add_custom_target(${target}_benchmark
    COMMAND ${CMAKE_COMMAND} -E env ${environment}
      ${tester} -m oploom.testing.benchmark ${include}/${namespace}/tests
    DEPENDS ${target}_python
    USES_TERMINAL
    VERBATIM)
endfunction()

# What every target of a package needs. Sees the variables of oploom_add_operators().
function(_oploom_package_options target)
  oploom_code_options(${target})
  target_link_libraries(${target} PUBLIC oploom::oploom)
  target_compile_definitions(${target} PRIVATE ${stub_definitions})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${include})
  add_dependencies(${target} ${generated})
endfunction()
