# step(<command>...): runs it, and ends the test with its output when it fails. Sets step_output.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()
