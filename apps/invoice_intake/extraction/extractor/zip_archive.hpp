#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/extractor/unpacked.hpp"

struct zip;

namespace errand::invoices {

/// A zip file in memory, which must outlive this.
class ZipArchive {
 public:
  /// nullopt: not a zip file, or damaged beyond reading its list.
  static std::optional<ZipArchive> open(std::string_view bytes);

  [[nodiscard]] std::int64_t size() const;
  /// The name in UTF-8; names without a declared encoding that are not UTF-8 are taken for GB18030,
  /// as Chinese Windows writes them.
  [[nodiscard]] std::string name(std::int64_t index) const;
  [[nodiscard]] bool is_folder(std::int64_t index) const;
  [[nodiscard]] bool is_encrypted(std::int64_t index) const;
  [[nodiscard]] std::optional<std::int64_t> find(const std::string& name) const;

  /// What the archive's list says about the size is not believed.
  [[nodiscard]] Unpacked read(std::int64_t index, std::int64_t most) const;

 private:
  struct Close {
    void operator()(zip* archive) const noexcept;
  };
  explicit ZipArchive(zip* archive) : archive_{archive} {}
  std::unique_ptr<zip, Close> archive_;
};

}  // namespace errand::invoices
