#include "invoice_intake/intake/originals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "errand/errors.hpp"
#include "errand/task_id.hpp"

#include "invoice_intake/intake/sha256.hpp"

namespace errand::invoices {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : descriptor_{open(path.c_str(), flags | O_CLOEXEC, 0600)} {
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), path.string()};
  }
  ~Descriptor() { close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw std::system_error{errno, std::generic_category(), "writing"};
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void sync() const {
    if (fsync(descriptor_) != 0) throw std::system_error{errno, std::generic_category(), "fsync"};
  }

 private:
  int descriptor_;
};

bool is_sha256(const std::string& text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Out of the way first, so that whoever keeps the same bytes just now writes them anew.
bool remove_if_older(const std::filesystem::path& file, std::filesystem::file_time_type until) {
  const std::filesystem::path aside =
      file.parent_path() / (".old-" + TaskId::generate().to_string());
  std::filesystem::rename(file, aside);
  if (std::filesystem::last_write_time(aside) > until) {
    std::filesystem::rename(aside, file);
    return false;
  }
  return std::filesystem::remove(aside);
}

}  // namespace

Originals::Originals(std::filesystem::path directory) : directory_{std::move(directory)} {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw ConfigurationException{"cannot make the directory " + directory_.string() +
                                 " for originals: " + error.message()};
  }
}

std::filesystem::path Originals::path_of(const std::string& sha256) const {
  if (!is_sha256(sha256)) throw ValidationException{"`" + sha256 + "` is not a SHA-256"};
  return directory_ / sha256.substr(0, 2) / sha256.substr(2);
}

std::string Originals::keep(std::string_view bytes) const {
  std::string sha256 = sha256_of(bytes);
  const std::filesystem::path path = path_of(sha256);
  // The time says that it is wanted: see remove_all_but().
  if (utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return sha256;
  if (errno != ENOENT) throw std::system_error{errno, std::generic_category(), path.string()};
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path unfinished =
      path.parent_path() / (".new-" + TaskId::generate().to_string());
  try {
    {
      const Descriptor out{unfinished, O_WRONLY | O_CREAT | O_EXCL};
      out.write_all(bytes);
      out.sync();
    }
    std::filesystem::rename(unfinished, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw;
  }
  Descriptor{path.parent_path(), O_RDONLY | O_DIRECTORY}.sync();
  Descriptor{directory_, O_RDONLY | O_DIRECTORY}.sync();
  return sha256;
}

RemovedOriginals Originals::remove_all_but(const std::set<std::string>& needed,
                                           bool dry_run) const {
  const auto until = std::filesystem::file_time_type::clock::now() - std::chrono::days{1};
  RemovedOriginals removed;
  for (const auto& folder : std::filesystem::directory_iterator{directory_}) {
    if (!folder.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator{folder}) {
      const std::string sha256 =
          folder.path().filename().string() + file.path().filename().string();
      const bool unfinished = file.path().filename().string().starts_with(".");
      if (!unfinished && (!is_sha256(sha256) || needed.contains(sha256))) continue;
      if (file.last_write_time() > until) continue;
      const auto size = static_cast<std::int64_t>(file.file_size());
      if (!dry_run && !remove_if_older(file.path(), until)) continue;
      ++removed.files;
      removed.bytes += size;
    }
  }
  return removed;
}

}  // namespace errand::invoices
