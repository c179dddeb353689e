#include "engine/postgres/wire.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "errand/errors.hpp"

namespace errand::postgres {
namespace {

// From the server's catalog, where they never change.
constexpr std::uint32_t kInt8 = 20;
constexpr std::uint32_t kText = 25;
constexpr std::uint32_t kTid = 27;
constexpr std::uint32_t kUuid = 2950;

constexpr int kBinary = 1;

/// Times count from here.
constexpr Timestamp kEpoch = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};

template <class Integer>
void put(std::string& bytes, Integer value) {
  auto unsigned_value = static_cast<std::make_unsigned_t<Integer>>(value);
  std::array<char, sizeof(Integer)> big_endian;
  for (std::size_t i = sizeof(Integer); i-- > 0;) {
    big_endian[i] = static_cast<char>(unsigned_value & 0xff);
    if constexpr (sizeof(Integer) > 1) unsigned_value >>= 8;
  }
  bytes.append(big_endian.data(), big_endian.size());
}

void put(std::string& bytes, const TaskId& id) {
  bytes.append(reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size());
}

[[noreturn]] void misread(std::string_view what, std::string_view bytes) {
  throw StorageException{"PostgreSQL sent " + std::to_string(bytes.size()) + " bytes for " +
                             std::string{what} + ": are the tables those of `errand setup`?",
                         StorageException::Retry::useless};
}

}  // namespace

void Parameters::begin() { offsets_.push_back(static_cast<std::ptrdiff_t>(bytes_.size())); }

void Parameters::end() {
  lengths_.push_back(
      static_cast<int>(static_cast<std::ptrdiff_t>(bytes_.size()) - offsets_.back()));
  formats_.push_back(kBinary);
}

void Parameters::add_null() {
  offsets_.push_back(-1);
  lengths_.push_back(0);
  formats_.push_back(kBinary);
}

Parameters& Parameters::add(std::int64_t value) {
  begin();
  put(bytes_, value);
  end();
  return *this;
}

Parameters& Parameters::add(bool value) {
  begin();
  bytes_.push_back(value ? '\1' : '\0');
  end();
  return *this;
}

Parameters& Parameters::add(std::string_view text) {
  begin();
  bytes_.append(text);
  end();
  return *this;
}

Parameters& Parameters::add(const std::optional<std::string>& text) {
  if (text) return add(std::string_view{*text});
  add_null();
  return *this;
}

Parameters& Parameters::add(const TaskId& id) {
  begin();
  put(bytes_, id);
  end();
  return *this;
}

Parameters& Parameters::add(Timestamp time) { return add(std::int64_t{(time - kEpoch).count()}); }

Parameters& Parameters::add(const std::optional<Timestamp>& time) {
  if (time) return add(*time);
  add_null();
  return *this;
}

template <class T, class Write>
void Parameters::add_array(std::uint32_t element_type, std::span<const T> elements, Write&& write) {
  begin();
  put(bytes_, std::int32_t{elements.empty() ? 0 : 1});  // dimensions
  put(bytes_, std::int32_t{1});                         // there may be NULLs
  put(bytes_, static_cast<std::int32_t>(element_type));
  if (!elements.empty()) {
    put(bytes_, static_cast<std::int32_t>(elements.size()));
    put(bytes_, std::int32_t{1});  // counted from 1
    for (const T& element : elements) write(element);
  }
  end();
}

Parameters& Parameters::add(std::span<const TaskId> ids) {
  add_array(kUuid, ids, [&](const TaskId& id) {
    put(bytes_, static_cast<std::int32_t>(id.bytes().size()));
    put(bytes_, id);
  });
  return *this;
}

Parameters& Parameters::add(std::span<const std::int64_t> numbers) {
  add_array(kInt8, numbers, [&](std::int64_t number) {
    put(bytes_, static_cast<std::int32_t>(sizeof number));
    put(bytes_, number);
  });
  return *this;
}

Parameters& Parameters::add(std::span<const Tid> places) {
  add_array(kTid, places, [&](const Tid& place) {
    put(bytes_, static_cast<std::int32_t>(sizeof place.block + sizeof place.row));
    put(bytes_, place.block);
    put(bytes_, place.row);
  });
  return *this;
}

Parameters& Parameters::add(std::span<const std::string> texts) {
  add_array(kText, texts, [&](const std::string& text) {
    put(bytes_, static_cast<std::int32_t>(text.size()));
    bytes_.append(text);
  });
  return *this;
}

Parameters& Parameters::add(std::span<const std::string_view> texts) {
  add_array(kText, texts, [&](std::string_view text) {
    put(bytes_, static_cast<std::int32_t>(text.size()));
    bytes_.append(text);
  });
  return *this;
}

Parameters& Parameters::add(std::span<const std::optional<std::string>> texts) {
  add_array(kText, texts, [&](const std::optional<std::string>& text) {
    put(bytes_, text ? static_cast<std::int32_t>(text->size()) : std::int32_t{-1});
    if (text) bytes_.append(*text);
  });
  return *this;
}

const char* const* Parameters::values() {
  values_.clear();
  for (const std::ptrdiff_t offset : offsets_) {
    values_.push_back(offset < 0 ? nullptr : bytes_.data() + offset);
  }
  return values_.data();
}

std::int64_t read_integer(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > sizeof(std::int64_t)) misread("a number", bytes);
  // The sign of the first byte is that of the number.
  std::uint64_t value = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0 ? ~0ULL : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(value);
}

Timestamp read_time(std::string_view bytes) {
  if (bytes.size() != sizeof(std::int64_t)) misread("a time", bytes);
  // `infinity` is the largest number; adding the epoch would overflow.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 60;
  const std::int64_t micros = std::clamp(read_integer(bytes), -kFarthest, kFarthest);
  return kEpoch + std::chrono::microseconds{micros};
}

TaskId read_task_id(std::string_view bytes) {
  std::array<std::uint8_t, 16> raw{};
  if (bytes.size() != raw.size()) misread("an id", bytes);
  std::memcpy(raw.data(), bytes.data(), raw.size());
  const std::optional<TaskId> id = TaskId::from_bytes(raw);
  if (!id) {
    throw ValidationException{"a stored task has an id that is no UUID v4"};
  }
  return *id;
}

Tid read_tid(std::string_view bytes) {
  if (bytes.size() != sizeof(Tid::block) + sizeof(Tid::row)) misread("a place", bytes);
  return Tid{.block = static_cast<std::uint32_t>(read_integer(bytes.substr(0, sizeof(Tid::block)))),
             .row = static_cast<std::uint16_t>(read_integer(bytes.substr(sizeof(Tid::block))))};
}

}  // namespace errand::postgres
