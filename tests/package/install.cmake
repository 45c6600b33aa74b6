# Installs the library into an empty prefix. Variables: BUILD (the build tree), PREFIX.
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)
file(REMOVE_RECURSE ${PREFIX})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})
