#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "distributor_upgrade/commands/invocation.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"

/// The commands, without the command line: command_line.cpp fills their options.
namespace errand::distributors {

struct SetupOptions {
  std::string skip_levels{};  ///< `yes`, `no`, or empty: as it was
};
ExitCode run_setup(const SetupOptions& options, Invocation& invocation);

struct SeedOptions {
  std::int64_t count = 0;  ///< 0: the readable sample
};
ExitCode run_seed(const SeedOptions& options, Invocation& invocation);

struct LevelAddOptions {
  std::int64_t rank = 0;
  std::string name{};
  std::optional<std::string> criteria{};
};
ExitCode run_level_add(const LevelAddOptions& options, Invocation& invocation);

struct LevelSetOptions {
  std::string name{};
  std::optional<std::string> criteria{};
  bool by_hand = false;
};
ExitCode run_level_set(const LevelSetOptions& options, Invocation& invocation);
ExitCode run_level_remove(const std::string& name, Invocation& invocation);
ExitCode run_level_list(Invocation& invocation);
ExitCode run_level_figures(Invocation& invocation);

struct DistributorAddOptions {
  std::string name{};
  std::optional<std::int64_t> sponsor{};
};
ExitCode run_distributor_add(const DistributorAddOptions& options, Invocation& invocation);
ExitCode run_distributor_show(std::int64_t id, Invocation& invocation);

struct DistributorListOptions {
  std::int64_t after = 0;
  std::int64_t limit = 50;
};
ExitCode run_distributor_list(const DistributorListOptions& options, Invocation& invocation);

struct DistributorSetLevelOptions {
  std::int64_t id = 0;
  std::string level{};
};
ExitCode run_distributor_set_level(const DistributorSetLevelOptions& options,
                                   Invocation& invocation);

struct DistributorTreeOptions {
  std::optional<std::int64_t> id{};
  std::int64_t depth = 5;
  std::int64_t limit = 200;
};
ExitCode run_distributor_tree(const DistributorTreeOptions& options, Invocation& invocation);

struct WithdrawCreateOptions {
  std::int64_t distributor = 0;
  std::string amount{};
};
ExitCode run_withdraw_create(const WithdrawCreateOptions& options, Invocation& invocation);

/// `status`: processing, completed or failed.
ExitCode run_withdraw_move(std::int64_t id, WithdrawalStatus status, Invocation& invocation);

struct ListOptions {
  std::optional<std::int64_t> distributor{};
  std::int64_t limit = 50;
};
ExitCode run_withdraw_list(const ListOptions& options, Invocation& invocation);
ExitCode run_history(const ListOptions& options, Invocation& invocation);

struct CheckOptions {
  std::optional<std::int64_t> id{};
  bool all = false;
  bool dry_run = false;
  std::int64_t batch = 1000;
};
ExitCode run_check(const CheckOptions& options, Invocation& invocation);
ExitCode run_check_all(const CheckOptions& options, Invocation& invocation);

struct WorkerCommandOptions {
  std::int64_t concurrency = 0;
  std::int64_t limit = 0;
  bool drain = false;
  bool quiet = false;
};
ExitCode run_worker(const WorkerCommandOptions& options, Invocation& invocation);

struct SimulateOptions {
  std::int64_t rate = 100;
  std::chrono::milliseconds duration{60'000};
  std::chrono::milliseconds handling{30};
  std::int64_t concurrency = 8;
};
ExitCode run_simulate(const SimulateOptions& options, Invocation& invocation);

}  // namespace errand::distributors
