"""Runs the built `errand-invoices` on a storage of its own for each test."""

import contextlib
import email.message
import email.policy
import itertools
import json
import os
import signal
import sqlite3
import subprocess

from built_program import ProgramTest

PROGRAM = os.environ["ERRAND_INVOICES_BIN"]

databases = itertools.count(1)


def xml_invoice(number, total="113.00", amount="100.00", tax="13.00", seller="供应商公司"):
    """A fully digital invoice as tax authorities issue it, as far as it is read."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<EInvoice><Header><EIid>{number}</EIid><InherentLabel>
<EInvoiceType><LabelCode>02</LabelCode><LabelName>电子发票（普通发票）</LabelName></EInvoiceType>
<GeneralOrSpecialVAT><LabelCode>02</LabelCode><LabelName>普通发票</LabelName></GeneralOrSpecialVAT>
</InherentLabel></Header><EInvoiceData>
<SellerInformation><SellerIdNum>91440300279312345X</SellerIdNum><SellerName>{seller}</SellerName></SellerInformation>
<BuyerInformation><BuyerIdNum>91110108551385082Q</BuyerIdNum><BuyerName>买方有限公司</BuyerName></BuyerInformation>
<BasicInformation><TotalAmWithoutTax>{amount}</TotalAmWithoutTax><TotalTaxAm>{tax}</TotalTaxAm>
<TotalTax-includedAmount>{total}</TotalTax-includedAmount>
<TotalTax-includedAmountInChinese>壹佰壹拾叁圆整</TotalTax-includedAmountInChinese>
<Drawer>张三</Drawer><RequestTime>2025-02-08 10:00:00</RequestTime></BasicInformation>
<IssuItemInformation><ItemName>*餐饮服务*餐费</ItemName><Quantity>1</Quantity><UnPrice>100</UnPrice>
<Amount>{amount}</Amount><TaxRate>0.13</TaxRate><ComTaxAm>{tax}</ComTaxAm></IssuItemInformation>
</EInvoiceData><TaxSupervisionInfo><InvoiceNumber>{number}</InvoiceNumber>
<IssueTime>2025-02-08</IssueTime><TaxBureauName>国家税务总局深圳市税务局</TaxBureauName>
</TaxSupervisionInfo></EInvoice>
""".encode()


def mail(message_id, attachments, to="ann+invoice@example.com", subject="发票"):
    """An e-mail's bytes. `attachments`: (name, bytes) pairs."""
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"] = "Billing <billing@seller.example>"
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = "Sat, 08 Feb 2025 10:00:00 +0800"
    message["Message-ID"] = f"<{message_id}>"
    message.set_content("请查收附件中的发票\n")
    for name, content in attachments:
        kind = "xml" if name.endswith(".xml") else "octet-stream"
        message.add_attachment(content, maintype="application", subtype=kind, filename=name)
    return message.as_bytes()


def number(i):
    """The number of the i-th digital invoice: 20 digits."""
    return f"2544200000{i:010}"


class InvoicesTest(ProgramTest):
    """On SQLite; subclasses say where else."""

    program = PROGRAM

    def setUp(self):
        super().setUp()
        self.environment["ERRAND_INVOICES_ORIGINALS"] = str(self.directory / "originals")
        self.set_up_storage()
        self.invoices("user", "add", "ann@example.com", "--name", "Ann")

    def set_up_storage(self):
        self.environment["ERRAND_DSN"] = f"sqlite:{self.directory}/invoices.db"

    def count_errand_tasks(self):
        with contextlib.closing(sqlite3.connect(self.directory / "invoices.db")) as connection:
            [[count]] = connection.execute("SELECT count(*) FROM async_tasks")
        return count

    def invoices(self, *arguments, expect=0, **environment):
        return self.run_to_end(
            *map(str, arguments), expect=expect, env={**self.environment, **environment}
        )

    def json(self, *arguments, **options):
        return json.loads(self.invoices(*arguments, "--json", **options).stdout)

    def write(self, name, content):
        path = self.directory / name
        path.write_bytes(content)
        return path

    def ingest(self, *arguments, expect=0):
        return self.json("ingest", *arguments, expect=expect)

    def drain(self, *arguments):
        """Processes everything that is due."""
        self.invoices("worker", "--drain", "--log-level", "warning", *arguments)

    def start(self, *arguments, **environment):
        return super().start(*map(str, arguments), env={**self.environment, **environment})

    def stop(self, process, number=signal.SIGTERM):
        """As told; it must not be an error to the program."""
        code, out, err = super().stop(process, number)
        self.assertEqual(code, 0, err)
        return code, out, err


class OnPostgres:
    """A mixin: a database of the tests' server, and the program's own role in it."""

    def set_up_storage(self):
        server = os.environ["ERRAND_TEST_SERVERS"] + "-postgres"
        name = f"invoices_e2e_{os.getpid()}_{next(databases)}"
        admin = ["psql", "-h", server, "-U", "errand", "-qAt"]
        subprocess.run([*admin, "-c", f"CREATE DATABASE {name}", "postgres"], check=True)
        self.addCleanup(
            subprocess.run,
            [*admin, "-c", f"DROP DATABASE {name} WITH (FORCE)", "postgres"],
            check=True,
        )
        owner = f"postgresql:///{name}?user=errand&host={server}"
        self.invoices("setup", ERRAND_DSN=owner)
        self.owner_dsn = owner
        self.environment["ERRAND_DSN"] = f"postgresql:///{name}?user=errand_invoices&host={server}"

    def count_errand_tasks(self):
        count = subprocess.run(["psql", "-qAt", "-c", "SELECT count(*) FROM async_tasks", self.owner_dsn],
                               capture_output=True, encoding="utf-8", check=True)
        return int(count.stdout)
