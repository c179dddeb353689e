import unittest

from errand_program import ErrandTest


class ProgramErrors(ErrandTest):
    def test_usage_errors_are_one_sentence_and_exit_code_2(self):
        for arguments in (["stauts"], ["failed"], ["list", "--nope"], ["wait"], ["wait", "x"],
                          ["stats", "extra"], ["submit"], ["completion", "tcsh"]):  # fmt: skip
            ended = self.errand(*arguments, expect=2)
            self.assertEqual(ended.stdout, "", arguments)
            self.assertRegex(ended.stderr, r"\Aerrand: [^\n]+\n\Z", arguments)

    def test_help_is_no_error(self):
        for arguments in (["--help"], ["-h"], ["help"], ["failed", "retry", "--help"]):
            ended = self.errand(*arguments)
            self.assertIn("Usage: errand", ended.stdout)
            self.assertEqual(ended.stderr, "")

    def test_a_bad_dsn_names_what_is_wrong_and_hides_the_password(self):
        for dsn in ("nonsense", "oracle://u:hidden@h/d", "sqlite:", "sqlite:x.db?colour=red",
                    "postgresql://u:hidden@host:port/d", "doctrine://default"):  # fmt: skip
            ended = self.errand("stats", "--dsn", dsn, expect=2)
            # One sentence, then perhaps the right forms.
            self.assertRegex(ended.stderr, r"\Aerrand: [^\n]+\n(  [^\n]+\n)*\Z")
            self.assertNotIn("hidden", ended.stderr)

    def test_a_bad_dsn_from_the_environment_is_told_as_such(self):
        self.environment["ERRAND_DSN"] = "nonsense"
        self.assertIn("ERRAND_DSN", self.errand("stats", expect=2).stderr)

    def test_a_bad_option_of_a_dsn_with_a_long_path_is_a_mistake_and_no_crash(self):
        path = f"sqlite:{self.directory}/some-directory/a-file-with-a-long-name.db"
        for option in ("ttl=a", "busy_timeout=a", "synchronous=a", "nothing=a"):
            ended = self.errand("setup", "--dsn", f"{path}?{option}", expect=2)
            self.assertIn(option.split("=")[0], ended.stderr)

    def test_an_empty_dsn_is_a_mistake_as_an_option_and_none_in_the_environment(self):
        ended = self.errand("setup", "--dsn", "", expect=2)
        self.assertIn("--dsn: it is empty", ended.stderr)
        self.errand("--dsn", "", "setup", expect=2)
        self.assertEqual(list(self.directory.iterdir()), [])
        self.environment["ERRAND_DSN"] = ""
        self.errand("setup")
        self.assertTrue((self.directory / "errand.db").exists())

    def test_the_dsn_comes_from_option_environment_or_default_in_this_order(self):
        self.environment["ERRAND_DSN"] = "sqlite:errand-dsn.db"
        self.environment["MESSENGER_TRANSPORT_DSN"] = "sqlite:messenger.db"
        self.errand("setup", "--dsn", "sqlite:option.db")
        self.assertTrue((self.directory / "option.db").exists())
        self.errand("--dsn", "sqlite:before.db", "setup")
        self.assertTrue((self.directory / "before.db").exists())
        self.errand("setup")
        self.assertTrue((self.directory / "errand-dsn.db").exists())
        del self.environment["ERRAND_DSN"]
        self.errand("setup")
        self.assertTrue((self.directory / "messenger.db").exists())
        del self.environment["MESSENGER_TRANSPORT_DSN"]
        self.errand("setup")
        self.assertTrue((self.directory / "errand.db").exists())


if __name__ == "__main__":
    unittest.main()
