# Runs PROGRAM in an empty WORK_DIR; its output must be the text of EXPECTED.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${WORK_DIR}
                OUTPUT_VARIABLE actual COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
if(NOT actual STREQUAL expected)
  message(FATAL_ERROR "expected:\n${expected}\nactual:\n${actual}")
endif()
