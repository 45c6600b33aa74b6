# What `cmake --install` puts below a prefix: the library with its headers, the Python package, and the
# generator with all that oploom_add_operators() needs.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/oploom)
set(data_dir ${CMAKE_INSTALL_DATADIR}/oploom)

set(targets oploom oploom_cli)
set(no_cuda PATTERN cuda EXCLUDE)
set(cuda_folder "")
if(OPLOOM_CUDA)
  list(APPEND targets oploom_cuda)
  set_target_properties(oploom_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  set(no_cuda "")
  set(cuda_folder aten/cuda)
endif()
set(python_dir "")
set(python_version "")
if(OPLOOM_BUILD_PYTHON)
  set(python_dir ${OPLOOM_PYTHON_INSTALL_DIR})
  get_property(python_version GLOBAL PROPERTY OPLOOM_PYTHON_VERSION)
  list(APPEND targets oploom_python)
  set_target_properties(oploom_python PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
install(TARGETS ${targets} EXPORT oploom-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT oploom-targets NAMESPACE oploom:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/oploom-config.cmake.in
  ${PROJECT_BINARY_DIR}/oploom-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS data_dir python_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/oploom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/oploom-config.cmake
  ${PROJECT_BINARY_DIR}/oploom-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OploomKernels.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OploomOperators.cmake
  DESTINATION ${package_dir})

# What a program can include: the core, the operators and what their headers need. What a package of
# operators can include beside it: the iterator, vectors, and what generated files are made of.
foreach(folder IN ITEMS c10 aten/core aten/api aten/autograd aten/iterator aten/cpu ${cuda_folder}
    generated/ops)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oploom/${parent}
    FILES_MATCHING PATTERN "*.h"
    PATTERN "Reduce*.h" EXCLUDE  # these want kernels of the library, which are not exported
    ${no_cuda})
endforeach()
foreach(header IN ITEMS aten/ATen.h aten/Base.h aten/native/Expression.h
    aten/native/Signatures.h aten/native/StructuredOutputs.h aten/stubs/DispatchStub.h
    aten/stubs/Expression.h)
  get_filename_component(parent ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oploom/${parent})
endforeach()

# The generator. Its Python packages are asked for by oploom_add_operators().
install(FILES
  ${PROJECT_SOURCE_DIR}/native_functions.yaml
  ${PROJECT_SOURCE_DIR}/tags.yaml
  DESTINATION ${data_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/codegen/backend ${PROJECT_SOURCE_DIR}/codegen/templates
  DESTINATION ${data_dir}/codegen
  FILES_MATCHING PATTERN "*.py" PATTERN "*.j2" PATTERN "__pycache__" EXCLUDE)

if(OPLOOM_BUILD_PYTHON)
  foreach(header IN ITEMS ArgParser Exceptions Generated PyTensor Results Types)
    install(FILES ${PROJECT_SOURCE_DIR}/aten/python/${header}.h
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oploom/aten/python)
  endforeach()
  file(RELATIVE_PATH to_lib /${OPLOOM_PYTHON_INSTALL_DIR}/oploom /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(oploom_extension PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
  install(TARGETS oploom_extension LIBRARY DESTINATION ${OPLOOM_PYTHON_INSTALL_DIR}/oploom)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/oploom ${PROJECT_SOURCE_DIR}/generated/python/oploom
    DESTINATION ${OPLOOM_PYTHON_INSTALL_DIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/oploom-${PROJECT_VERSION}.dist-info
    DESTINATION ${OPLOOM_PYTHON_INSTALL_DIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
