# A Debian package of what is installed: cmake --build --preset release --target package. It is for the release of Debian that
# it was built on, whose LibTorch it depends on. The preset arm64 makes one for arm64.
set(PARETOPIPE_PACKAGE_CONTACT "paretopipe <paretopipe@example.org>" CACHE STRING "Maintainer of the package")
mark_as_advanced(PARETOPIPE_PACKAGE_CONTACT)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME paretopipe)
set(CPACK_PACKAGE_CONTACT ${PARETOPIPE_PACKAGE_CONTACT})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What no linker knows of: a fast BLAS behind LibTorch, and what shapes a network.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0-openmp | libopenblas0, iproute2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS dataset-fashion-mnist)

# Otherwise CPack asks dpkg, which knows the machine that builds, and not the one that the package is for.
set(architectures x86_64=amd64 aarch64=arm64 armv7l=armhf ppc64le=ppc64el riscv64=riscv64)
foreach(entry IN LISTS architectures)
  string(REPLACE "=" ";" entry ${entry})
  list(GET entry 0 processor)
  if(processor STREQUAL CMAKE_SYSTEM_PROCESSOR)
    list(GET entry 1 CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
  endif()
endforeach()

# The packages of the libraries that the programs load. A cross build's libraries are in its sysroot, where dpkg-shlibdeps
# does not look: whoever has them in sight turns it on.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ${PARETOPIPE_PACKAGE_SHLIBDEPS})
if(NOT DEFINED PARETOPIPE_PACKAGE_SHLIBDEPS AND DPKG_SHLIBDEPS AND NOT CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

include(CPack)
