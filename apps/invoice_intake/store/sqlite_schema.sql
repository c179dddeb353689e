-- Users, their e-mail processing tasks and their invoices, for SQLite: the tables of PostgreSQL's
-- schema, as far as SQLite's types go. UUIDs and times are texts, times as 2026-01-31
-- 23:59:59.123456 in UTC; documents are JSON texts; amounts are texts, because SQLite's numbers are
-- floating. SQLite knows no users: each connection of the program holds itself to one (SqliteIsolation).

CREATE TABLE invoice_schema (
  version      INTEGER NOT NULL PRIMARY KEY,
  installed_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
INSERT INTO invoice_schema (version) VALUES (1);

CREATE TABLE profiles (
    id TEXT NOT NULL PRIMARY KEY,
    auth_user_id TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL DEFAULT '',
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    deleted_at TEXT,
    created_by TEXT,
    updated_by TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT chk_profiles_email CHECK (email = lower(email) AND instr(email, '@') > 1)
);

CREATE TABLE email_processing_tasks (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    task_type TEXT NOT NULL DEFAULT 'email_invoice' CHECK (length(task_type) <= 50),
    task_id TEXT CHECK (length(task_id) <= 100),
    status TEXT NOT NULL DEFAULT 'pending' CHECK (length(status) <= 20),
    task_data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(task_data)),
    result_data TEXT DEFAULT '{}' CHECK (result_data IS NULL OR json_valid(result_data)),
    error_message TEXT,
    error_details TEXT CHECK (error_details IS NULL OR json_valid(error_details)),
    retry_count INTEGER NOT NULL DEFAULT 0,
    max_retries INTEGER NOT NULL DEFAULT 3,
    next_retry_at TEXT,
    email_message_id TEXT CHECK (length(email_message_id) <= 200),
    email_from TEXT CHECK (length(email_from) <= 200),
    email_subject TEXT CHECK (length(email_subject) <= 500),
    email_received_at TEXT,
    attachments_count INTEGER DEFAULT 0,
    processed_count INTEGER DEFAULT 0,
    failed_count INTEGER DEFAULT 0,
    invoices_created INTEGER DEFAULT 0,
    started_at TEXT,
    completed_at TEXT,
    processing_time_seconds REAL,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    deleted_at TEXT,
    created_by TEXT,
    updated_by TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT chk_retry_count CHECK (retry_count >= 0),
    CONSTRAINT chk_processing_stats CHECK (
        processed_count >= 0 AND failed_count >= 0 AND invoices_created >= 0
    ),
    CONSTRAINT fk_email_tasks_user
        FOREIGN KEY (user_id) REFERENCES profiles(auth_user_id) ON DELETE CASCADE,
    CONSTRAINT uq_email_tasks_of_user UNIQUE (id, user_id)
);

CREATE INDEX idx_email_tasks_user_id ON email_processing_tasks(user_id);
CREATE INDEX idx_email_tasks_status ON email_processing_tasks(status);
CREATE INDEX idx_email_tasks_task_id ON email_processing_tasks(task_id);
CREATE INDEX idx_email_tasks_created_at ON email_processing_tasks(created_at DESC);
CREATE INDEX idx_email_tasks_deleted_at ON email_processing_tasks(deleted_at);
CREATE INDEX idx_email_tasks_user_status ON email_processing_tasks(user_id, status)
    WHERE deleted_at IS NULL;
CREATE INDEX idx_email_tasks_retry ON email_processing_tasks(status, next_retry_at)
    WHERE status = 'failed' AND retry_count < max_retries AND deleted_at IS NULL;
CREATE UNIQUE INDEX uq_email_tasks_message ON email_processing_tasks(user_id, email_message_id)
    WHERE task_type <> 'ocr_retry';

CREATE TABLE invoices (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    email_task_id TEXT,
    invoice_type TEXT,
    invoice_code TEXT,
    invoice_number TEXT NOT NULL CHECK (length(invoice_number) <= 40),
    issue_date TEXT CHECK (issue_date = date(issue_date)),
    seller_name TEXT,
    seller_tax_id TEXT,
    buyer_name TEXT,
    buyer_tax_id TEXT,
    amount TEXT,
    tax TEXT,
    total TEXT,
    total_in_capitals TEXT,
    check_code TEXT,
    drawer TEXT,
    remark TEXT,
    line_items TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(line_items)),
    fields TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(fields)),
    confidence REAL NOT NULL DEFAULT 0,
    warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(warnings)),
    attachment_path TEXT,
    attachment_sha256 TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    deleted_at TEXT,
    created_by TEXT,
    updated_by TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT chk_invoice_number CHECK (invoice_number <> ''),
    CONSTRAINT chk_invoice_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT fk_invoices_user
        FOREIGN KEY (user_id) REFERENCES profiles(auth_user_id) ON DELETE CASCADE,
    CONSTRAINT fk_invoices_email_task
        FOREIGN KEY (email_task_id, user_id) REFERENCES email_processing_tasks(id, user_id)
);

-- ON DELETE SET NULL would take the user, too.
CREATE TRIGGER email_task_leaves_its_invoices BEFORE DELETE ON email_processing_tasks
BEGIN
  UPDATE invoices SET email_task_id = NULL WHERE email_task_id = OLD.id;
END;

-- As in PostgreSQL's schema.
CREATE UNIQUE INDEX uq_invoices_number
    ON invoices(user_id, coalesce(invoice_code, ''), invoice_number)
    WHERE deleted_at IS NULL AND (invoice_code IS NOT NULL OR length(invoice_number) <> 8);
CREATE UNIQUE INDEX uq_invoices_number_without_code
    ON invoices(user_id, invoice_number, issue_date, total, seller_name)
    WHERE deleted_at IS NULL AND invoice_code IS NULL AND length(invoice_number) = 8;
CREATE INDEX idx_invoices_user_created ON invoices(user_id, created_at DESC)
    WHERE deleted_at IS NULL;
CREATE INDEX idx_invoices_email_task ON invoices(email_task_id);
