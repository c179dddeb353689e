// extract() with the real extractor, and with children that misbehave.
#include "invoice_intake/extraction/extract.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string kXml =
    "<?xml "
    "version=\"1.0\"?><EInvoice><Header><EIid>25442000000012341234</EIid></Header><EInvoiceData>"
    "<BasicInformation><TotalAmWithoutTax>100</TotalAmWithoutTax><TotalTaxAm>13</TotalTaxAm>"
    "<TotalTax-includedAmount>113</TotalTax-includedAmount><RequestTime>2025-02-08</RequestTime>"
    "</BasicInformation></EInvoiceData></EInvoice>";

class Extract : public ::testing::Test {
 protected:
  Extract() { options_.extractor = EXTRACTOR; }

  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    std::ofstream{directory_ / name, std::ios::binary} << bytes;
    return directory_ / name;
  }

  /// A program that speaks for the extractor.
  void impersonate(const std::string& script) {
    options_.extractor = write("child", "#!/bin/sh\n" + script);
    std::filesystem::permissions(options_.extractor, std::filesystem::perms::owner_all);
  }

  /// A message with text parts of these names and contents as attachments.
  static std::string mail(const std::vector<std::pair<std::string, std::string>>& files) {
    std::string text =
        "Message-ID: <m@example.com>\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
    for (const auto& [name, bytes] : files) {
      text +=
          "--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; "
          "filename=\"" +
          name + "\"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + bytes + "\r\n";
    }
    return text + "--b--\r\n";
  }

  testing::TempDir directory_;
  ExtractionOptions options_;
};

TEST_F(Extract, ReadsOneFile) {
  const ExtractionReport report = extract(write("a.xml", kXml), InputKind::file, options_);
  EXPECT_FALSE(report.error);
  EXPECT_FALSE(report.headers);
  ASSERT_EQ(report.attachments.size(), 1U);
  EXPECT_EQ(report.attachments[0].path, "a.xml");
  EXPECT_EQ(report.attachments[0].status, AttachmentStatus::processed);
  ASSERT_EQ(report.attachments[0].invoices.size(), 1U);
  EXPECT_EQ(report.attachments[0].invoices[0].total->value, "113.00");
  EXPECT_EQ(report.attachments[0].sha256.size(), 64U);
}

TEST_F(Extract, ReadsTheAttachmentsOfAMail) {
  const auto file = write("m.eml", mail({{"a.xml", kXml}, {"b.txt", "hello"}}));
  const ExtractionReport report = extract(file, InputKind::mail, options_);
  ASSERT_TRUE(report.headers);
  EXPECT_EQ(report.headers->message_id, "m@example.com");
  ASSERT_EQ(report.attachments.size(), 2U);
  EXPECT_EQ(report.attachments[0].status, AttachmentStatus::processed);
  EXPECT_EQ(report.attachments[1].status, AttachmentStatus::ignored);
  EXPECT_TRUE(report.attachments[1].reason);
}

TEST_F(Extract, InputLargerThanAllowedIsAnError) {
  options_.limits.input = 100;
  const ExtractionReport report = extract(write("a.xml", kXml), InputKind::file, options_);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, "too_large");
  EXPECT_FALSE(report.error->retryable);
}

TEST_F(Extract, DocumentsLargerThanAllowedAreErrorsOfTheirOwn) {
  options_.limits.decoded = 2000;
  const auto file = write("m.eml", mail({{"big.bin", std::string(5000, 'x')}, {"a.xml", kXml}}));
  const ExtractionReport report = extract(file, InputKind::mail, options_);
  EXPECT_FALSE(report.error);
  ASSERT_EQ(report.attachments.size(), 2U);
  EXPECT_EQ(report.attachments[0].error->code, "too_large");
  EXPECT_EQ(report.attachments[1].status, AttachmentStatus::processed);
}

/// Two small empty pages, and an invoice as XML attached inside.
std::string pdf_of_two_pages(const std::string& xml) {
  const std::string page = " 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 50 50]>>endobj\n";
  return "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a.xml) 3 0 "
         "R]>>>>>>endobj\n2 0 obj<</Type/Pages/Kids[5 0 R 6 0 R]/Count 2>>endobj\n"
         "3 0 obj<</Type/Filespec/F(a.xml)/UF(a.xml)/EF<</F 4 0 R>>>>endobj\n"
         "4 0 obj<</Type/EmbeddedFile/Length " +
         std::to_string(xml.size()) + ">>stream\n" + xml + "\nendstream endobj\n5" + page + "6" +
         page + "trailer<</Root 1 0 R>>\n%%EOF\n";
}

TEST_F(Extract, PagesBeyondTheLimitCostNothingOfWhatWasFound) {
  options_.limits.pages = 1;
  const ExtractionReport report =
      extract(write("a.pdf", pdf_of_two_pages(kXml)), InputKind::file, options_);
  ASSERT_EQ(report.attachments.size(), 1U);
  ASSERT_TRUE(report.attachments[0].error);
  EXPECT_EQ(report.attachments[0].error->code, "too_many_pages");
  ASSERT_EQ(report.attachments[0].invoices.size(), 1U);
  EXPECT_EQ(report.attachments[0].invoices[0].number.value, "25442000000012341234");
}

/// So many white pages of 40 × 40.
std::string tiff_of(int pages) {
  std::string tiff{"II*\0", 4};
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) tiff += static_cast<char>(value >> (8 * i));
  };
  constexpr std::uint32_t kPixels = 5 * 40;
  put(8 + kPixels, 4);
  tiff.append(kPixels, '\xff');
  for (int page = 0; page < pages; ++page) {
    // Tag, value: width, height, bits, no compression, black is 0, where, rows, how many bytes.
    const std::pair<std::uint32_t, std::uint32_t> entries[] = {
        {256, 40}, {257, 40}, {258, 1}, {259, 1}, {262, 1}, {273, 8}, {278, 40}, {279, kPixels}};
    put(std::size(entries), 2);
    for (const auto& [tag, value] : entries) {
      put(tag, 2);
      put(4, 2);
      put(1, 4);
      put(value, 4);
    }
    put(page + 1 < pages ? static_cast<std::uint32_t>(tiff.size() + 4) : 0, 4);
  }
  return tiff;
}

TEST_F(Extract, PagesOfAPictureBeyondTheLimitAreAnError) {
  options_.limits.pages = 2;
  const auto error_of = [&](int pages) {
    const ExtractionReport report =
        extract(write("a.tif", tiff_of(pages)), InputKind::file, options_);
    EXPECT_EQ(report.attachments.size(), 1U);
    return report.attachments.at(0).error ? report.attachments[0].error->code : "";
  };
  EXPECT_EQ(error_of(2), "");
  EXPECT_EQ(error_of(3), "too_many_pages");
}

TEST_F(Extract, AFileThatIsNotThereIsTheCallersMistake) {
  EXPECT_THROW((void)extract(directory_ / "none", InputKind::file, options_), std::system_error);
}

TEST_F(Extract, AnExtractorThatIsNotThereIsSaid) {
  options_.extractor = directory_ / "none";
  const auto file = write("a.xml", kXml);
  EXPECT_THROW((void)extract(file, InputKind::file, options_), ExtractorUnavailable);
}

TEST_F(Extract, TheSandboxRefusesEverythingItPromises) {
  FILE* pipe = popen((std::string{EXTRACTOR} + " --probe").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  std::array<char, 256> chunk;
  while (fgets(chunk.data(), chunk.size(), pipe) != nullptr) said += chunk.data();
  EXPECT_EQ(pclose(pipe), 0) << said;
  for (const char* what : {"socket", "fork", "ptrace", "kill", "create a file", "read /etc/passwd",
                           "raise a limit", "exec"}) {
    EXPECT_THAT(said, HasSubstr(what));
  }
  EXPECT_EQ(said.find("ALLOWED"), std::string::npos) << said;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Extract, MoreMemoryThanAllowedIsAnErrorOfTheAttachment) {
  // A bitmap of 48 million pixels: decoded it takes more than what the input leaves.
  std::string bmp(54, '\0');
  bmp[0] = 'B';
  bmp[1] = 'M';
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i)
      bmp[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(10, 54);
  put(14, 40);
  put(18, 6000);
  put(22, 8000);
  put(26, 1 | 24U << 16U);
  bmp.resize(54 + std::size_t{6000} * 3 * 8000, '\x7F');
  options_.limits.memory = std::int64_t{320} << 20;
  options_.limits.input = std::int64_t{200} << 20;
  const ExtractionReport report = extract(write("a.bmp", bmp), InputKind::file, options_);
  ASSERT_FALSE(report.attachments.empty());
  EXPECT_EQ(report.attachments[0].status, AttachmentStatus::failed);
  EXPECT_NE(report.attachments[0].error->code, "time_limit");
}
#endif

TEST_F(Extract, ACrashLosesOneAttachmentOnly) {
  // Speaks the protocol; kills itself at the second of three.
  impersonate(R"sh(
begin='{"event":"begin","index":%s,"attachment":{"path":"%s","name":"%s","media_type":"t","size":1,"sha256":"","status":"ignored","invoices":[],"milliseconds":{"text":0,"render":0,"qr":0,"ocr":0,"total":0}}}\n'
end='{"event":"end","index":%s,"attachment":{"path":"%s","name":"%s","media_type":"t","size":1,"sha256":"","status":"ignored","invoices":[],"milliseconds":{"text":0,"render":0,"qr":0,"ocr":0,"total":0}}}\n'
case "$1" in *'"first":0'*)
  printf "$begin" 0 a a; printf "$end" 0 a a
  printf "$begin" 1 b b; kill -SEGV $$ ;;
*'"first":2'*'"skip":[1]'*)
  printf "$begin" 2 c c; printf "$end" 2 c c; echo '{"event":"done"}' ;;
esac
)sh");
  const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
  EXPECT_FALSE(report.error);
  ASSERT_EQ(report.attachments.size(), 3U);
  EXPECT_EQ(report.attachments[0].status, AttachmentStatus::ignored);
  EXPECT_EQ(report.attachments[1].status, AttachmentStatus::failed);
  EXPECT_EQ(report.attachments[1].error->code, "extractor_crashed");
  EXPECT_EQ(report.attachments[1].path, "b");
  EXPECT_EQ(report.attachments[2].path, "c");
}

TEST_F(Extract, AChildThatHangsIsKilledAtTheTimeLimit) {
  impersonate("while :; do :; done");
  options_.limits.attachment_time = 200ms;
  const auto start = std::chrono::steady_clock::now();
  const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, "time_limit");
}

TEST_F(Extract, AChildThatNeverStopsTalkingIsKilled) {
  impersonate("exec yes '{\"event\":\"headers\",\"headers\":{}}'");
  options_.limits.output = 1 << 20;
  const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, "output_limit");
}

TEST_F(Extract, NonsenseIsNotBelieved) {
  for (const char* line :
       {"hello", "{}", R"({"event":"end","index":5})", R"({"event":"begin","index":-1})"}) {
    impersonate(std::string{"echo '"} + line + "'; sleep 60");
    const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
    ASSERT_TRUE(report.error) << line;
    EXPECT_EQ(report.error->code, "extractor_error") << line;
    EXPECT_TRUE(report.attachments.empty()) << line;
  }
}

TEST_F(Extract, WhatTheChildSaysOnStandardErrorIsReportedHarmlessly) {
  impersonate("printf 'broken\\033[31m' >&2; exit 3");
  const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("status 3: broken?[31m"));
}

TEST_F(Extract, TheChildSeesNoneOfOurEnvironment) {
  setenv("DATABASE_PASSWORD", "secret", 1);
  impersonate("env >&2; exit 3");
  const ExtractionReport report = extract(write("m.eml", "x"), InputKind::mail, options_);
  unsetenv("DATABASE_PASSWORD");
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("OMP_THREAD_LIMIT=1"));
  EXPECT_EQ(report.error->message.find("secret"), std::string::npos);
}

TEST_F(Extract, AStopEndsIt) {
  impersonate("echo '{\"event\":\"headers\",\"headers\":{}}'; exec sleep 60");
  std::stop_source stop;
  stop.request_stop();
  const ExtractionReport report =
      extract(write("m.eml", "x"), InputKind::mail, options_, stop.get_token());
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, "stopped");
  EXPECT_TRUE(report.error->retryable);
}

/// Of this process, at most, so far; kibibytes.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_F(Extract, MemoryOfThisProcessDoesNotGrowWithTheInput) {
  const auto file =
      write("m.eml", mail({{"big.bin", std::string(std::size_t{40} << 20, 'x')}, {"a.xml", kXml}}));
  (void)extract(write("a.xml", kXml), InputKind::file, options_);
  const long before = peak_memory();
  for (int i = 0; i < 2; ++i) {
    const ExtractionReport report = extract(file, InputKind::mail, options_);
    EXPECT_EQ(report.attachments.size(), 2U);
  }
  EXPECT_LT(peak_memory() - before, 8 * 1024);
}

TEST_F(Extract, ManyThreadsMayCallIt) {
  const auto file = write("m.eml", mail({{"a.xml", kXml}}));
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 5; ++j) {
        const ExtractionReport report = extract(file, InputKind::mail, options_);
        if (report.attachments.size() == 1 && report.attachments[0].invoices.size() == 1) ++right;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right, 20);
}

}  // namespace
}  // namespace errand::invoices
