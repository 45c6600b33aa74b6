# The shared library, of all rooms: with every operator, or with those of a list.

# oploom_library(<target> [OPERATORS <list>]): links the rooms' objects. With a list, which names an
# operator in each line (as `oploom list` does: relu, add.Tensor), the library has these and what they
# and their derivatives need; the linker finds out what that is. It exports no other operator: a program
# that calls one is not linked, and the linker names it. `Tensor.index` and `Tensor.index_put_` in the
# list are x.index({...}) and x.index_put_({...}, y).
function(oploom_library target)
  cmake_parse_arguments(ARG "" "OPERATORS" "" ${ARGN})
  get_property(rooms GLOBAL PROPERTY OPLOOM_LIBRARY_ROOMS)
  # Kernels come last, simplest instruction set first: of an inline function that several objects hold,
  # the linker keeps the first copy, which must not need instructions that the machine may lack.
  set(kernel_rooms ${rooms})
  list(FILTER kernel_rooms INCLUDE REGEX "^oploom_aten_cpu_")
  list(FILTER rooms EXCLUDE REGEX "^oploom_aten_cpu_")
  list(APPEND rooms ${kernel_rooms})
  set(objects "")
  foreach(room IN LISTS rooms)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  if(ARG_OPERATORS)
    # The file that lists all operators gives way to one that lists these.
    set(objects "$<FILTER:${objects},EXCLUDE,/dispatch/.*/Operators\\.cpp\\.>")
  endif()

  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    OUTPUT_NAME oploom
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    # Packages of operators have kernels for the same instruction sets; see Note [DispatchStub].
    OPLOOM_CPU_CAPABILITIES "${OPLOOM_CPU_CAPABILITIES}"
    EXPORT_PROPERTIES "OPLOOM_CPU_CAPABILITIES;OPLOOM_OPERATOR_LIST")
  target_compile_features(${target} INTERFACE cxx_std_20)
  # What rooms need from other projects; each names it where it is used.
  get_property(external GLOBAL PROPERTY OPLOOM_EXTERNAL_LIBRARIES)
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX ${external})
  # Functions bind inside the library. Data must not: a program may hold the one copy of a variable (of
  # a table, of the undefined tensor), and the library has to use that.
  target_link_options(${target} PRIVATE
    -Wl,--no-undefined -Wl,-Bsymbolic-functions -Wl,--gc-sections)
  _oploom_sanitize(${target})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/oploom>)
  if(ARG_OPERATORS)
    _oploom_select(${target} ${ARG_OPERATORS})
  endif()
endfunction()

# Reads the list and writes what the library is linked with: the list as C++, and what is exported.
function(_oploom_select target list)
  get_filename_component(list ${list} ABSOLUTE)
  if(NOT EXISTS ${list})
    message(FATAL_ERROR "OPLOOM_OPERATORS: there is no file '${list}'; "
      "it names an operator in each line, for instance relu or add.Tensor")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  # Which header declares which operator.
  file(GLOB headers ${PROJECT_SOURCE_DIR}/generated/ops/*.h)
  foreach(header IN LISTS headers)
    get_filename_component(stem ${header} NAME_WE)
    file(STRINGS ${header} structs REGEX "^struct [A-Za-z0-9_]+ {$")
    foreach(struct IN LISTS structs)
      string(REGEX REPLACE "^struct ([A-Za-z0-9_]+) {$" "\\1" identifier "${struct}")
      set(header_of_${identifier} ${stem})
    endforeach()
  endforeach()

  set(includes "")
  set(tables "")
  set(exports "")
  set(number 0)
  set(wrong "")
  # Functions that are made of several operators, all of which they keep.
  set(export_of_Tensor_index "at::oploom_v1::indexing::get_item*")
  set(export_of_Tensor_index_put_ "at::oploom_v1::indexing::set_item*")
  file(STRINGS ${list} lines ENCODING UTF-8)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "#.*" "" name "${line}")
    string(STRIP "${name}" name)
    if(name STREQUAL "")
      continue()
    endif()
    string(REPLACE "." "_" identifier "${name}")
    if(name MATCHES "^Tensor\\." AND DEFINED export_of_${identifier})
      list(APPEND exports "    ${export_of_${identifier}}")
      continue()
    endif()
    if(NOT name MATCHES "^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)?$" OR NOT DEFINED header_of_${identifier})
      string(APPEND wrong "\n  '${name}'")
      continue()
    endif()
    list(APPEND includes "#include <generated/ops/${header_of_${identifier}}.h>")
    list(APPEND tables "      &_ops::${identifier}::table,")
    list(APPEND exports "    at::oploom_v1::_ops::${identifier}::call*"
      "    at::oploom_v1::_ops::${identifier}::table")
  endforeach()
  if(wrong)
    message(FATAL_ERROR "OPLOOM_OPERATORS: ${list} names what is no operator:${wrong}\n"
      "`oploom list` has the names, with those of overloads: add.Tensor, not add")
  endif()
  if(NOT exports)
    message(FATAL_ERROR "OPLOOM_OPERATORS: ${list} names no operator")
  endif()
  list(REMOVE_DUPLICATES includes)
  list(REMOVE_DUPLICATES tables)
  list(REMOVE_DUPLICATES exports)
  list(SORT includes)
  list(JOIN includes "\n" includes)
  list(JOIN tables "\n" tables)
  list(JOIN exports ";\n" exports)
  string(APPEND exports ";")
  get_filename_component(list_name ${list} NAME)
  set_target_properties(${target} PROPERTIES OPLOOM_OPERATOR_LIST ${list_name})

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.operators)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/SelectedOperators.cpp.in ${folder}/Operators.cpp @ONLY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/selected_operators.map.in ${folder}/exports.map @ONLY)
  target_sources(${target} PRIVATE ${folder}/Operators.cpp)
  _oploom_common(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_options(${target} PRIVATE -Wl,--version-script=${folder}/exports.map)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${folder}/exports.map)
endfunction()
