# Rooms: one object library for each folder, whose sources can include the headers of that folder
# and of the rooms it depends on, and of no other. A room's include path is a folder in the build
# tree that holds links to just the room's own headers, so a wrong include does not compile.

include(${CMAKE_CURRENT_LIST_DIR}/OploomKernels.cmake)
set_property(GLOBAL PROPERTY OPLOOM_LIBRARY_ROOMS "")

# Compiles and links a target with the sanitizers that OPLOOM_SANITIZE names. Pooled memory would hide
# from them who frees what, so they come without it.
function(_oploom_sanitize target)
  if(OPLOOM_SANITIZE)
    string(REPLACE ";" "," sanitizers "${OPLOOM_SANITIZE}")
    target_compile_options(${target} PRIVATE
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_definitions(${target} PUBLIC OPLOOM_NO_POOL)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
endfunction()

function(_oploom_common target)
  oploom_code_options(${target})
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wno-unused-parameter -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false alarms of GCC 12 (PR105651)
  endif()
  if(OPLOOM_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE
      -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
      -fno-omit-frame-pointer)
  endif()
  _oploom_sanitize(${target})
endfunction()

# The headers that a file shares with its neighbours are parsed once for all files of a target, which
# are to include them all the same. ccache finds more where they are not.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# oploom_room(<name> PATHS <folder>... [SOURCES <file>...] [DEPENDS <room>...] [PRECOMPILE <header>...]
#             [NOT_IN_LIBRARY])
function(oploom_room name)
  cmake_parse_arguments(ARG "NOT_IN_LIBRARY" "" "PATHS;SOURCES;DEPENDS;PRECOMPILE" ${ARGN})
  set(target oploom_${name})
  set(root ${PROJECT_BINARY_DIR}/rooms/${name})
  foreach(path IN LISTS ARG_PATHS)
    get_filename_component(parent ${root}/${path} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${path} ${root}/${path} SYMBOLIC)
  endforeach()
  if(ARG_SOURCES)
    add_library(${target} OBJECT ${ARG_SOURCES})
    set(scope PUBLIC)
    _oploom_common(${target})
    target_compile_definitions(${target} PRIVATE OPLOOM_BUILDING_LIBRARY)
    if(NOT ARG_NOT_IN_LIBRARY)
      # So that the linker can leave out, one by one, what nothing refers to.
      target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
      set_property(GLOBAL APPEND PROPERTY OPLOOM_LIBRARY_ROOMS ${target})
    endif()
    target_precompile_headers(${target} PRIVATE ${ARG_PRECOMPILE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${root})
  foreach(room IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} ${scope} oploom_${room})
  endforeach()
endfunction()

# oploom_cpu_kernels(EXPRESSIONS <file>... SOURCES <file>...): adds each kernel file, generated ones and
# others, to the library once for each instruction set.
function(oploom_cpu_kernels)
  cmake_parse_arguments(ARG "" "" "EXPRESSIONS;SOURCES" ${ARGN})
  foreach(isa IN LISTS OPLOOM_CPU_CAPABILITIES)
    oploom_kernel_copies(made ${CMAKE_CURRENT_BINARY_DIR} ${isa} ${PROJECT_SOURCE_DIR}
      ${ARG_EXPRESSIONS})
    oploom_kernel_copies(written ${CMAKE_CURRENT_BINARY_DIR} ${isa} ${PROJECT_SOURCE_DIR}
      ${ARG_SOURCES})
    string(TOLOWER ${isa} suffix)
    oploom_room(aten_cpu_${suffix} PATHS aten/cpu generated/cpu SOURCES ${made} ${written}
      DEPENDS aten_stubs generated_stubs
      PRECOMPILE <aten/cpu/vec/vec.h> <aten/iterator/TensorIterator.h>)
    oploom_kernel_options(oploom_aten_cpu_${suffix} ${isa} ${made})
  endforeach()
endfunction()

# For glue, of which there is much and which runs little: with -O2 it takes half as long again to compile,
# and a call one instruction in a hundred less.
function(oploom_glue target)
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-foptimize-sibling-calls>)
endfunction()

# For programs that take longer to compile than to run.
function(oploom_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# oploom_test(<name> SOURCES <file>... [LIBRARIES <target>...]
#             [PRECOMPILE <header>... | PRECOMPILED_BY <target>]): a GoogleTest program, run by CTest.
function(oploom_test name)
  cmake_parse_arguments(ARG "" "PRECOMPILED_BY" "SOURCES;LIBRARIES;PRECOMPILE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _oploom_common(${name})
  oploom_quick_to_compile(${name})
  if(ARG_PRECOMPILED_BY)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED_BY})
  else()
    target_precompile_headers(${name} PRIVATE ${ARG_PRECOMPILE})
  endif()
  target_link_libraries(${name} PRIVATE oploom GTest::gmock GTest::gtest_main ${ARG_LIBRARIES})
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60)
endfunction()

# oploom_test_each_isa(<name> [FILTER <tests>]): runs a program's tests, or those that a pattern of
# GoogleTest names, once more with each instruction set that the build has and that can be forced on a
# machine with better ones.
function(oploom_test_each_isa name)
  cmake_parse_arguments(ARG "" "FILTER" "" ${ARGN})
  if(NOT ARG_FILTER)
    set(ARG_FILTER "*")
  endif()
  foreach(isa IN ITEMS DEFAULT AVX2)
    if(isa IN_LIST OPLOOM_CPU_CAPABILITIES)
      string(TOLOWER ${isa} suffix)
      gtest_discover_tests(${name} TEST_PREFIX ${name}.${suffix}. TEST_FILTER ${ARG_FILTER}
        DISCOVERY_TIMEOUT 60 PROPERTIES ENVIRONMENT OPLOOM_CPU_CAPABILITY=${suffix})
    endif()
  endforeach()
endfunction()
