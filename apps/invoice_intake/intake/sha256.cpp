#include "invoice_intake/intake/sha256.hpp"

#include <array>
#include <openssl/evp.h>
#include <stdexcept>

namespace errand::invoices {

std::string sha256_of(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error{"OpenSSL has no SHA-256"};
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace errand::invoices
