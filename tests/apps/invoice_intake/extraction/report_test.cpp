#include "invoice_intake/extraction/report.hpp"

#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

TEST(Report, ComesBackFromItsJson) {
  ExtractionReport report;
  report.headers =
      MailHeaders{.message_id = "a@b", .from = {}, .to = {}, .subject = "发票", .date = {}};
  AttachmentReport attachment;
  attachment.path = "发票.zip/a.pdf";
  attachment.name = "a.pdf";
  attachment.status = AttachmentStatus::processed;
  ExtractedInvoice invoice;
  invoice.number = Field{"25442000000012341234", Source::qr, 0.99};
  invoice.total = Field{"113.00", Source::text, 0.95};
  invoice.items.push_back(LineItem{.name = "纸",
                                   .specification = {},
                                   .unit = "箱",
                                   .quantity = {},
                                   .unit_price = {},
                                   .amount = "100.00",
                                   .tax_rate = "13%",
                                   .tax = {},
                                   .source = Source::ofd,
                                   .confidence = 0.5});
  invoice.warnings = {"w"};
  attachment.invoices.push_back(invoice);
  report.attachments.push_back(attachment);
  report.error = ExtractionError{"too_large", "…", false};
  EXPECT_EQ(report_from_json(to_json(report)), report);
}

TEST(Report, SaysWhichMemberIsWrong) {
  EXPECT_THROW((void)report_from_json("{}"), ValidationException);
  EXPECT_THROW((void)report_from_json(R"({"attachments":[{"path":1}]})"), ValidationException);
}

}  // namespace
}  // namespace errand::invoices
