#pragma once

#include <string>

namespace errand::invoices {

struct SampleMail {
  std::string message_id = "<1@mail.example.com>";
  std::string to = "ann+invoice@example.com";
  std::string subject = "Invoice";
  std::string more_headers{};  ///< each with its line's end
  std::string attachment = "an attachment";
};

inline std::string make_mail(const SampleMail& mail) {
  return "From: Billing <billing@seller.example>\r\nTo: " + mail.to +
         "\r\nSubject: " + mail.subject + "\r\nDate: Thu, 01 Jan 2026 10:00:00 +0800\r\n" +
         (mail.message_id.empty() ? "" : "Message-ID: " + mail.message_id + "\r\n") +
         mail.more_headers +
         "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
         "--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n请查收附件中的发票\r\n"
         "--b\r\nContent-Type: application/pdf; name=\"invoice.pdf\"\r\n"
         "Content-Disposition: attachment; filename=\"invoice.pdf\"\r\n\r\n" +
         mail.attachment + "\r\n--b--\r\n";
}

}  // namespace errand::invoices
