#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/render/table.hpp>

#include <string>
#include <vector>

namespace paretopipe::render {

// What explains the time of a step of training, in words. All of these need `one.step`.

/// How fast it is and how fast its schedule could be.
std::string step_headline(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// What a step's time is made of, the largest first, and what would help.
std::vector<std::string> step_remarks(const diagnosis::GroupDiagnosis& group,
                                      const diagnosis::ConfigurationDiagnosis& one);

/// The fastest way to train of a group, and how it compares with one device.
std::string step_conclusion(const diagnosis::GroupDiagnosis& group);

/// A column for each stage, and a row for each part of a step.
std::vector<Table::Column> step_columns(const diagnosis::ConfigurationDiagnosis& one);
std::vector<std::vector<std::string>> step_rows(const diagnosis::ConfigurationDiagnosis& one);

}  // namespace paretopipe::render
