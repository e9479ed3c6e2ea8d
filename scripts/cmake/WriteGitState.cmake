# cmake -DSOURCE_DIR=... -DOUTPUT=... -P WriteGitState.cmake
# Writes the commit (with "-dirty" when the tree differs from it) to OUTPUT, and touches the file only on a change.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE state OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(state "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define PARETOPIPE_GIT_STATE \"@state@\"\n" @ONLY)
