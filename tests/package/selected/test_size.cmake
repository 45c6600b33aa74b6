# The library without its symbols has at most MOST bytes.
execute_process(COMMAND ${STRIP} -o ${STRIPPED} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${STRIPPED} bytes)
message(STATUS "${bytes} bytes")
if(bytes GREATER ${MOST})
  message(FATAL_ERROR "expected at most ${MOST} bytes; tools/sizes says what they are")
endif()
