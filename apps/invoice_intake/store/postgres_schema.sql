-- Users, their e-mail processing tasks and their invoices, for PostgreSQL. Run by the owner, in the
-- first schema of its search_path, in one transaction.

CREATE TABLE invoice_schema (
  version      integer     NOT NULL PRIMARY KEY,
  installed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO invoice_schema (version) VALUES (1);

CREATE TABLE profiles (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    auth_user_id UUID NOT NULL UNIQUE,
    email VARCHAR(320) NOT NULL,  -- where the user gets mail, without a +tag, in lower case
    display_name VARCHAR(200) NOT NULL DEFAULT '',
    metadata JSONB NOT NULL DEFAULT '{}'::jsonb,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    deleted_at TIMESTAMPTZ,
    created_by UUID,
    updated_by UUID,
    version INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT uq_profiles_email UNIQUE (email),
    CONSTRAINT chk_profiles_email CHECK (email = lower(email) AND position('@' IN email) > 1)
);

CREATE TABLE email_processing_tasks (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),

    user_id UUID NOT NULL,

    task_type VARCHAR(50) NOT NULL DEFAULT 'email_invoice',
    task_id VARCHAR(100),  -- the Errand task

    status VARCHAR(20) NOT NULL DEFAULT 'pending',

    task_data JSONB NOT NULL DEFAULT '{}'::jsonb,
    result_data JSONB DEFAULT '{}'::jsonb,

    error_message TEXT,
    error_details JSONB,
    retry_count INTEGER NOT NULL DEFAULT 0,
    max_retries INTEGER NOT NULL DEFAULT 3,
    next_retry_at TIMESTAMPTZ,

    email_message_id VARCHAR(200),
    email_from VARCHAR(200),
    email_subject VARCHAR(500),
    email_received_at TIMESTAMPTZ,

    attachments_count INTEGER DEFAULT 0,
    processed_count INTEGER DEFAULT 0,
    failed_count INTEGER DEFAULT 0,
    invoices_created INTEGER DEFAULT 0,

    started_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    processing_time_seconds NUMERIC(10,3),

    metadata JSONB NOT NULL DEFAULT '{}'::jsonb,

    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    deleted_at TIMESTAMPTZ,

    created_by UUID,
    updated_by UUID,
    version INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT chk_retry_count CHECK (retry_count >= 0),
    CONSTRAINT chk_processing_stats CHECK (
        processed_count >= 0 AND
        failed_count >= 0 AND
        invoices_created >= 0
    ),
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

CREATE INDEX idx_email_tasks_task_data_gin ON email_processing_tasks USING gin(task_data);
CREATE INDEX idx_email_tasks_metadata_gin ON email_processing_tasks USING gin(metadata);

-- An e-mail, or a batch of files, is taken in once for each user, whoever delivers it again; also if its task was deleted
-- since, for the mailbox still holds it.
CREATE UNIQUE INDEX uq_email_tasks_message ON email_processing_tasks(user_id, email_message_id)
    WHERE task_type <> 'ocr_retry';

ALTER TABLE email_processing_tasks ADD CONSTRAINT fk_email_tasks_user
    FOREIGN KEY (user_id) REFERENCES profiles(auth_user_id) ON DELETE CASCADE;

CREATE TABLE invoices (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id UUID NOT NULL,
    email_task_id UUID,

    invoice_type TEXT,
    invoice_code TEXT,
    invoice_number VARCHAR(40) NOT NULL,
    issue_date DATE,
    seller_name TEXT,
    seller_tax_id TEXT,
    buyer_name TEXT,
    buyer_tax_id TEXT,
    amount NUMERIC(16,2),  -- without tax
    tax NUMERIC(16,2),
    total NUMERIC(16,2),   -- with tax
    total_in_capitals TEXT,
    check_code TEXT,
    drawer TEXT,
    remark TEXT,
    line_items JSONB NOT NULL DEFAULT '[]'::jsonb,

    fields JSONB NOT NULL DEFAULT '{}'::jsonb,  -- {"total": {"source": "qr", "confidence": 0.99}, …}
    confidence NUMERIC(4,3) NOT NULL DEFAULT 0,
    warnings JSONB NOT NULL DEFAULT '[]'::jsonb,

    attachment_path TEXT,
    attachment_sha256 TEXT,

    metadata JSONB NOT NULL DEFAULT '{}'::jsonb,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    deleted_at TIMESTAMPTZ,
    created_by UUID,
    updated_by UUID,
    version INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT chk_invoice_number CHECK (invoice_number <> ''),
    CONSTRAINT chk_invoice_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT fk_invoices_user
        FOREIGN KEY (user_id) REFERENCES profiles(auth_user_id) ON DELETE CASCADE,
    -- Foreign keys see past row-level security: with the user in it, only the own task will do.
    CONSTRAINT fk_invoices_email_task
        FOREIGN KEY (email_task_id, user_id) REFERENCES email_processing_tasks(id, user_id)
        ON DELETE SET NULL (email_task_id)
);

-- A fully digital invoice has a number alone, an older one a code and a number. The 8 digits of an
-- older one whose code could not be read are those of many: they are the same invoice only where date,
-- total and seller are known and the same. NULL equals nothing.
CREATE UNIQUE INDEX uq_invoices_number
    ON invoices(user_id, (coalesce(invoice_code, '')), invoice_number)
    WHERE deleted_at IS NULL AND (invoice_code IS NOT NULL OR length(invoice_number) <> 8);
CREATE UNIQUE INDEX uq_invoices_number_without_code
    ON invoices(user_id, invoice_number, issue_date, total, seller_name)
    WHERE deleted_at IS NULL AND invoice_code IS NULL AND length(invoice_number) = 8;
CREATE INDEX idx_invoices_user_created ON invoices(user_id, created_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX idx_invoices_email_task ON invoices(email_task_id);

-- Who the current transaction works for. Supabase has this function, and it reads the same setting;
-- elsewhere it is made here. Unset is NULL, and NULL equals nobody: no row is seen or written.
DO $$
BEGIN
  IF to_regprocedure('auth.uid()') IS NULL THEN
    CREATE SCHEMA IF NOT EXISTS auth;
    CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS
      $f$ SELECT nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $f$;
  END IF;
END $$;

-- FORCE: the owner is held to it, too.
ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE profiles FORCE ROW LEVEL SECURITY;
ALTER TABLE email_processing_tasks ENABLE ROW LEVEL SECURITY;
ALTER TABLE email_processing_tasks FORCE ROW LEVEL SECURITY;
ALTER TABLE invoices ENABLE ROW LEVEL SECURITY;
ALTER TABLE invoices FORCE ROW LEVEL SECURITY;

CREATE POLICY "Users can view own profile" ON profiles
    FOR SELECT USING (auth.uid() = auth_user_id);
CREATE POLICY "Users can insert own profile" ON profiles
    FOR INSERT WITH CHECK (auth.uid() = auth_user_id);
CREATE POLICY "Users can update own profile" ON profiles
    FOR UPDATE USING (auth.uid() = auth_user_id) WITH CHECK (auth.uid() = auth_user_id);
CREATE POLICY "Users can delete own profile" ON profiles
    FOR DELETE USING (auth.uid() = auth_user_id);
CREATE POLICY "The owner reads the directory" ON profiles
    FOR SELECT TO CURRENT_USER USING (true);

CREATE POLICY "Users can view own tasks" ON email_processing_tasks
    FOR SELECT USING (auth.uid() = user_id);
CREATE POLICY "Users can insert own tasks" ON email_processing_tasks
    FOR INSERT WITH CHECK (auth.uid() = user_id);
CREATE POLICY "Users can update own tasks" ON email_processing_tasks
    FOR UPDATE USING (auth.uid() = user_id) WITH CHECK (auth.uid() = user_id);
CREATE POLICY "Users can delete own tasks" ON email_processing_tasks
    FOR DELETE USING (auth.uid() = user_id);

CREATE POLICY "Users can view own invoices" ON invoices
    FOR SELECT USING (auth.uid() = user_id);
CREATE POLICY "Users can insert own invoices" ON invoices
    FOR INSERT WITH CHECK (auth.uid() = user_id);
CREATE POLICY "Users can update own invoices" ON invoices
    FOR UPDATE USING (auth.uid() = user_id) WITH CHECK (auth.uid() = user_id);
CREATE POLICY "Users can delete own invoices" ON invoices
    FOR DELETE USING (auth.uid() = user_id);

-- Whom an address belongs to must be known before there is a user to work for. Runs as the owner,
-- whom a policy of its own lets read profiles, and nothing else.
CREATE FUNCTION invoice_directory() RETURNS TABLE (auth_user_id uuid, email varchar,
                                                   display_name varchar, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER AS
$$ SELECT p.auth_user_id, p.email, p.display_name, p.created_at FROM profiles p
   WHERE p.deleted_at IS NULL $$;
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION invoice_directory() SET search_path = %I, pg_temp',
                 current_schema());
END $$;
REVOKE ALL ON FUNCTION invoice_directory() FROM PUBLIC;

-- Only an owner may do this, and after many rows came or went at once it should not wait for the
-- server's own round.
CREATE FUNCTION analyse_invoice_tables() RETURNS void LANGUAGE sql SECURITY DEFINER AS
$$ ANALYZE profiles; ANALYZE email_processing_tasks; ANALYZE invoices $$;
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION analyse_invoice_tables() SET search_path = %I, pg_temp',
                 current_schema());
END $$;
REVOKE ALL ON FUNCTION analyse_invoice_tables() FROM PUBLIC;
