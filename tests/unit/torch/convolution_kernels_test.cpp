#include <paretopipe/compute/torch/convolution_kernels.hpp>

#include <cstdio>

#include <unistd.h>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::compute {
namespace {

using Kernels = std::vector<std::string>;

TEST_CASE("kernels are read from what releases of oneDNN log of convolutions that they executed, each once") {
  const std::string older =
      "dnnl_verbose,info,oneDNN v2.6.3 (commit N/A)\n"
      "dnnl_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 "
      "dst_f32::blocked:aBcd8b:f0,,,1x32x14x14,0.01\n"
      "dnnl_verbose,exec,cpu,convolution,jit_1x1:avx2,forward_inference,src_f32::blocked:aBcd8b:f0,,alg:convolution_"
      "direct\n"
      "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,src_f32::blocked:aBcd8b:f0,,alg:convolution_"
      "direct\n"
      "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,src_f32::blocked:aBcd8b:f0,,alg:convolution_"
      "direct\n";
  CHECK(kernels_in_log(older) == Kernels{"jit_1x1:avx2", "jit:avx2"});
  const std::string newer =
      "onednn_verbose,v1,primitive,create:cache_miss,cpu,convolution,brgconv:avx512_core,forward_inference\n"
      "onednn_verbose,v1,primitive,exec,cpu,convolution,gemm:ref,forward_inference,src:f32::blocked:abcd::f0\n";
  CHECK(kernels_in_log(newer) == Kernels{"gemm:ref"});
  CHECK(kernels_in_log("").empty());
  CHECK(kernels_in_log("dnnl_verbose,exec,cpu,convolution,jit:avx2") == Kernels{"jit:avx2"});  // cut off
}

TEST_CASE("this machine's kernels are the same whenever they are asked for, and stdout is what it was") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "stdout";
  std::fflush(stdout);
  const int original = ::dup(STDOUT_FILENO);
  REQUIRE(std::freopen(file.c_str(), "w", stdout) != nullptr);
  std::printf("before, ");
  const auto first = convolution_kernels();
  const auto second = convolution_kernels();
  std::printf("after");
  std::fflush(stdout);
  ::dup2(original, STDOUT_FILENO);
  ::close(original);
  CHECK(support::read_file(file) == "before, after");
  CHECK(first == second);
  if (first) {
    CHECK_FALSE(first->empty());
    CHECK(first->size() <= 3);
  }
}

}  // namespace
}  // namespace paretopipe::compute
