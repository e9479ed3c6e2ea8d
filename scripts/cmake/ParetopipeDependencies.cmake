# Every dependency is declared here and nowhere else. scripts/setup installs them on Debian; elsewhere point
# CMAKE_PREFIX_PATH at them. Why each one is there is in the README's table.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto SSL)

# Neither has a CMake package in every Debian.
function(paretopipe_find_compressor name header)
  find_path(PARETOPIPE_${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(PARETOPIPE_${name}_LIBRARY ${name} REQUIRED)
  add_library(paretopipe_${name} INTERFACE)
  target_include_directories(paretopipe_${name} SYSTEM INTERFACE ${PARETOPIPE_${name}_INCLUDE_DIR})
  target_link_libraries(paretopipe_${name} INTERFACE ${PARETOPIPE_${name}_LIBRARY})
endfunction()
paretopipe_find_compressor(zstd zstd.h)
paretopipe_find_compressor(lz4 lz4.h)

# Header-only Asio: newer Boosts ship only the CMake package, older ones only what FindBoost knows.
find_package(Boost 1.74 CONFIG QUIET)
if(NOT Boost_FOUND)
  find_package(Boost 1.74 REQUIRED)
endif()

if(PARETOPIPE_BUILD_STAGE)
  find_package(PNG REQUIRED)
  find_package(Torch 1.13 QUIET)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR
      "LibTorch (1.13 or newer) was not found. On Debian run scripts/setup; elsewhere unpack LibTorch and pass "
      "-DCMAKE_PREFIX_PATH=/path/to/libtorch. To build without it, for the driver and the offline commands only, pass "
      "-DPARETOPIPE_BUILD_STAGE=OFF.")
  endif()
  # TORCH_LIBRARIES as one target whose headers are SYSTEM: their warnings are not ours to fix.
  add_library(paretopipe_torch INTERFACE)
  target_include_directories(paretopipe_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(paretopipe_torch INTERFACE ${TORCH_LIBRARIES})
  separate_arguments(TORCH_FLAGS NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(paretopipe_torch INTERFACE ${TORCH_FLAGS})
  # GCC doubts templates of LibTorch 2 that are inlined into our functions, where SYSTEM no longer shields us.
  target_compile_options(paretopipe_torch INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # LibTorch is built for release, and without NDEBUG its headers declare members that it does not have.
  target_compile_definitions(paretopipe_torch INTERFACE NDEBUG)

  # Gloo is inside of LibTorch, if that was built with it; its headers come apart. Without either, replicas cannot train.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${TORCH_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${TORCH_LIBRARIES})
  set(CMAKE_REQUIRED_FLAGS "${TORCH_CXX_FLAGS} -DUSE_C10D_GLOO")
  check_cxx_source_compiles([[
    #include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
    int main() { return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1") == nullptr; }
  ]] PARETOPIPE_HAS_GLOO)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_FLAGS)
  add_library(paretopipe_gloo INTERFACE)
  if(PARETOPIPE_HAS_GLOO)
    target_compile_definitions(paretopipe_gloo INTERFACE USE_C10D_GLOO)
  endif()
endif()

if(PARETOPIPE_BUILD_TESTS)
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 REQUIRED)
  endif()
endif()
