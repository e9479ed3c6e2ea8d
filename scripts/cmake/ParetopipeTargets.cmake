# A precompiled header for each kind of target (library, test, program) of a build that asks for them. What sees LibTorch's
# headers is compiled with LibTorch's definitions, for which a precompiled header of other definitions is of no use.
function(paretopipe_precompile target kind)
  if(NOT PARETOPIPE_PRECOMPILE OR paretopipe_torch IN_LIST ARGN)
    return()
  endif()
  set(pch paretopipe_${kind}_pch)
  if(NOT TARGET ${pch})
    set(empty ${PROJECT_BINARY_DIR}/${pch}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(${pch} OBJECT ${empty})
    target_link_libraries(${pch} PRIVATE fmt::fmt nlohmann_json::nlohmann_json paretopipe_warnings)
    target_precompile_headers(${pch} PRIVATE
      <algorithm> <filesystem> <functional> <map> <memory> <optional> <string> <utility> <vector>
      <fmt/format.h> <nlohmann/json.hpp>)
    if(kind STREQUAL "test")
      target_link_libraries(${pch} PRIVATE paretopipe_test_main)
      target_precompile_headers(${pch} PRIVATE <support/catch.hpp>)
      target_compile_options(${pch} PRIVATE ${PARETOPIPE_TEST_OPTIONS})
    elseif(kind STREQUAL "program")
      target_link_libraries(${pch} PRIVATE CLI11::CLI11)
      target_precompile_headers(${pch} PRIVATE <CLI/CLI.hpp>)
    endif()
    if(NOT kind STREQUAL "library")
      # As the targets themselves are: GCC 14 refuses a header that was precompiled at another level.
      target_compile_options(${pch} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# Compiles all files of a target as one, in a build that asks for it: most of the time goes into headers and templates that
# they share. No two of its files may then have an anonymous name alike. Where that cannot be, a file is compiled alone
# (SKIP_UNITY_BUILD_INCLUSION).
function(paretopipe_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PARETOPIPE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(paretopipe_torch IN_LIST libraries)
    # LibTorch has a macro CHECK of its own, which Catch2's has to come after.
    set_target_properties(${target} PROPERTIES UNITY_BUILD_CODE_BEFORE_INCLUDE "#include <c10/util/Logging.h>")
  endif()
endfunction()

# paretopipe_library(NAME [LOOPS] [SOURCES ...] HEADERS ... [DEPENDS ...] [PRIVATE_DEPENDS ...])
# One library a folder: lib/paretopipe/NAME becomes the target paretopipe::NAME, with _ for the / of a folder in a folder.
# Its headers are included as <paretopipe/NAME/x.hpp>, and each must compile alone (target headers). LOOPS: it loops over
# tensors or samples, and is optimised in a debug build, too: under sanitizers its tests would take minutes more than the
# compiler.
function(paretopipe_library folder)
  cmake_parse_arguments(ARG "LOOPS" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target paretopipe_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(paretopipe::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/lib FILES ${ARG_HEADERS})
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} paretopipe_warnings)
  if(ARG_LOOPS AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -O1)  # for which what the others have precompiled is of no use
  else()
    paretopipe_precompile(${target} library ${ARG_DEPENDS} ${ARG_PRIVATE_DEPENDS})
  endif()
  paretopipe_unity(${target})
  if(PARETOPIPE_BUILD_TESTS)
    list(TRANSFORM ARG_HEADERS PREPEND paretopipe/${folder}/)
    paretopipe_compile_alone(${target} ${ARG_HEADERS})
  endif()
endfunction()

# paretopipe_test(NAME SOURCES ... [DEPENDS ...] [LABELS ...] [NEEDS ...])
# One Catch2 executable, registered with CTest as one test: process start-up is paid once. NEEDS names what this machine may
# lack ("netem"): the cases with the tag [needs:netem] are a test of their own, NAME_needs_netem, which CTest reports as
# skipped, and not as passed, where they say that they could not be tried.
function(paretopipe_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS;NEEDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} paretopipe_test_main paretopipe_warnings)
  # The code under test is what users run; its tests are fast enough with half of the optimiser's work.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> ${PARETOPIPE_TEST_OPTIONS})
  paretopipe_precompile(${name} test ${ARG_DEPENDS})
  paretopipe_unity(${name})
  list(TRANSFORM ARG_NEEDS REPLACE "(.+)" "~[needs:\\1]" OUTPUT_VARIABLE without)
  if(ARG_NEEDS)
    list(PREPEND without "~[.]")  # what is hidden stays so: with any other filter it would be run, too
  endif()
  list(JOIN without "" without)
  # From v3 on, a filter that matches no test is an error anyway, and has no option.
  set(none_is_a_failure "")
  if(Catch2_VERSION VERSION_LESS 3)
    set(none_is_a_failure --warn NoTests)
  endif()
  set(tests ${name})
  add_test(NAME ${name} COMMAND ${name} ${without})
  foreach(need IN LISTS ARG_NEEDS)
    add_test(NAME ${name}_needs_${need} COMMAND ${name} ${none_is_a_failure} "[needs:${need}]")
    list(APPEND tests ${name}_needs_${need})
  endforeach()
  set_tests_properties(${tests} PROPERTIES LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77)
endfunction()
