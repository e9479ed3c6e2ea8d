#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>
#include <string>

namespace paretopipe::fakes {

/// `inner`, except that `forward` over the blocks [begin, end) misbehaves as `fault` says:
/// "ACTION@BEGIN-END@CALL[@MARKER]". ACTION is kill (SIGKILL of itself), hang (stops computing), stop (SIGSTOP of
/// itself), toil (computes on for two seconds of CPU time), tire (every call from then on takes 5 ms longer), gate
/// (goes on only when somebody has removed the file MARKER), throw (an error), wrong (one bit of the output flipped),
/// off (its first number becomes another one), nan (that becomes NaN, as do the losses of a training from then on) or
/// nogradients (so does the first number of every gradient from then on). CALL counts the calls over that range from 1.
/// With MARKER, a path, it happens only while no file of that name exists, and writes the process's id into it before
/// anything else: once in a sweep, however often the process is started, and visible from outside. An empty `fault`
/// changes nothing. "denormals" says that denormal numbers are not computed as zero, and "reference kernels" that
/// oneDNN has no others. "small machine" refuses GPUs, and more threads than CPUs. "slower" makes every block of a
/// synthetic model, in whole milliseconds, take a tenth longer than its name says. The model is computed in every mode
/// alike. Models and data may be of files (seen_files.hpp).
std::unique_ptr<stage::Backend> make_faulty_backend(std::unique_ptr<stage::Backend> inner, const std::string& fault);

}  // namespace paretopipe::fakes
