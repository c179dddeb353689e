-- What the program's role may do: rows of whomever it works for, and nothing of the schema. `role`
-- stands for its name. May be run again.
DO $$
BEGIN
  CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
EXCEPTION
  -- Another setup, in another database of the server, may be at it, too.
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I, auth TO {role}', current_schema());
END $$;
GRANT SELECT ON invoice_schema, errand_schema, errand_tasks TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE
  ON profiles, email_processing_tasks, invoices, async_tasks, errand_workers, errand_paused_queues,
     errand_turns, errand_bundles
  TO {role};
GRANT EXECUTE ON FUNCTION invoice_directory(), analyse_invoice_tables(), auth.uid() TO {role};
