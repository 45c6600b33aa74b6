# Runs a program while its operators are recorded; the list has to be the one that the selected library
# is linked by, but for operators that others call.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CMAKE_COMMAND} -E env OPLOOM_RECORD_OPERATORS=${RECORDED} ${PROGRAM}
  COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${RECORDED} recorded)
file(STRINGS ${LIST} wanted)
foreach(name IN LISTS wanted)
  if(NOT name IN_LIST recorded)
    message(FATAL_ERROR "'${name}' was called and not recorded: ${recorded}")
  endif()
endforeach()
if("tanh" IN_LIST recorded)
  message(FATAL_ERROR "tanh was recorded and not called")
endif()
