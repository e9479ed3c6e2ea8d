#pragma once
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::report {

/// Selects trials of a file. An absent condition restricts nothing.
struct TrialSelection {
  std::string id_prefix{};               ///< the first digits of Trial::id(), in lower or upper case
  std::optional<std::string> split{};    ///< as in format.hpp's split_number: "7", "3,7"
  std::optional<int> repetition{};       ///< counted from 1, as in Trial::label()
  std::optional<std::string> network{};  ///< the name of the profile
};

/// The selected trials, in their order. Throws UsageError, which lists the available trials, if there is none.
std::vector<record::TrialRecord> select_trials(std::span<const record::TrialRecord> records,
                                               const TrialSelection& selection);

/// One line per trial for a person who has to choose: id, label, status. The first twenty, and the number of the
/// others.
std::string describe_trials(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::report
