# Installs what package-lock.json names into MODULES, unless that is there already.
file(READ ${SOURCE_DIR}/package-lock.json wanted)
if(EXISTS ${MODULES}/installed.json)
  file(READ ${MODULES}/installed.json installed)
  if(installed STREQUAL wanted)
    return()
  endif()
endif()
file(MAKE_DIRECTORY ${MODULES})
file(COPY ${SOURCE_DIR}/package.json ${SOURCE_DIR}/package-lock.json DESTINATION ${MODULES})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund
  WORKING_DIRECTORY ${MODULES} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${SOURCE_DIR}/package-lock.json ${MODULES}/installed.json)
