#pragma once
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/host/thermal.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

// Judges what on a machine would spoil or prevent a measurement. Judgement is pure; observe.hpp looks at the machine.

/// The stage program's linear algebra library, which determines the speed of every fully connected layer and more.
struct Blas {
  enum class Kind { optimised, reference, bundled };
  Kind kind = Kind::bundled;  ///< bundled: LibTorch brings its own
  std::string library;        ///< the loaded file; empty for bundled
};

inline constexpr const char* kPerformance = "performance";  ///< the governor that keeps the clock up

/// What was observed. What is absent could not be observed or does not exist here, and is not held against the machine.
struct Observations {
  std::optional<std::string> stage_program;    ///< its path
  std::string stage_program_error;             ///< why there is none
  std::vector<std::string> missing_libraries;  ///< shared libraries that the stage program needs but does not find
  std::optional<Blas> blas;
  bool fashion_mnist = false;                 ///< the default data set is where Debian's package puts it
  std::vector<std::string> missing_programs;  ///< programs that shape a network and are missing

  std::vector<CpuSet> cores;            ///< the CPUs that this process may use, grouped by physical core
  std::optional<double> cpu_quota;      ///< the control group's limit, in CPUs
  std::optional<std::string> governor;  ///< "powersave on CPUs 4-7" if others have another
  std::optional<bool> turbo;
  bool virtual_machine = false;
  std::optional<double> steal;  ///< share of the CPU time wanted since boot that the hypervisor gave to others
  double load_average_1min = 0;

  ThermalState thermal{};

  std::string clocksource;
  std::int64_t clock_read_ns = 0;  ///< duration of one reading of the steady clock

  std::int64_t available_memory_bytes = 0;
  std::int64_t swap_used_bytes = 0;
  std::optional<std::string> huge_pages;  ///< mode of transparent huge pages: always, madvise or never
};

enum class Level {
  ok,
  note,     ///< worth knowing when numbers are read
  warning,  ///< will spoil some numbers
  problem,  ///< no measurement is possible, or it says nothing about a deployment
};

struct Finding {
  std::string name;
  Level level = Level::ok;
  std::string observed;
  std::string why;       ///< why it matters
  std::string remedy{};  ///< what to do; empty if nothing can be done

  bool operator==(const Finding&) const = default;
};

/// Makes one finding for everything that was observed, good or bad, in the order of the observations.
std::vector<Finding> judge(const Observations& seen);

/// The level of the worst finding; ok for none.
Level worst(const std::vector<Finding>& findings);

std::string to_string(Level level);
void to_json(nlohmann::json& json, const Finding& finding);

/// Throws UsageError for an unknown level, and the JSON library's exception for a missing field.
void from_json(const nlohmann::json& json, Finding& finding);

// The parts of `judge`, by what they look at.

std::vector<Finding> judge_installation(const Observations& seen);  ///< programs, libraries, data
std::vector<Finding> judge_cpus(const Observations& seen);          ///< how many, how steady, how shared; the clock
std::vector<Finding> judge_memory(const Observations& seen);
std::vector<Finding> judge_thermal(const ThermalState& state);

}  // namespace paretopipe::host
