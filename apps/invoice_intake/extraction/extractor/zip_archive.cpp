#include "invoice_intake/extraction/extractor/zip_archive.hpp"

#include <glib.h>
#include <zip.h>

namespace errand::invoices {
namespace {

struct CloseFile {
  void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
};

}  // namespace

void ZipArchive::Close::operator()(zip* archive) const noexcept { zip_discard(archive); }

std::optional<ZipArchive> ZipArchive::open(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) return std::nullopt;
  zip* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    return std::nullopt;
  }
  return ZipArchive{archive};
}

std::int64_t ZipArchive::size() const { return zip_get_num_entries(archive_.get(), 0); }

std::string ZipArchive::name(std::int64_t index) const {
  const char* raw = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_FL_ENC_RAW);
  if (raw == nullptr) return {};
  if (g_utf8_validate(raw, -1, nullptr) != 0) return raw;
  char* converted = g_convert(raw, -1, "UTF-8", "GB18030", nullptr, nullptr, nullptr);
  if (converted == nullptr) return "unnamed";
  std::string name = converted;
  g_free(converted);
  return name;
}

bool ZipArchive::is_folder(std::int64_t index) const { return name(index).ends_with('/'); }

bool ZipArchive::is_encrypted(std::int64_t index) const {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(index), 0, &status) != 0)
    return false;
  return (status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 &&
         status.encryption_method != ZIP_EM_NONE;
}

std::optional<std::int64_t> ZipArchive::find(const std::string& name) const {
  const zip_int64_t index = zip_name_locate(archive_.get(), name.c_str(), ZIP_FL_NOCASE);
  return index < 0 ? std::nullopt : std::optional{index};
}

Unpacked ZipArchive::read(std::int64_t index, std::int64_t most) const {
  const std::unique_ptr<zip_file_t, CloseFile> file{
      zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0)};
  if (!file) return {.bytes = {}, .damaged = true};
  return unpack(most,
                [&](char* data, std::size_t size) { return zip_fread(file.get(), data, size); });
}

}  // namespace errand::invoices
