#include <paretopipe/host/observe.hpp>

#include <algorithm>
#include <string>

#include <support/catch.hpp>

using namespace paretopipe::host;
using Paths = std::vector<std::filesystem::path>;

TEST_CASE("the loader's list is read line by line: found, missing, and neither", "[libraries]") {
  const auto libraries = parse_loaded_libraries(
      "\tlinux-vdso.so.1 (0x00007ffd3b5f2000)\n"
      "\tlibtorch.so => /opt/my torch/lib/libtorch.so (0x00007f0000000000)\n"
      "\tlibgone.so.3 => not found\n"
      "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1111111111)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2222222222)\n");
  CHECK(libraries.found == Paths{"/opt/my torch/lib/libtorch.so", "/lib/x86_64-linux-gnu/libc.so.6"});
  CHECK(libraries.missing == std::vector<std::string>{"libgone.so.3"});
}

TEST_CASE("what is no list of libraries gives none", "[libraries]") {
  for (const auto* text : {"", "\n\n", "usage: stage serve | describe\n", " => ", " => \n", "\tx => y"}) {
    const auto libraries = parse_loaded_libraries(text);
    CAPTURE(text);
    CHECK(libraries.found.empty());
    CHECK(libraries.missing.empty());
  }
}

TEST_CASE("this test's own libraries can be asked for", "[libraries]") {
  const auto libraries = read_loaded_libraries("/proc/self/exe");
  REQUIRE(libraries);
  CHECK(libraries->missing.empty());
  const auto is_libc = [](const auto& path) { return path.filename().string().rfind("libc", 0) == 0; };
  CHECK(std::any_of(libraries->found.begin(), libraries->found.end(), is_libc));
  CHECK_FALSE(find_blas(libraries->found));
}

TEST_CASE("a program that does not exist, or fails, has no libraries", "[libraries]") {
  CHECK_FALSE(read_loaded_libraries("/nonexistent/stage"));
  CHECK_FALSE(read_loaded_libraries("/etc/passwd"));
}

TEST_CASE("an optimised BLAS is known by its name or by where libblas really lies", "[libraries]") {
  const auto kind_of = [](Paths libraries) {
    libraries.insert(libraries.begin(), "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13.1");
    return find_blas(libraries).value().kind;
  };
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/libblas.so.3", "/usr/lib/libopenblas.so.0"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/libmkl_rt.so"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3.10.3"}) == Blas::Kind::optimised);
}

TEST_CASE("a libblas that is nothing better is the reference BLAS", "[libraries]") {
  const auto blas = find_blas({"/usr/lib/libtorch.so", "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"}).value();
  CHECK(blas.kind == Blas::Kind::reference);
  CHECK(blas.library == "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0");
}

TEST_CASE("a LibTorch that loads no BLAS has its own, and without LibTorch nothing is said", "[libraries]") {
  CHECK(find_blas({"/opt/libtorch/lib/libtorch_cpu.so", "/lib/libm.so.6"}).value().kind == Blas::Kind::bundled);
  CHECK_FALSE(find_blas({"/lib/libblas.so.3", "/lib/libm.so.6"}));
  CHECK_FALSE(find_blas({}));
}
