# paretopipe_library(NAME [SOURCES ...] HEADERS ... [DEPENDS ...] [PRIVATE_DEPENDS ...])
# One library a folder: lib/paretopipe/NAME becomes the target paretopipe::NAME, with _ for the / of a folder in a folder.
# Its headers are included as <paretopipe/NAME/x.hpp>, and each must compile alone (target
# all_verify_interface_header_sets).
function(paretopipe_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name ${name})
  set(target paretopipe_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(paretopipe::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/lib FILES ${ARG_HEADERS})
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} paretopipe_warnings)
  if(PARETOPIPE_BUILD_TESTS)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
endfunction()

# paretopipe_test(NAME SOURCES ... [DEPENDS ...] [LABELS ...])
# One Catch2 executable, registered with CTest as one test: process start-up is paid once.
function(paretopipe_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} paretopipe_test_main paretopipe_warnings)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
