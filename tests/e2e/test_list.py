import unittest

from errand_program import ErrandTest


class List(ErrandTest):
    def test_pages_as_json(self):
        self.errand("submit", "t", "--jsonl", "-", input="\n".join("12345"))
        page = self.json("list", "--page", "2", "--page-size", "2")
        self.assertEqual(len(page["items"]), 2)
        self.assertEqual(
            {key: page[key] for key in ("total", "page", "page_size", "total_pages")},
            {"total": 5, "page": 2, "page_size": 2, "total_pages": 3},
        )
        self.assertEqual(self.json("list", "--page", "9")["items"], [])

    def test_filters(self):
        mail = self.submit("email.send", "--queue", "mail")
        echo = self.submit("errand.echo")
        cancelled = self.submit("errand.echo")
        self.errand("cancel", cancelled)

        def found(*arguments):
            return {item["taskId"] for item in self.json("list", *arguments)["items"]}

        self.assertEqual(found("--type", "email.send"), {mail})
        self.assertEqual(found("--queue", "mail"), {mail})
        self.assertEqual(found("--status", "pending"), {mail, echo})
        self.assertEqual(found("--status", "pending,cancelled"), {mail, echo, cancelled})
        self.assertEqual(
            found("--status", "pending", "--status", "cancelled", "--type", "errand.echo"),
            {echo, cancelled},
        )
        self.assertEqual(found("--status", "failed"), set())
        self.assertEqual(found("--status", "cancelled,"), {cancelled})

    def test_people_see_a_table_and_where_they_are(self):
        self.errand("submit", "email.send", "--jsonl", "-", input="\n".join("123"))
        lines = self.errand("list", "--page-size", "2").stdout.splitlines()
        self.assertRegex(lines[0], r"^ID +STATUS +TYPE +QUEUE +TRIES +AGE +ENDED$")
        self.assertRegex(lines[1], r"^[0-9a-f-]{36}  pending  email\.send  default +0/4  ")
        self.assertEqual(lines[3], "Page 1 of 2 · 3 tasks · next: --page 2")

    def test_nothing_is_said_to_be_nothing(self):
        self.errand("setup")
        self.assertEqual(self.errand("list").stdout, "No tasks\n")

    def test_the_newest_comes_first(self):
        tasks = [self.submit("t") for _ in range(3)]
        listed = [item["taskId"] for item in self.json("list")["items"]]
        self.assertEqual(listed, tasks[::-1])

    def test_page_sizes_out_of_range_are_refused(self):
        for size in ("0", "1001", "-1", "many"):
            self.errand("list", "--page-size", size, expect=2)
        self.errand("list", "--page", "0", expect=2)
        self.errand("list", "--status", "done", expect=2)

    def test_the_last_page_number_there_is_does_no_harm(self):
        self.submit("t")
        page = self.json("list", "--page", "9223372036854775", "--page-size", "1000")
        self.assertEqual(page["items"], [])


if __name__ == "__main__":
    unittest.main()
