#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "invoice_intake/database_under_test.hpp"
#include "invoice_intake/store/email_tasks.hpp"

namespace errand::invoices {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The table as it was specified, column by column: name, type, whether NULL is allowed, default.
constexpr const char* kColumns =
    "id uuid NO gen_random_uuid()\n"
    "user_id uuid NO -\n"
    "task_type character varying(50) NO 'email_invoice'::character varying\n"
    "task_id character varying(100) YES -\n"
    "status character varying(20) NO 'pending'::character varying\n"
    "task_data jsonb NO '{}'::jsonb\n"
    "result_data jsonb YES '{}'::jsonb\n"
    "error_message text YES -\n"
    "error_details jsonb YES -\n"
    "retry_count integer NO 0\n"
    "max_retries integer NO 3\n"
    "next_retry_at timestamp with time zone YES -\n"
    "email_message_id character varying(200) YES -\n"
    "email_from character varying(200) YES -\n"
    "email_subject character varying(500) YES -\n"
    "email_received_at timestamp with time zone YES -\n"
    "attachments_count integer YES 0\n"
    "processed_count integer YES 0\n"
    "failed_count integer YES 0\n"
    "invoices_created integer YES 0\n"
    "started_at timestamp with time zone YES -\n"
    "completed_at timestamp with time zone YES -\n"
    "processing_time_seconds numeric(10,3) YES -\n"
    "metadata jsonb NO '{}'::jsonb\n"
    "created_at timestamp with time zone NO now()\n"
    "updated_at timestamp with time zone NO now()\n"
    "deleted_at timestamp with time zone YES -\n"
    "created_by uuid YES -\n"
    "updated_by uuid YES -\n"
    "version integer NO 1";

TEST(InvoiceSchema, TheTableHasEveryColumnAsSpecified) {
  const PostgresUnderTest under_test;
  EXPECT_EQ(
      under_test.execute(
          "SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || "
          "CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END || ' ' || "
          "coalesce(pg_get_expr(d.adbin, d.adrelid), '-'), E'\\n' ORDER BY a.attnum) "
          "FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND "
          "d.adnum = a.attnum WHERE a.attrelid = 'email_processing_tasks'::regclass AND "
          "a.attnum > 0 AND NOT a.attisdropped"),
      kColumns);
}

TEST(InvoiceSchema, TheIndexesAreAsSpecified) {
  const PostgresUnderTest under_test;
  const auto definition = [&](const std::string& index) {
    return under_test.execute("SELECT indexdef FROM pg_indexes WHERE indexname = '" + index + "'");
  };
  EXPECT_THAT(definition("idx_email_tasks_user_id"), HasSubstr("btree (user_id)"));
  EXPECT_THAT(definition("idx_email_tasks_status"), HasSubstr("btree (status)"));
  EXPECT_THAT(definition("idx_email_tasks_task_id"), HasSubstr("btree (task_id)"));
  EXPECT_THAT(definition("idx_email_tasks_created_at"), HasSubstr("btree (created_at DESC)"));
  EXPECT_THAT(definition("idx_email_tasks_deleted_at"), HasSubstr("btree (deleted_at)"));
  EXPECT_THAT(definition("idx_email_tasks_user_status"),
              HasSubstr("btree (user_id, status) WHERE (deleted_at IS NULL)"));
  EXPECT_THAT(
      definition("idx_email_tasks_retry"),
      HasSubstr("btree (status, next_retry_at) WHERE (((status)::text = 'failed'::text) AND "
                "(retry_count < max_retries) AND (deleted_at IS NULL))"));
  EXPECT_THAT(definition("idx_email_tasks_task_data_gin"), HasSubstr("gin (task_data)"));
  EXPECT_THAT(definition("idx_email_tasks_metadata_gin"), HasSubstr("gin (metadata)"));
}

TEST(InvoiceSchema, ChecksAndForeignKeyAreAsSpecified) {
  const PostgresUnderTest under_test;
  const auto definition = [&](const std::string& constraint) {
    return under_test.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = '" + constraint + "'");
  };
  EXPECT_EQ(definition("chk_retry_count"), "CHECK ((retry_count >= 0))");
  EXPECT_EQ(definition("chk_processing_stats"),
            "CHECK (((processed_count >= 0) AND (failed_count >= 0) AND (invoices_created >= 0)))");
  EXPECT_EQ(definition("fk_email_tasks_user"),
            "FOREIGN KEY (user_id) REFERENCES profiles(auth_user_id) ON DELETE CASCADE");
}

TEST(InvoiceSchema, SetupMayBeRepeated) {
  const PostgresUnderTest under_test;
  EXPECT_FALSE(set_up(Dsn{under_test.owner_dsn()}).created);
  const SqliteUnderTest sqlite;
  EXPECT_FALSE(set_up(Dsn{sqlite.dsn()}).created);
}

/// 100,000 tasks of fifty users; plans of the program's role, under row-level security.
class InvoicePlans : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    under_test = std::make_unique<PostgresUnderTest>();
    under_test->execute(R"(
INSERT INTO profiles (auth_user_id, email)
  SELECT ('00000000-0000-4000-8000-' || lpad(u::text, 12, '0'))::uuid, 'u' || u || '@example.com'
  FROM generate_series(1, 50) u;
INSERT INTO email_processing_tasks
  (user_id, task_id, status, task_data, metadata, email_message_id, retry_count, next_retry_at,
   created_at, deleted_at)
  SELECT ('00000000-0000-4000-8000-' || lpad((n % 50 + 1)::text, 12, '0'))::uuid, 'errand-' || n,
         (ARRAY['completed','completed','completed','completed','completed','completed','pending',
                'failed','processing','retrying'])[n / 50 % 10 + 1],
         jsonb_build_object('email_data', jsonb_build_object('from', 'sender' || n % 5000 || '@example.com')),
         jsonb_build_object('batch', n % 5000), n || '@example.com', n % 4,
         now() + n * interval '1 s', now() - n * interval '1 s',
         CASE WHEN n % 1000 = 0 THEN now() END
  FROM generate_series(1, 100000) n;
INSERT INTO invoices (user_id, email_task_id, invoice_number)
  SELECT user_id, id, row_number() OVER () FROM email_processing_tasks WHERE status = 'completed';
)");
    under_test->execute("VACUUM ANALYZE email_processing_tasks");
    under_test->execute("VACUUM ANALYZE invoices");
    under_test->execute("VACUUM ANALYZE profiles");
  }
  static void TearDownTestSuite() { under_test.reset(); }

  /// The plan for one of the users. `condition` may name $1, the user.
  static std::string plan(const std::string& sql) {
    std::string text = sql;
    const std::string user = "'00000000-0000-4000-8000-000000000007'";
    for (std::size_t at = text.find("$1"); at != std::string::npos; at = text.find("$1")) {
      text.replace(at, 2, user);
    }
    PGconn* connection = PQconnectdb(under_test->dsn().c_str());
    PQclear(
        PQexec(connection,
               ("BEGIN; SELECT set_config('request.jwt.claim.sub', " + user + ", true)").c_str()));
    PGresult* result = PQexec(connection, ("EXPLAIN (COSTS OFF) " + text).c_str());
    std::string lines = PQresultErrorMessage(result);
    for (int row = 0; row < PQntuples(result); ++row) {
      lines += std::string{PQgetvalue(result, row, 0)} + "\n";
    }
    PQclear(result);
    PQfinish(connection);
    return lines;
  }

  static inline std::unique_ptr<PostgresUnderTest> under_test;
};

/// One test, for the table takes a while to fill.
TEST_F(InvoicePlans, EveryQueryOfTheProgramFindsItsRowsByAnIndex) {
  // What the program itself sends, as PostgreSQL went about it.
  std::string plans;
  const std::unique_ptr<Database> database = open_database(
      Dsn{under_test->dsn()}, {.on_plan = [&](const std::string& sql, const std::string& plan) {
        plans += sql + "\n" + plan;
      }});
  const UserId user = UserId::from_string("00000000-0000-4000-8000-000000000007");
  const auto plans_of = [&](const Database::Body& body) {
    plans.clear();
    database->read(user, body);
    EXPECT_THAT(plans, Not(HasSubstr("Seq Scan on email_processing_tasks")));
    EXPECT_THAT(plans, Not(HasSubstr("Seq Scan on invoices")));
    return plans;
  };
  const auto list = [&](const EmailTaskFilter& filter) {
    return plans_of(
        [&](Session& session) { static_cast<void>(list_tasks(session, filter, 1, 20)); });
  };
  EXPECT_THAT(list({.statuses = {EmailTaskStatus::pending}}),
              HasSubstr("idx_email_tasks_user_status"));
  EXPECT_THAT(list({}), HasSubstr("idx_email_tasks_"));
  EXPECT_THAT(list({.data_contains = R"({"email_data":{"from":"sender7@example.com"}})"}),
              HasSubstr("idx_email_tasks_task_data_gin"));
  EXPECT_THAT(list({.metadata_contains = R"({"batch":7})"}),
              HasSubstr("idx_email_tasks_metadata_gin"));
  EXPECT_THAT(list({.can_retry = true}), HasSubstr("idx_email_tasks_"));
  EXPECT_THAT(list({.deleted = true}), HasSubstr("idx_email_tasks_deleted_at"));
  EXPECT_THAT(plans_of([](Session& session) {
                static_cast<void>(performance(session, session.now() - std::chrono::minutes{10}));
              }),
              HasSubstr("idx_email_tasks_created_at"));
  EXPECT_THAT(
      plans_of([](Session& session) {
        static_cast<void>(tasks_needing_attention(session, session.now() - std::chrono::hours{24}));
      }),
      HasSubstr("idx_email_tasks_"));
  EXPECT_THAT(plans_of([](Session& session) { static_cast<void>(open_tasks(session, 100)); }),
              HasSubstr("idx_email_tasks_"));
  EXPECT_THAT(plans_of([](Session& session) { static_cast<void>(overview(session, 100)); }),
              HasSubstr("idx_invoices_email_task"));

  // What the specification has an index for and the program asks Errand instead.
  EXPECT_THAT(plan("SELECT id FROM email_processing_tasks WHERE status = 'failed' AND "
                   "retry_count < max_retries AND deleted_at IS NULL AND next_retry_at < now() + "
                   "interval '1 min'"),
              HasSubstr("idx_email_tasks_retry"));
  EXPECT_THAT(
      plan("SELECT id FROM email_processing_tasks WHERE user_id = $1 AND task_id = 'errand-6'"),
      HasSubstr("idx_email_tasks_task_id"));
}

}  // namespace
}  // namespace errand::invoices
