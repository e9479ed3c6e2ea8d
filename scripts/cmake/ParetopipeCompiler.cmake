# Warnings and sanitizers as INTERFACE targets, so that a target opts in by linking and third parties never see them.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers embed time stamps; ccache has to be told that the sources do not depend on them.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" ${CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

add_library(paretopipe_warnings INTERFACE)
target_compile_options(paretopipe_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  $<$<BOOL:${PARETOPIPE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The page's charts are a library in one literal, which every compiler takes that this is built with.
  target_compile_options(paretopipe_warnings INTERFACE -Wno-overlength-strings)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 believes that a std::string may be longer than memory where it inlines a search in one, and that a
  # std::optional may be read without a value where it inlines the question.
  target_compile_options(paretopipe_warnings INTERFACE -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()

# A processor with fused multiply-add would round a product and a sum once instead of twice, and the last digits of JSON and
# CSV would depend on the architecture that analysed the records.
add_compile_options(-ffp-contract=off)

if(PARETOPIPE_SANITIZE)
  add_compile_options(-fsanitize=${PARETOPIPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${PARETOPIPE_SANITIZE})
  if(PARETOPIPE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/scripts/cmake/ubsan-ignored.txt)
  endif()
  # It takes a fifth of the time.
  find_program(PARETOPIPE_LLD ld.lld)
  mark_as_advanced(PARETOPIPE_LLD)
  if(PARETOPIPE_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_link_options(-fuse-ld=lld)
  endif()
  # Half of what UBSan adds to the compile time of a test is checks of every pointer. Libraries and programs keep them.
  if(PARETOPIPE_SANITIZE MATCHES "undefined")
    set(PARETOPIPE_TEST_OPTIONS -fno-sanitize=null,alignment,vptr)
  endif()
endif()
