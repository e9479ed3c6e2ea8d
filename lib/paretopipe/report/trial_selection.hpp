#pragma once
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::report {

/// Which trials of a file are meant. What is not given restricts nothing.
struct TrialSelection {
  std::string id_prefix{};               ///< the first digits of Trial::id(); upper case is taken, too
  std::optional<std::string> split{};    ///< as format.hpp's split_number: "7", "3,7"
  std::optional<int> repetition{};       ///< counted from 1, as Trial::label() does
  std::optional<std::string> network{};  ///< the name of the profile
};

/// The trials that are meant, in their order. Throws UsageError, saying which trials there are, if there is none.
std::vector<record::TrialRecord> select_trials(std::span<const record::TrialRecord> records,
                                               const TrialSelection& selection);

/// One line a trial for a person who has to choose: id, label, status. The first twenty, and how many there are more.
std::string describe_trials(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::report
