#pragma once
#include <filesystem>

namespace paretopipe::bench {

/// The driver's start-up, as whole processes.
void bench_startup(const std::filesystem::path& driver);

/// A Link against bare blocking sockets, in turns.
void bench_link();

/// A pipeline of stage processes: overhead, throughput at depth, accuracy over a grid, cost of the next trial.
void bench_pipeline(const std::filesystem::path& stage_program);

/// Sweeps of real models in the default mode and in eager mode, in turns: what a trial costs beyond its batches.
void bench_sweeps(const std::filesystem::path& stage_program);

/// Pipelines of two and four synthetic stages whose batches are cut into micro-batches: latency and throughput against
/// what they must be.
void bench_micro_batches(const std::filesystem::path& stage_program);

/// Equal synthetic stages that train: the time of a step and the bubble against what the schedule makes them.
void bench_training(const std::filesystem::path& stage_program);

/// One stage under Poisson arrivals: its mean wait against queueing theory.
void bench_server(const std::filesystem::path& stage_program);

}  // namespace paretopipe::bench
