#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/database_under_test.hpp"
#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreTest : public DatabaseTest {
 protected:
  EmailProcessingTask store(const Profile& user, EmailProcessingTask task) {
    task.user_id = user.user_id;
    database->write(user.user_id,
                    [&](Session& session) { ASSERT_TRUE(insert_task(session, task)); });
    return task;
  }
  EmailProcessingTask store(const Profile& user, const std::string& subject = "发票") {
    EmailProcessingTask task{.user_id = user.user_id};
    task.email_subject = subject;
    return store(user, std::move(task));
  }
  std::optional<EmailProcessingTask> load(const Profile& user, const EmailTaskId& id) {
    std::optional<EmailProcessingTask> task;
    database->read(user.user_id, [&](Session& session) { task = find_task(session, id); });
    return task;
  }
  void update(const Profile& user, EmailProcessingTask& task) {
    database->write(user.user_id, [&](Session& session) { update_task(session, task); });
  }
  EmailTaskPage list(const Profile& user, const EmailTaskFilter& filter = {}, std::int64_t page = 1,
                     std::int64_t page_size = 20) {
    EmailTaskPage result;
    database->read(user.user_id, [&](Session& session) {
      result = list_tasks(session, filter, page, page_size);
    });
    return result;
  }
  std::vector<std::string> subjects(const EmailTaskFilter& filter) {
    std::vector<std::string> found;
    for (const EmailProcessingTask& task : list(ann, filter).items) {
      found.push_back(task.email_subject.value_or(""));
    }
    return found;
  }
  StoredInvoice store_one(const Profile& user, const std::string& number,
                          std::optional<std::string> code = std::nullopt) {
    Invoice invoice{.user_id = user.user_id};
    invoice.invoice_number = number;
    invoice.invoice_code = std::move(code);
    std::optional<StoredInvoice> stored;
    database->write(user.user_id,
                    [&](Session& session) { stored = store_invoice(session, invoice); });
    return *stored;
  }
};

TEST_P(StoreTest, ATaskComesBackAsItWasStored) {
  EmailProcessingTask task{.user_id = ann.user_id};
  task.task_type = TaskType::batch_import;
  task.task_data = R"({"email_data":{"subject":"发票-订单12345"}})";
  task.metadata = R"({"source":"mail"})";
  task.email_message_id = "20250703123456.abcd@company.com";
  task.email_from = "finance@company.com";
  task.email_subject = "【重要】2025年7月发票";
  task.email_received_at = parse_iso8601("2025-07-03T12:34:56.123456Z");
  task.attachments_count = 2;
  task = store(ann, task);

  task.start_processing(*parse_iso8601("2025-07-03T12:35:00Z"), "errand-task");
  task.fail_processing({.type = "E", .code = "c", .message = "无法识别发票格式"},
                       *parse_iso8601("2025-07-03T12:35:01.800Z"));
  task.schedule_retry(*parse_iso8601("2025-07-03T12:35:02Z"));
  update(ann, task);

  const EmailProcessingTask loaded = load(ann, task.id).value();
  EXPECT_EQ(loaded.task_type, TaskType::batch_import);
  EXPECT_EQ(loaded.status, EmailTaskStatus::retrying);
  EXPECT_EQ(loaded.task_id, "errand-task");
  EXPECT_EQ(parse_json(loaded.task_data), parse_json(task.task_data));
  EXPECT_EQ(parse_json(loaded.metadata), parse_json(task.metadata));
  EXPECT_EQ(parse_json(loaded.error_details.value()), parse_json(task.error_details.value()));
  EXPECT_EQ(loaded.error_message, "无法识别发票格式");
  EXPECT_EQ(loaded.email_message_id, task.email_message_id);
  EXPECT_EQ(loaded.email_from, task.email_from);
  EXPECT_EQ(loaded.email_subject, task.email_subject);
  EXPECT_EQ(loaded.email_received_at, task.email_received_at);
  EXPECT_EQ(loaded.attachments_count, 2);
  EXPECT_EQ(loaded.retry_count, 1);
  EXPECT_EQ(loaded.next_retry_at, task.next_retry_at);
  EXPECT_EQ(loaded.started_at, task.started_at);
  EXPECT_EQ(loaded.completed_at, task.completed_at);
  EXPECT_EQ(loaded.processing_time, 1800ms);
  EXPECT_EQ(loaded.version, 2);
  EXPECT_EQ(loaded.created_by, ann.user_id.text());
  EXPECT_EQ(loaded.updated_by, ann.user_id.text());
}

TEST_P(StoreTest, AnEmailIsStoredOnceForEachUser) {
  EmailProcessingTask task{.user_id = ann.user_id};
  task.email_message_id = "1@mail.example.com";
  const EmailProcessingTask first = store(ann, task);
  database->write(ann.user_id, [&](Session& session) {
    EmailProcessingTask again{.user_id = ann.user_id};
    again.email_message_id = task.email_message_id;
    EXPECT_FALSE(insert_task(session, again));
    EXPECT_EQ(find_task_of_message(session, "1@mail.example.com")->id, first.id);
  });
  EmailProcessingTask other{.user_id = bob.user_id};
  other.email_message_id = task.email_message_id;
  store(bob, other);
  EXPECT_EQ(list(ann).total, 1);
  EXPECT_EQ(list(bob).total, 1);
}

TEST_P(StoreTest, AChangeOnTopOfAnOlderVersionIsRefused) {
  EmailProcessingTask mine = store(ann);
  EmailProcessingTask theirs = load(ann, mine.id).value();
  mine.start_processing(mine.created_at);
  update(ann, mine);
  theirs.cancel(theirs.created_at);
  EXPECT_THROW(update(ann, theirs), ConcurrentModificationException);
  EXPECT_EQ(load(ann, mine.id)->status, EmailTaskStatus::processing);
}

TEST_P(StoreTest, ADeletedTaskIsHiddenUntilItIsRestored) {
  EmailProcessingTask task = store(ann);
  database->write(ann.user_id, [&](Session& session) { delete_task(session, task); });
  EXPECT_EQ(list(ann).total, 0);
  EXPECT_EQ(list(ann, {.deleted = true}).total, 1);
  EXPECT_TRUE(load(ann, task.id)->deleted_at.has_value());
  database->write(ann.user_id, [&](Session& session) { restore_task(session, task); });
  EXPECT_EQ(list(ann).total, 1);
  EXPECT_EQ(load(ann, task.id)->version, 3);
}

TEST_P(StoreTest, PagesCoverAllTasksTheNewestFirst) {
  for (int i = 0; i < 7; ++i) store(ann, "s" + std::to_string(i));
  EXPECT_EQ(list(ann, {}, 1, 3).total, 7);
  EXPECT_EQ(list(ann, {}, 1, 3).total_pages(), 3);
  EXPECT_EQ(list(ann, {}, 1, 3).items.front().email_subject, "s6");
  EXPECT_EQ(list(ann, {}, 3, 3).items.size(), 1U);
  EXPECT_EQ(list(ann, {}, 3, 3).items.front().email_subject, "s0");
  EXPECT_THAT(list(ann, {}, 4, 3).items, IsEmpty());
}

TEST_P(StoreTest, FiltersChooseByStatusTypeSubjectAndTime) {
  EmailProcessingTask failed = store(ann, "Invoice 100%_done");
  failed.start_processing(failed.created_at);
  failed.fail_processing({.message = "no"}, failed.created_at);
  update(ann, failed);
  EmailProcessingTask imported{.user_id = ann.user_id};
  imported.task_type = TaskType::batch_import;
  imported.email_subject = "发票";
  imported = store(ann, imported);

  EXPECT_THAT(subjects({.statuses = {EmailTaskStatus::failed}}), ElementsAre("Invoice 100%_done"));
  EXPECT_EQ(list(ann, {.statuses = {EmailTaskStatus::failed, EmailTaskStatus::pending}}).total, 2);
  EXPECT_THAT(subjects({.type = TaskType::batch_import}), ElementsAre("发票"));
  EXPECT_THAT(subjects({.subject = "发"}), ElementsAre("发票"));
  EXPECT_THAT(subjects({.subject = "INVOICE"}), ElementsAre("Invoice 100%_done"));
  EXPECT_THAT(subjects({.subject = "100%_"}), ElementsAre("Invoice 100%_done"));
  EXPECT_THAT(subjects({.subject = "100_%"}), IsEmpty()) << "% and _ mean themselves";
  EXPECT_THAT(subjects({.can_retry = true}), ElementsAre("Invoice 100%_done"));
  EXPECT_EQ(list(ann, {.created_from = failed.created_at}).total, 2);
  EXPECT_EQ(list(ann, {.created_from = imported.created_at + 1s}).total, 0);
  EXPECT_EQ(list(ann, {.created_before = failed.created_at}).total, 0);
  EXPECT_EQ(list(ann, {.active_since = imported.created_at + 1h}).total, 0);
}

TEST_P(StoreTest, FiltersByJsonMeanWhatPostgresMeans) {
  EmailProcessingTask task{.user_id = ann.user_id};
  task.email_subject = "it";
  task.task_data =
      R"({"email_data":{"from":"a@b.c","to":["x@y.z","u+i@e.c"],"n":1,"attachments":[{"filename":"a.pdf","size":5}]}})";
  task.metadata = R"({"tags":["vat","travel"]})";
  store(ann, task);
  store(ann, "other");
  const auto by_data = [&](const char* part) { return subjects({.data_contains = part}); };
  EXPECT_THAT(by_data(R"({"email_data":{"from":"a@b.c"}})"), ElementsAre("it"));
  EXPECT_THAT(by_data(R"({"email_data":{"to":["u+i@e.c"]}})"), ElementsAre("it"));
  EXPECT_THAT(by_data(R"({"email_data":{"attachments":[{"filename":"a.pdf"}]}})"),
              ElementsAre("it"));
  EXPECT_THAT(by_data(R"({"email_data":{"n":1.0}})"), ElementsAre("it"));
  EXPECT_THAT(by_data(R"({"email_data":{"to":"x@y.z"}})"), IsEmpty());
  EXPECT_THAT(by_data(R"({"from":"a@b.c"})"), IsEmpty());
  EXPECT_THAT(by_data(R"([])"), IsEmpty());
  EXPECT_EQ(list(ann, {.data_contains = "{}"}).total, 2);
  EXPECT_THAT(subjects({.metadata_contains = R"({"tags":["travel"]})"}), ElementsAre("it"));
  EXPECT_THROW(by_data("{"), ValidationException);
}

TEST_P(StoreTest, ManyTasksChangeTheirStatusInOneStatement) {
  std::vector<EmailTaskId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(store(ann).id);
  ids.push_back(store(bob).id);
  database->write(ann.user_id, [&](Session& session) {
    EXPECT_EQ(
        set_status_of_many(session, ids, EmailTaskStatus::pending, EmailTaskStatus::cancelled), 5U);
  });
  EXPECT_EQ(list(ann, {.statuses = {EmailTaskStatus::cancelled}}).total, 5);
  EXPECT_EQ(list(bob, {.statuses = {EmailTaskStatus::pending}}).total, 1);
}

TEST_P(StoreTest, MonitoringFindsWhatNeedsAPerson) {
  EmailProcessingTask hopeless = store(ann, "hopeless");
  hopeless.start_processing(hopeless.created_at);
  hopeless.fail_processing({.message = "damaged", .retryable = false}, hopeless.created_at);
  update(ann, hopeless);
  EmailProcessingTask hopeful = store(ann, "hopeful");
  hopeful.start_processing(hopeful.created_at);
  hopeful.fail_processing({.message = "busy"}, hopeful.created_at);
  update(ann, hopeful);
  database->read(ann.user_id, [&](Session& session) {
    const auto found = tasks_needing_attention(session, session.now() - 24h);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].email_subject, "hopeless");
    EXPECT_THAT(tasks_needing_attention(session, session.now() + 1h), IsEmpty());
  });
  database->read(bob.user_id, [&](Session& session) {
    EXPECT_THAT(tasks_needing_attention(session, session.now() - 24h), IsEmpty());
  });
}

TEST_P(StoreTest, PerformanceIsSummedByDay) {
  for (const auto time : {1000ms, 3000ms}) {
    EmailProcessingTask task = store(ann);
    task.start_processing(task.created_at);
    task.complete_processing("{}", task.created_at + time);
    update(ann, task);
  }
  EmailProcessingTask failed = store(ann);
  failed.start_processing(failed.created_at);
  failed.fail_processing({.message = "x"}, failed.created_at + 60s);
  update(ann, failed);
  database->read(ann.user_id, [&](Session& session) {
    const std::vector<DayPerformance> days = performance(session, session.now() - 24h * 7);
    ASSERT_EQ(days.size(), 1U);
    EXPECT_EQ(days[0].date, to_iso8601(failed.created_at).substr(0, 10));
    EXPECT_EQ(days[0].total_tasks, 3);
    EXPECT_EQ(days[0].completed, 2);
    EXPECT_EQ(days[0].failed, 1);
    EXPECT_DOUBLE_EQ(days[0].avg_time.value(), 2.0);
    EXPECT_DOUBLE_EQ(days[0].max_time.value(), 3.0);
  });
}

TEST_P(StoreTest, TheOverviewJoinsTaskUserAndInvoices) {
  const EmailProcessingTask with = store(ann, "with");
  store(ann, "without");
  database->write(ann.user_id, [&](Session& session) {
    for (const char* number : {"11111111", "22222222"}) {
      Invoice invoice{.user_id = ann.user_id};
      invoice.email_task_id = with.id;
      invoice.invoice_number = number;
      invoice.total = "12.30";
      static_cast<void>(store_invoice(session, invoice));
    }
  });
  database->read(ann.user_id, [&](Session& session) {
    const std::vector<TaskOverview> rows = overview(session, 10);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].email_subject, "without");
    EXPECT_EQ(rows[0].invoice_number, std::nullopt);
    EXPECT_EQ(rows[1].user_email, "ann@example.com");
    EXPECT_EQ(rows[1].total, "12.30");
  });
}

TEST_P(StoreTest, AnInvoiceIsUniqueByNumberOrByCodeAndNumber) {
  const StoredInvoice digital = store_one(ann, "25442000000012341234");
  EXPECT_TRUE(digital.is_new);
  const StoredInvoice again = store_one(ann, "25442000000012341234");
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.id, digital.id);
  EXPECT_TRUE(store_one(ann, "10113872", "011001700112").is_new);
  EXPECT_TRUE(store_one(ann, "10113872", "011001700113").is_new) << "another code";
  EXPECT_FALSE(store_one(ann, "10113872", "011001700112").is_new);
  EXPECT_TRUE(store_one(bob, "25442000000012341234").is_new) << "another user's own copy";
}

TEST_P(StoreTest, ANumberOfEightDigitsWithoutItsCodeIsNobodysIdentity) {
  const auto store_with = [&](const std::optional<std::string>& date, const std::string& total) {
    Invoice invoice{.user_id = ann.user_id};
    invoice.invoice_number = "10113872";
    invoice.issue_date = date;
    invoice.total = total;
    invoice.seller_name = "供应商公司";
    std::optional<StoredInvoice> stored;
    database->write(ann.user_id,
                    [&](Session& session) { stored = store_invoice(session, invoice); });
    return *stored;
  };
  const StoredInvoice first = store_with("2025-02-08", "113.00");
  EXPECT_TRUE(first.is_new);
  EXPECT_TRUE(store_with("2025-02-09", "113.00").is_new) << "another day's";
  EXPECT_TRUE(store_with("2025-02-08", "226.00").is_new) << "another total";
  EXPECT_TRUE(store_with(std::nullopt, "113.00").is_new) << "nobody knows";
  const StoredInvoice again = store_with("2025-02-08", "113.00");
  EXPECT_FALSE(again.is_new) << "all that is known is the same";
  EXPECT_EQ(again.id, first.id);
}

TEST_P(StoreTest, AnInvoiceCannotHangOnAnotherUsersTask) {
  const EmailProcessingTask hers = store(ann, "hers");
  Invoice invoice{.user_id = bob.user_id};
  invoice.invoice_number = "25442000000012341234";
  invoice.email_task_id = hers.id;
  EXPECT_THROW(database->write(
                   bob.user_id,
                   [&](Session& session) { static_cast<void>(store_invoice(session, invoice)); }),
               StorageException);
}

TEST_P(StoreTest, AnInvoiceOutlivesItsTask) {
  const EmailProcessingTask task = store(ann);
  Invoice invoice{.user_id = ann.user_id};
  invoice.invoice_number = "25442000000012341234";
  invoice.email_task_id = task.id;
  database->write(ann.user_id, [&](Session& session) {
    static_cast<void>(store_invoice(session, invoice));
    EXPECT_EQ(session.run("DELETE FROM email_processing_tasks WHERE user_id = $1").affected, 1U);
    EXPECT_EQ(find_invoice(session, invoice.id)->email_task_id, std::nullopt);
  });
}

TEST_P(StoreTest, TablesOfAnotherVersionAreRefused) {
  under_test->execute("UPDATE invoice_schema SET version = 99");
  try {
    static_cast<void>(open_database(Dsn{under_test->dsn()}));
    FAIL() << "it was opened";
  } catch (const StorageException& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("version 99"));
  }
}

TEST_P(StoreTest, AnInvoiceComesBackWithEveryField) {
  Invoice invoice{.user_id = ann.user_id};
  invoice.invoice_type = "32";
  invoice.invoice_number = "25442000000012341234";
  invoice.issue_date = "2025-02-08";
  invoice.seller_name = "供应商公司";
  invoice.seller_tax_id = "91440300MA5EXAMPLE";
  invoice.amount = "-589.38";
  invoice.tax = "76.62";
  invoice.total = "12345678901.10";
  invoice.line_items = R"([{"name":"*餐饮*餐费"}])";
  invoice.fields = R"({"total":{"source":"qr","confidence":0.99}})";
  invoice.confidence = 0.987;
  invoice.warnings = R"(["a warning"])";
  database->write(ann.user_id,
                  [&](Session& session) { static_cast<void>(store_invoice(session, invoice)); });
  database->read(ann.user_id, [&](Session& session) {
    const Invoice found = list_invoices(session, {.seller = "供应"}, 1, 10).items.at(0);
    EXPECT_EQ(found.id, invoice.id);
    EXPECT_EQ(found.issue_date, "2025-02-08");
    EXPECT_EQ(found.amount, "-589.38");
    EXPECT_EQ(found.total, "12345678901.10");
    EXPECT_EQ(parse_json(found.line_items), parse_json(invoice.line_items));
    EXPECT_EQ(parse_json(found.fields), parse_json(invoice.fields));
    EXPECT_DOUBLE_EQ(found.confidence, 0.987);
    EXPECT_EQ(list_invoices(session, {.issued_from = "2025-02-09"}, 1, 10).total, 0);
    EXPECT_EQ(list_invoices(session, {.issued_until = "2025-02-08"}, 1, 10).total, 1);
    EXPECT_EQ(list_invoices(session, {.confidence_below = 0.9}, 1, 10).total, 0);
  });
}

TEST_P(StoreTest, NobodyReachesAnotherUsersRows) {
  EmailProcessingTask hers = store(ann, "hers");
  store_one(ann, "11111111");
  EXPECT_EQ(load(bob, hers.id), std::nullopt);
  EXPECT_EQ(list(bob).total, 0);
  hers.email_subject = "his";
  EXPECT_THROW(update(bob, hers), ConcurrentModificationException);
  database->write(bob.user_id, [&](Session& session) {
    EXPECT_THROW(delete_task(session, hers), ConcurrentModificationException);
    EXPECT_EQ(list_invoices(session, {}, 1, 10).total, 0);
    EXPECT_THAT(overview(session, 10), IsEmpty());
    EXPECT_EQ(session.run("DELETE FROM invoices WHERE user_id = $1").affected, 0U);
  });
  EXPECT_EQ(list(ann).total, 1);
}

/// Statements that say nothing of the user, or try to get round: only own rows are seen or changed.
TEST_P(StoreTest, WhateverAStatementSaysItReachesOwnRowsOnly) {
  store(ann, "hers");
  store_one(ann, "25442000000012341234");
  store(bob, "his");
  store_one(bob, "25442000000012341235");
  database->write(bob.user_id, [&](Session& session) {
    for (const char* sql :
         {"SELECT user_id FROM invoices WHERE $1 <> ''",
          "select user_id from email_processing_tasks where $1 <> '' or 1 = 1",
          "SELECT i.user_id FROM\ninvoices i, email_processing_tasks t WHERE $1 <> ''",
          "SELECT i.user_id FROM email_processing_tasks t LEFT JOIN invoices i ON 1 = 1 OR $1 = ''",
          "SELECT user_id FROM invoices WHERE user_id = $1 UNION ALL SELECT user_id FROM invoices",
          "WITH all_rows AS (SELECT user_id FROM invoices) SELECT * FROM all_rows WHERE $1 <> ''",
          "SELECT auth_user_id FROM profiles WHERE $1 <> '' OR 1 = 1"}) {
      const Rows rows = session.run(sql);
      EXPECT_FALSE(rows.rows.empty()) << sql;
      for (const std::vector<Text>& row : rows.rows) EXPECT_EQ(row[0], bob.user_id.text()) << sql;
    }
  });
  const auto refused_or_nothing = [&](const std::string& sql) {
    try {
      std::size_t affected = 0;
      database->write(bob.user_id, [&](Session& session) { affected = session.run(sql).affected; });
      EXPECT_LE(affected, 1U) << sql;
    } catch (const StorageException&) {
    } catch (const std::logic_error&) {
    }
  };
  refused_or_nothing("UPDATE invoices SET remark = 'x' WHERE $1 <> ''");
  refused_or_nothing("UPDATE invoices SET user_id = '" + ann.user_id.text() + "' WHERE $1 <> ''");
  refused_or_nothing("DELETE FROM invoices WHERE $1 <> ''");
  refused_or_nothing("delete from email_processing_tasks where $1 <> ''");
  EXPECT_EQ(under_test->execute("SELECT count(*) FROM invoices WHERE user_id = '" +
                                ann.user_id.text() + "' AND remark IS NULL"),
            "1");
  EXPECT_EQ(under_test->execute("SELECT count(*) FROM email_processing_tasks WHERE user_id = '" +
                                ann.user_id.text() + "'"),
            "1");
}

TEST(SqliteIsolationTest, RefusesWhatGoesRoundTheViews) {
  const SqliteUnderTest under_test;
  const std::unique_ptr<Database> database = open_database(Dsn{under_test.dsn()});
  const Profile ann = add_profile(*database, "ann@example.com", "Ann");
  for (const char* sql :
       {"SELECT * FROM main.invoices", "SELECT * FROM async_tasks", "SELECT * FROM sqlite_master",
        "UPDATE invoices SET remark = (SELECT email FROM main.profiles)", "DELETE FROM async_tasks",
        "DROP VIEW invoices", "DROP TRIGGER guard_invoices_INSERT", "PRAGMA foreign_keys = OFF",
        "ATTACH ':memory:' AS other", "INSERT INTO invoice_schema (version) VALUES (2)"}) {
    EXPECT_THROW(database->write(ann.user_id, [&](Session& session) { session.run(sql); }),
                 std::logic_error)
        << sql;
  }
}

TEST_P(StoreTest, RowAndErrandTaskAreStoredTogetherOrNotAtAll) {
  const std::unique_ptr<Engine> engine = open_engine(Dsn{under_test->dsn()});
  EmailProcessingTask task{.user_id = ann.user_id};
  const NewTask request = make_request(task);
  const auto both = [&](Session& session) {
    EXPECT_TRUE(insert_task(session, task));
    session.submit(request);
  };
  EXPECT_THROW(database->write(ann.user_id,
                               [&](Session& session) {
                                 both(session);
                                 throw std::runtime_error{"the power went"};
                               }),
               std::runtime_error);
  EXPECT_EQ(engine->storage().load(request.id), std::nullopt);
  EXPECT_EQ(load(ann, task.id), std::nullopt);
  database->write(ann.user_id, both);
  EXPECT_EQ(engine->storage().load(request.id)->status, TaskStatus::pending);
  EXPECT_EQ(load(ann, task.id)->task_id, request.id.to_string());
}

TEST_P(StoreTest, ChecksHoldEverybodyToTheRules) {
  const EmailProcessingTask task = store(ann);
  const std::string where = " WHERE id = '" + task.id.text() + "'";
  const std::string update = "UPDATE email_processing_tasks SET ";
  EXPECT_THROW(under_test->execute(update + "retry_count = -1" + where), std::runtime_error);
  EXPECT_THROW(under_test->execute(update + "failed_count = -1" + where), std::runtime_error);
  EXPECT_THROW(under_test->execute(update + "task_data = 'no json'" + where), std::runtime_error);
  EXPECT_THROW(under_test->execute(update + "user_id = '" + new_uuid() + "'" + where),
               std::runtime_error)
      << "there is no such profile";
}

TEST_P(StoreTest, WithAUserGoEverythingOfTheirs) {
  store(ann);
  store_one(ann, "11111111");
  store(bob);
  database->write(ann.user_id, [](Session& session) {
    EXPECT_EQ(session.run("DELETE FROM profiles WHERE auth_user_id = $1").affected, 1U);
  });
  EXPECT_EQ(under_test->execute("SELECT count(*) FROM email_processing_tasks"), "1");
  EXPECT_EQ(under_test->execute("SELECT count(*) FROM invoices"), "0");
}

TEST_P(StoreTest, UsersAreFoundByAddressWithOrWithoutATag) {
  EXPECT_EQ(find_profile(*database, "ANN+invoice@Example.com").user_id, ann.user_id);
  EXPECT_EQ(find_profile(*database, ann.user_id.text()).email, "ann@example.com");
  EXPECT_THROW(static_cast<void>(find_profile(*database, "eve@example.com")), ValidationException);
  EXPECT_THROW(add_profile(*database, "Ann@example.com", ""), ValidationException);
  EXPECT_THROW(add_profile(*database, "no address", ""), ValidationException);
  EXPECT_EQ(database->profiles().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Invoices, StoreTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);

}  // namespace
}  // namespace errand::invoices
