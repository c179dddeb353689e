#pragma once

#include <optional>
#include <string>

#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/progress.hpp"
#include "errand/retry.hpp"

/// The parts of a task that engines store as JSON. Reading is lenient: a task whose metadata
/// somebody damaged is worth more than its metadata.
namespace errand::detail {

/// nullopt: nothing but max_retries, which is stored by itself, differs from the default policy.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> retry_policy_json(const RetryPolicy& policy);
[[nodiscard]] ERRAND_EXPORT RetryPolicy read_retry_policy(int max_retries,
                                                          const std::optional<std::string>& json);

/// nullopt: there are none.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> headers_json(const Headers& headers);
[[nodiscard]] ERRAND_EXPORT Headers read_headers(const std::optional<std::string>& json);

[[nodiscard]] ERRAND_EXPORT std::string progress_json(const Progress& progress);
[[nodiscard]] ERRAND_EXPORT std::optional<Progress> read_progress(
    const std::optional<std::string>& json);

}  // namespace errand::detail
