"""Make the bundled Claude Code session: an agent with scripted words and real tools.

    python examples/session/make_session.py OUT.jsonl

The words, the agent's and the user's, are written below, in `play`. The tool calls are real: a
small project, ledgerly, is created in a temporary folder with two bugs in it, every call runs
there, and what comes back is what the transcript records. Most calls carry text they are expected
to return, so the story cannot drift away from what happened. Token usage is computed from the
length of the text. The same bytes come out every time: the clock and the ids are computed
too, and the temporary folder is shown as /home/dev/ledgerly.

The file reads in four parts: the project, its data, the tools and the record, the story.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias, cast

JsonObject: TypeAlias = dict[str, object]

HOME = "/home/dev/ledgerly"
MODEL = "claude-sonnet-4-5-20250929"
VERSION = "2.1.32"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

# --------------------------------------------------------------------------------------------
# 1. The project: ledgerly, an invoicing library with a rounding bug and a timezone bug
# --------------------------------------------------------------------------------------------

PROJECT: dict[str, str] = {}

PROJECT["README.md"] = r"""# ledgerly

Invoices in many currencies, booked in one.

    python -m ledgerly report --month 2026-01
    python -m ledgerly reconcile
    python -m ledgerly overdue --as-of 2026-03-02T09:00:00Z

`reconcile` compares our EUR value of every invoice with the value finance booked and exits
with status 1 if any differ. The nightly job runs it at 02:10 UTC and writes to `logs/`.

Rates come from a feed quoted per US dollar, one table per month (`data/rates.json`).

Tests: `python -m unittest discover -s tests -t .`
"""

PROJECT["pyproject.toml"] = r"""[project]
name = "ledgerly"
version = "0.8.2"
description = "Invoices in many currencies, booked in one"
requires-python = ">=3.11"

[project.scripts]
ledgerly = "ledgerly.cli:main"
"""

PROJECT["CHANGELOG.md"] = r"""# Changelog

## Unreleased

## 0.8.2 - 2026-02-09
- Reminders: one reminder per invoice and day, even if the nightly job is restarted.
- Store: a row without `lines` is an error that names the invoice.

## 0.8.1 - 2026-01-26
- Reconcile: print the difference with a sign, so that a script can sum the column.
- CLI: `reconcile --all` lists matching invoices too.

## 0.8.0 - 2026-01-12
- Reminders: first version. The nightly job writes a reminder two days before the due date.
- Invoices carry `utc_offset_minutes`, the customer's offset when the invoice was issued.
  Nothing reads it yet.

## 0.7.3 - 2025-12-15
- Convert: CHF and SEK added to the monthly rate table.

## 0.7.2 - 2025-12-01
- Rates: a month without a table is an error, not a silent fall back to the month before.

## 0.7.1 - 2025-11-17
- Totals: domestic VAT is rounded per line, as the tax office asks.

## 0.7.0 - 2025-11-03
- Convert: go through US dollars, because the new feed quotes everything per dollar.
- Rates: read the new feed. The old per-euro table is gone.

## 0.6.0 - 2025-10-06
- Money: `round_money` and `minor_unit` are public; the billing service uses them.
"""

PROJECT["ledgerly/__init__.py"] = r'''"""Invoices in many currencies, booked in one."""

__version__ = "0.8.2"
'''

PROJECT["ledgerly/__main__.py"] = r'''"""Run the command line: `python -m ledgerly`."""

import sys

from ledgerly.cli import main

sys.exit(main())
'''

PROJECT["ledgerly/money.py"] = r'''"""An amount with its currency.

The billing service imports this module directly: the names in `__all__` are a contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["MINOR_UNITS", "CurrencyMismatch", "Money", "minor_unit", "round_money"]

MINOR_UNITS = {"CHF": 2, "EUR": 2, "GBP": 2, "JPY": 0, "NZD": 2, "SEK": 2, "USD": 2}


class CurrencyMismatch(ValueError):
    """Two amounts in different currencies were combined."""


def minor_unit(currency: str) -> Decimal:
    """The smallest amount of a currency: 0.01 for EUR, 1 for JPY."""
    return Decimal(1).scaleb(-MINOR_UNITS[currency])


def round_money(amount: Decimal, currency: str) -> Decimal:
    """Round to the minor unit of the currency, halves away from zero."""
    return amount.quantize(minor_unit(currency), rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Money:
    """An amount in one currency."""

    amount: Decimal
    currency: str

    def __add__(self, other: Money) -> Money:
        if other.currency != self.currency:
            raise CurrencyMismatch(f"cannot add {other.currency} to {self.currency}")
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other: Money) -> Money:
        if other.currency != self.currency:
            raise CurrencyMismatch(f"cannot subtract {other.currency} from {self.currency}")
        return Money(self.amount - other.amount, self.currency)

    def times(self, factor: Decimal | int) -> Money:
        return Money(self.amount * factor, self.currency)

    def rounded(self) -> Money:
        return Money(round_money(self.amount, self.currency), self.currency)

    def __str__(self) -> str:
        return f"{self.currency} {self.amount}"
'''

PROJECT["ledgerly/rates.py"] = r'''"""Monthly exchange rates, quoted per US dollar by the feed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


class NoRate(LookupError):
    """The table of that month has no such currency, or there is no table."""


@dataclass(frozen=True)
class Rates:
    """How many units of a currency one US dollar buys, by month."""

    months: dict[str, dict[str, Decimal]]

    def per_usd(self, month: str, currency: str) -> Decimal:
        if currency == "USD":
            return Decimal(1)
        try:
            return self.months[month][currency]
        except KeyError:
            raise NoRate(f"no {currency} rate for {month}") from None


def load_rates(path: Path) -> Rates:
    tables = json.loads(path.read_text(encoding="utf-8"))["months"]
    return Rates(
        {
            month: {currency: Decimal(rate) for currency, rate in table.items()}
            for month, table in tables.items()
        }
    )
'''

PROJECT[
    "ledgerly/convert.py"
] = r'''"""Convert money between currencies with the rate of a month."""

from __future__ import annotations

from ledgerly.money import Money, round_money
from ledgerly.rates import Rates


def convert(money: Money, to: str, month: str, rates: Rates) -> Money:
    """Convert to another currency through US dollars, the base of the rate feed."""
    if money.currency == to:
        return money
    usd = round_money(money.amount / rates.per_usd(month, money.currency), "USD")
    return Money(round_money(usd * rates.per_usd(month, to), to), to)
'''

PROJECT["ledgerly/models.py"] = r'''"""Invoices as the rest of the library sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from ledgerly.money import Money


@dataclass(frozen=True)
class Line:
    sku: str
    quantity: int
    unit: Decimal


@dataclass(frozen=True)
class Invoice:
    number: str
    customer: str
    country: str
    currency: str
    issued_at: datetime
    terms_days: int
    lines: tuple[Line, ...]
    booked: Money | None = None

    @property
    def month(self) -> str:
        """The month whose rates apply: the month of issue in UTC, as finance books it."""
        return self.issued_at.strftime("%Y-%m")


class BadRow(ValueError):
    """A row of the data file is not an invoice."""


def invoice_from_row(row: dict[str, Any]) -> Invoice:
    if not row.get("lines"):
        raise BadRow(f"{row.get('number', '?')}: no lines")
    return Invoice(
        number=row["number"],
        customer=row["customer"],
        country=row["country"],
        currency=row["currency"],
        issued_at=datetime.strptime(row["issued_at"], "%Y-%m-%dT%H:%M:%SZ"),
        terms_days=row["terms_days"],
        lines=tuple(
            Line(line["sku"], line["qty"], Decimal(line["unit"])) for line in row["lines"]
        ),
        booked=Money(Decimal(row["booked_eur"]), "EUR") if "booked_eur" in row else None,
    )
'''

PROJECT[
    "ledgerly/tax.py"
] = r'''"""Value added tax. We are established in Germany; exports are not taxed."""

from __future__ import annotations

from decimal import Decimal

HOME_COUNTRY = "DE"
HOME_RATE = Decimal("0.19")


def vat_rate(country: str) -> Decimal:
    return HOME_RATE if country == HOME_COUNTRY else Decimal(0)
'''

PROJECT["ledgerly/totals.py"] = r'''"""What an invoice adds up to, in its own currency."""

from __future__ import annotations

from decimal import Decimal

from ledgerly.models import Invoice
from ledgerly.money import Money, round_money
from ledgerly.tax import vat_rate


def net(invoice: Invoice) -> Money:
    amount = sum((line.unit * line.quantity for line in invoice.lines), Decimal(0))
    return Money(amount, invoice.currency).rounded()


def vat(invoice: Invoice) -> Money:
    """Tax, rounded per line as the tax office asks (halves away from zero)."""
    rate = vat_rate(invoice.country)
    amount = sum(
        (
            round_money(line.unit * line.quantity * rate, invoice.currency)
            for line in invoice.lines
        ),
        Decimal(0),
    )
    return Money(amount, invoice.currency).rounded()


def total(invoice: Invoice) -> Money:
    return net(invoice) + vat(invoice)
'''

PROJECT["ledgerly/duedates.py"] = r'''"""When an invoice has to be paid."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ledgerly.models import Invoice


def issue_day(invoice: Invoice) -> date:
    return invoice.issued_at.date()


def due_date(invoice: Invoice) -> date:
    return issue_day(invoice) + timedelta(days=invoice.terms_days)


def is_overdue(invoice: Invoice, now: datetime) -> bool:
    return now.date() > due_date(invoice)


def days_late(invoice: Invoice, now: datetime) -> int:
    return max(0, (now.date() - due_date(invoice)).days)
'''

PROJECT[
    "ledgerly/reminders.py"
] = r'''"""Friendly reminders, written by the nightly job two days before an invoice is due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from ledgerly.duedates import due_date
from ledgerly.models import Invoice

LEAD_DAYS = 2


def reminder_day(invoice: Invoice) -> date:
    return due_date(invoice) - timedelta(days=LEAD_DAYS)


def to_remind(invoices: Iterable[Invoice], now: datetime) -> list[Invoice]:
    """The invoices whose reminder goes out today."""
    today = now.date()
    return [invoice for invoice in invoices if reminder_day(invoice) == today]
'''

PROJECT["ledgerly/store.py"] = r'''"""Read invoices from the data folder."""

from __future__ import annotations

import json
from pathlib import Path

from ledgerly.models import Invoice, invoice_from_row

DATA = Path(__file__).resolve().parent.parent / "data"


def load_invoices(path: Path = DATA / "invoices.json") -> list[Invoice]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [invoice_from_row(row) for row in rows]
'''

PROJECT[
    "ledgerly/report.py"
] = r'''"""Reports as lines of text. The ops scripts parse these with grep and awk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ledgerly.convert import convert
from ledgerly.duedates import days_late, due_date, is_overdue
from ledgerly.models import Invoice
from ledgerly.money import Money
from ledgerly.rates import Rates
from ledgerly.totals import total


@dataclass(frozen=True)
class Match:
    invoice: Invoice
    total: Money
    ours: Money
    booked: Money

    @property
    def difference(self) -> Decimal:
        return self.ours.amount - self.booked.amount


def matches(invoices: Iterable[Invoice], rates: Rates) -> Iterator[Match]:
    for invoice in invoices:
        if invoice.booked is not None:
            amount = total(invoice)
            ours = convert(amount, "EUR", invoice.month, rates)
            yield Match(invoice, amount, ours, invoice.booked)


def reconcile_lines(found: list[Match], show_all: bool) -> Iterator[str]:
    for match in found:
        if match.difference or show_all:
            word = "DIFF" if match.difference else "ok"
            yield (
                f"{match.invoice.number}  {match.total.currency} {match.total.amount:>11}"
                f"  ours {match.ours.amount:>9}  booked {match.booked.amount:>9}"
                f"  {match.difference:+.2f}  {word}"
            )
    wrong = [match for match in found if match.difference]
    off = sum((match.difference for match in wrong), Decimal(0))
    yield f"{len(found)} invoices, {len(wrong)} differ, net {off:+.2f} EUR"


def month_lines(invoices: Iterable[Invoice], month: str, rates: Rates) -> Iterator[str]:
    sums: dict[str, Money] = defaultdict(lambda: Money(Decimal(0), "EUR"))
    for invoice in invoices:
        if invoice.month == month:
            sums[invoice.customer] += convert(total(invoice), "EUR", month, rates)
    for customer in sorted(sums):
        yield f"{customer:<28}{sums[customer].amount:>12} EUR"
    whole = sum((money.amount for money in sums.values()), Decimal(0))
    yield f"{'total':<28}{whole:>12} EUR"


def overdue_lines(invoices: Iterable[Invoice], now: datetime) -> Iterator[str]:
    late = [invoice for invoice in invoices if is_overdue(invoice, now)]
    for invoice in late:
        yield (
            f"{invoice.number}  {invoice.customer:<24}  due {due_date(invoice)}"
            f"  {days_late(invoice, now):>3} days late"
        )
    yield f"{len(late)} overdue"
'''

PROJECT["ledgerly/cli.py"] = r'''"""The command line."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from ledgerly.rates import load_rates
from ledgerly.report import matches, month_lines, overdue_lines, reconcile_lines
from ledgerly.store import DATA, load_invoices


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ledgerly")
    top.add_argument("--data", type=Path, default=DATA)
    commands = top.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="what each customer was billed in a month")
    report.add_argument("--month", required=True)
    reconcile = commands.add_parser("reconcile", help="compare with what finance booked")
    reconcile.add_argument("--all", action="store_true", help="list matching invoices too")
    overdue = commands.add_parser("overdue", help="invoices that should have been paid")
    overdue.add_argument("--as-of", required=True, help="a moment, like 2026-03-02T09:00:00Z")
    return top


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    invoices = load_invoices(args.data / "invoices.json")
    rates = load_rates(args.data / "rates.json")
    if args.command == "report":
        print(*month_lines(invoices, args.month, rates), sep="\n")
        return 0
    if args.command == "reconcile":
        found = list(matches(invoices, rates))
        print(*reconcile_lines(found, args.all), sep="\n")
        return 1 if any(match.difference for match in found) else 0
    now = datetime.strptime(args.as_of, "%Y-%m-%dT%H:%M:%SZ")
    print(*overdue_lines(invoices, now), sep="\n")
    return 0
'''

PROJECT["tests/__init__.py"] = ""

PROJECT["tests/test_money.py"] = r"""from decimal import Decimal
from unittest import TestCase

from ledgerly.money import CurrencyMismatch, Money, minor_unit, round_money


class MoneyTest(TestCase):
    def test_minor_unit_of_yen_is_one(self):
        self.assertEqual(minor_unit("JPY"), Decimal(1))

    def test_round_money_rounds_halves_away_from_zero(self):
        self.assertEqual(round_money(Decimal("2.345"), "EUR"), Decimal("2.35"))
        self.assertEqual(round_money(Decimal("-2.345"), "EUR"), Decimal("-2.35"))

    def test_round_money_rounds_yen_to_whole_units(self):
        self.assertEqual(round_money(Decimal("1204.5"), "JPY"), Decimal("1205"))

    def test_adding_two_currencies_is_an_error(self):
        with self.assertRaises(CurrencyMismatch):
            Money(Decimal(1), "EUR") + Money(Decimal(1), "USD")

    def test_times_keeps_the_currency(self):
        self.assertEqual(Money(Decimal("1.20"), "CHF").times(3), Money(Decimal("3.60"), "CHF"))
"""

PROJECT["tests/test_convert.py"] = r"""from decimal import Decimal
from unittest import TestCase

from ledgerly.convert import convert
from ledgerly.money import Money
from ledgerly.rates import NoRate, Rates

RATES = Rates(
    {
        "2026-01": {
            "EUR": Decimal("0.925"),
            "GBP": Decimal("0.7905"),
            "JPY": Decimal("151.20"),
        }
    }
)


def eur(amount: str, currency: str) -> Decimal:
    return convert(Money(Decimal(amount), currency), "EUR", "2026-01", RATES).amount


class ConvertTest(TestCase):
    def test_same_currency_is_left_alone(self):
        self.assertEqual(eur("10.005", "EUR"), Decimal("10.005"))

    def test_dollars_use_the_rate_directly(self):
        self.assertEqual(eur("100.00", "USD"), Decimal("92.50"))

    def test_half_a_cent_rounds_up(self):
        self.assertEqual(eur("1.00", "USD"), Decimal("0.93"))
        self.assertEqual(eur("0.20", "USD"), Decimal("0.19"))

    def test_a_missing_rate_is_an_error(self):
        with self.assertRaises(NoRate):
            eur("1.00", "NZD")
"""

PROJECT["tests/test_duedates.py"] = r"""from datetime import date, datetime
from decimal import Decimal
from unittest import TestCase

from ledgerly.duedates import days_late, due_date, is_overdue
from ledgerly.models import Invoice, Line


def invoice(issued_at: str, terms_days: int = 30) -> Invoice:
    return Invoice(
        number="INV-1",
        customer="Test",
        country="DE",
        currency="EUR",
        issued_at=datetime.strptime(issued_at, "%Y-%m-%dT%H:%M:%SZ"),
        terms_days=terms_days,
        lines=(Line("A", 1, Decimal(1)),),
    )


class DueDateTest(TestCase):
    def test_terms_are_counted_from_the_day_of_issue(self):
        self.assertEqual(due_date(invoice("2026-01-10T12:00:00Z", 14)), date(2026, 1, 24))

    def test_the_due_day_itself_is_not_late(self):
        on_the_day = datetime(2026, 1, 24, 12, 0)
        self.assertFalse(is_overdue(invoice("2026-01-10T12:00:00Z", 14), on_the_day))

    def test_days_late_starts_the_day_after(self):
        after = datetime(2026, 1, 25, 12, 0)
        self.assertEqual(days_late(invoice("2026-01-10T12:00:00Z", 14), after), 1)
"""

PROJECT["tests/test_totals.py"] = r"""from datetime import datetime
from decimal import Decimal
from unittest import TestCase

from ledgerly.models import Invoice, Line
from ledgerly.totals import net, total, vat


def invoice(country: str, *units: str) -> Invoice:
    return Invoice(
        number="INV-1",
        customer="Test",
        country=country,
        currency="EUR",
        issued_at=datetime(2026, 1, 10, 12, 0),
        terms_days=30,
        lines=tuple(Line("A", 1, Decimal(unit)) for unit in units),
    )


class TotalsTest(TestCase):
    def test_net_is_the_sum_of_the_lines(self):
        self.assertEqual(net(invoice("DE", "1.10", "2.20")).amount, Decimal("3.30"))

    def test_vat_is_rounded_per_line(self):
        self.assertEqual(vat(invoice("DE", "0.50", "0.50")).amount, Decimal("0.20"))

    def test_exports_are_not_taxed(self):
        self.assertEqual(total(invoice("JP", "8.00")).amount, Decimal("8.00"))
"""

PROJECT["tests/test_cli.py"] = r"""import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from unittest import TestCase

from ledgerly.cli import main

RATES = {"base": "USD", "months": {"2026-01": {"EUR": "0.925", "GBP": "0.7905"}}}


def row(number: str, booked: str) -> dict[str, object]:
    return {
        "number": number,
        "customer": "Harbour Books",
        "country": "US",
        "currency": "USD",
        "issued_at": "2026-01-10T12:00:00Z",
        "utc_offset_minutes": -300,
        "terms_days": 14,
        "lines": [{"sku": "SEAT", "qty": 2, "unit": "50.00"}],
        "booked_eur": booked,
    }


class CliTest(TestCase):
    def run_cli(self, rows: list[dict[str, object]], *args: str) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder)
            (data / "invoices.json").write_text(json.dumps(rows), encoding="utf-8")
            (data / "rates.json").write_text(json.dumps(RATES), encoding="utf-8")
            out = io.StringIO()
            with redirect_stdout(out):
                code = main(["--data", folder, *args])
        return code, out.getvalue().splitlines()

    def test_reconcile_is_quiet_when_everything_matches(self):
        code, lines = self.run_cli([row("INV-1", "92.50")], "reconcile")
        self.assertEqual((code, lines), (0, ["1 invoices, 0 differ, net +0.00 EUR"]))

    def test_reconcile_lists_differences_and_fails(self):
        code, lines = self.run_cli([row("INV-1", "92.51")], "reconcile")
        self.assertEqual(code, 1)
        self.assertEqual(
            lines[0], "INV-1  USD      100.00  ours     92.50  booked     92.51  -0.01  DIFF"
        )

    def test_overdue_counts_days(self):
        rows, moment = [row("INV-1", "92.50")], "2026-01-27T12:00:00Z"
        _, lines = self.run_cli(rows, "overdue", "--as-of", moment)
        self.assertEqual(lines[-1], "1 overdue")
        self.assertIn("3 days late", lines[0])
"""

HISTORY: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "2025-10-06",
        "Money with minor units",
        (
            "README.md",
            "pyproject.toml",
            "ledgerly/__init__.py",
            "ledgerly/money.py",
            "tests/__init__.py",
            "tests/test_money.py",
        ),
    ),
    (
        "2025-11-03",
        "Read the per-dollar rate feed and convert through dollars",
        ("ledgerly/rates.py", "ledgerly/convert.py", "tests/test_convert.py", "data/rates.json"),
    ),
    (
        "2025-11-17",
        "Totals and VAT, rounded per line",
        ("ledgerly/models.py", "ledgerly/tax.py", "ledgerly/totals.py", "tests/test_totals.py"),
    ),
    (
        "2026-01-12",
        "Due dates and reminders",
        ("ledgerly/duedates.py", "ledgerly/reminders.py", "tests/test_duedates.py"),
    ),
    (
        "2026-01-13",
        "Reports, store and command line",
        (
            "ledgerly/store.py",
            "ledgerly/report.py",
            "ledgerly/cli.py",
            "ledgerly/__main__.py",
            "tests/test_cli.py",
        ),
    ),
    (
        "2026-03-01",
        "Changelog, data and nightly log up to February",
        ("CHANGELOG.md", "data/invoices.json", "logs/nightly-2026.log"),
    ),
]

# --------------------------------------------------------------------------------------------
# 2. Its data: invoices, rates and the nightly log
# --------------------------------------------------------------------------------------------

MONTHS: dict[str, dict[str, str]] = {
    "2026-01": {
        "CHF": "0.8810",
        "EUR": "0.925",
        "GBP": "0.7905",
        "JPY": "151.20",
        "NZD": "1.6480",
        "SEK": "10.412",
    },
    "2026-02": {
        "CHF": "0.8765",
        "EUR": "0.915",
        "GBP": "0.7860",
        "JPY": "149.75",
        "NZD": "1.6325",
        "SEK": "10.287",
    },
}
CUSTOMERS = [
    ("Harbour Books", "US", "USD", -300),
    ("Juniper & Vale", "US", "USD", -480),
    ("Old Mill Studio", "GB", "GBP", 0),
    ("Peak Lane Bikes", "GB", "GBP", 0),
    ("Kaze Instruments", "JP", "JPY", 540),
    ("Momiji Tea", "JP", "JPY", 540),
    ("Tussock Outdoors", "NZ", "NZD", 780),
    ("Alpen Optik", "CH", "CHF", 60),
    ("Norrsken Audio", "SE", "SEK", 60),
    ("Werkstatt Nord", "DE", "EUR", 60),
]
PRICES = {"SEAT": "49.00", "SEAT-PRO": "89.60", "STORAGE-GB": "0.34", "SUPPORT-H": "118.00"}
FACTORS = {
    "USD": "1.08",
    "GBP": "0.86",
    "JPY": "163.5",
    "NZD": "1.78",
    "CHF": "0.95",
    "SEK": "11.26",
    "EUR": "1",
}
STEPS = {"USD": "0.20", "JPY": "1"}
ONE_MINUTE = timedelta(minutes=1)


def below(rng: Random, limit: int) -> int:
    """A number from 0 up to the limit; only `random()` is promised to be the same everywhere."""
    return int(rng.random() * limit)


def in_steps(amount: Decimal, step: Decimal, rounding: str = ROUND_HALF_UP) -> Decimal:
    return (amount / step).to_integral_value(rounding=rounding) * step


def unit_price(sku: str, currency: str) -> Decimal:
    price = Decimal(PRICES[sku]) * Decimal(FACTORS[currency])
    step = Decimal(STEPS.get(currency, "0.01"))
    return max(step, in_steps(price, step))


@dataclass(frozen=True)
class Row:
    """One invoice row, with what the library makes of it while the bugs are in."""

    data: JsonObject
    number: str
    currency: str
    issued: datetime
    offset: timedelta
    terms: int
    total: Decimal
    ours: Decimal
    booked: Decimal


def make_rows(count: int) -> list[Row]:
    rng = Random(20260302)
    cent = Decimal("0.01")
    minutes = sorted(below(rng, 59 * 24 * 60) for _ in range(count))
    rows: list[Row] = []
    for index, minute in enumerate(minutes):
        issued = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
        customer, country, currency, offset = CUSTOMERS[below(rng, len(CUSTOMERS))]
        skus = sorted({list(PRICES)[below(rng, len(PRICES))] for _ in range(1 + below(rng, 2))})
        lines = [(sku, 1 + below(rng, 24), unit_price(sku, currency)) for sku in skus]
        vat = Decimal("0.19") if country == "DE" else Decimal(0)
        total = sum(
            (unit * qty + in_steps(unit * qty * vat, cent) for _, qty, unit in lines), Decimal(0)
        )
        table = MONTHS[issued.strftime("%Y-%m")]
        rate, euro = Decimal(table.get(currency, "1")), Decimal(table["EUR"])
        if currency == "EUR":
            ours = booked = total
        else:
            ours = in_steps(in_steps(total / rate, cent) * euro, cent)
            booked = in_steps(total * euro / rate, cent, ROUND_HALF_EVEN)
        terms = (14, 21, 30)[below(rng, 3)]
        number = f"INV-2026-{index + 1:04d}"
        data: JsonObject = {
            "number": number,
            "customer": customer,
            "country": country,
            "currency": currency,
            "issued_at": issued.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "utc_offset_minutes": offset,
            "terms_days": terms,
            "lines": [{"sku": sku, "qty": qty, "unit": str(unit)} for sku, qty, unit in lines],
            "booked_eur": str(booked),
        }
        rows.append(
            Row(
                data,
                number,
                currency,
                issued,
                timedelta(minutes=offset),
                terms,
                total,
                ours,
                booked,
            )
        )
    return rows


def night_lines(night: datetime, rows: Sequence[Row], rng: Random) -> Iterator[str]:
    """What the nightly job writes about the day that just ended."""
    clock = night

    def line(level: str, job: str, text: str) -> str:
        nonlocal clock
        clock += timedelta(milliseconds=180 + below(rng, 2400))
        return f"{clock.strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3]}Z {level:<5} {job:<10} {text}"

    day = (night - timedelta(days=1)).date()
    run = hashlib.sha256(night.isoformat().encode()).hexdigest()[:8]
    yield line("INFO", "nightly", f"run {run} started for {day}")
    if below(rng, 7) == 0:
        yield line("WARN", "rates", "feed answered 503, retrying in 30 s (attempt 1 of 3)")
    yield line("INFO", "rates", f"table {day:%Y-%m} has {len(MONTHS[f'{day:%Y-%m}'])} currencies")
    issued = [row for row in rows if row.issued.date() == day]
    for row in issued:
        same = row.ours == row.booked
        text = (
            f"{row.number} {row.currency} {row.total} ours={row.ours} booked={row.booked} "
            f"diff={row.ours - row.booked:+.2f} {'ok' if same else 'DIFF'}"
        )
        yield line("INFO" if same else "ERROR", "reconcile", text)
    for row in rows:
        due = row.issued.date() + timedelta(days=row.terms)
        local_due = (row.issued + row.offset).date() + timedelta(days=row.terms)
        if due - timedelta(days=2) == night.date():
            yield line("INFO", "reminders", f"{row.number} reminder written, due {due}")
            if due != local_due:
                yield line(
                    "WARN",
                    "reminders",
                    f"{row.number} mail says {due} but the customer's "
                    f"invoice page says {local_due} (offset {row.offset // ONE_MINUTE:+d} min)",
                )
    wrong = sum(row.ours != row.booked for row in issued)
    yield line(
        "INFO",
        "nightly",
        f"run {run} done, {len(issued)} reconciled, {wrong} differ, exit {1 if wrong else 0}",
    )


def make_log(rows: Sequence[Row]) -> str:
    rng = Random(59)
    nights = (datetime(2026, 1, 16, 2, 10, tzinfo=UTC) + timedelta(days=day) for day in range(45))
    return "".join(f"{text}\n" for night in nights for text in night_lines(night, rows, rng))


def make_project(root: Path, env: Mapping[str, str]) -> None:
    """Write the project into a folder and give it a history."""
    rows = make_rows(210)
    files = dict(PROJECT)
    files["data/invoices.json"] = (
        "[\n"
        + ",\n".join("  " + json.dumps(row.data, separators=(",", ":")) for row in rows)
        + "\n]\n"
    )
    files["data/rates.json"] = json.dumps({"base": "USD", "months": MONTHS}, indent=2) + "\n"
    files["logs/nightly-2026.log"] = make_log(rows)
    files[".gitignore"] = "__pycache__/\n"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _ = path.write_text(text, encoding="utf-8")

    def git(*args: str, date: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        _ = subprocess.run(
            ["git", *args], cwd=root, env={**env, **dates}, check=True, capture_output=True
        )

    git("init", "-b", "main")
    git("config", "core.abbrev", "8")
    git("add", ".gitignore")
    for day, subject, names in HISTORY:
        git("add", *names)
        git("commit", "-m", subject, date=f"{day}T16:30:00Z")


# --------------------------------------------------------------------------------------------
# 3. The tools, which really run, and the record of what they said
# --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Returned:
    """What a tool call gave back: the text for the model and the structure for the client."""

    text: str
    detail: object
    failed: bool = False


@dataclass
class Workspace:
    """The project folder, and the names it goes by in the transcript."""

    root: Path
    env: dict[str, str]
    todos: list[object] = field(default_factory=list[object])

    def real(self, shown: object) -> Path:
        return self.root / Path(str(shown)).relative_to(HOME)

    def shown(self, text: str) -> str:
        """Output as the transcript shows it: no folder of this machine, no timing."""
        for here in (str(self.root.resolve()), str(self.root)):
            text = text.replace(here, HOME)
        text = text.replace(sysconfig.get_path("stdlib"), "/usr/lib/python3.11")
        return re.sub(r"in \d+\.\d+s", "in 0.012s", text)


def numbered(lines: Sequence[str], start: int) -> str:
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, start))


def patch(before: str, after: str) -> list[JsonObject]:
    """The change as the client stores it: hunks with three lines of context."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[JsonObject] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
                continue
            lines += [f"-{line}" for line in old[i1:i2]]
            lines += [f"+{line}" for line in new[j1:j2]]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks


def bash(at: Workspace, given: JsonObject) -> Returned:
    command = str(given["command"]).replace(HOME, shlex.quote(str(at.root)))
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=at.root,
        env=at.env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    out = at.shown(done.stdout.rstrip("\n"))
    if done.returncode:
        text = f"Exit code {done.returncode}\n{out}"
        return Returned(text, f"Error: {text}", failed=True)
    return Returned(out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False})


def read(at: Workspace, given: JsonObject) -> Returned:
    every = at.real(given["file_path"]).read_text(encoding="utf-8").splitlines()
    start, limit = given.get("offset", 1), given.get("limit", 2000)
    assert isinstance(start, int) and isinstance(limit, int)
    lines = every[start - 1 : start - 1 + limit]
    detail = {
        "filePath": given["file_path"],
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": start,
        "totalLines": len(every),
    }
    return Returned(numbered(lines, start), {"type": "text", "file": detail})


def write(at: Workspace, given: JsonObject) -> Returned:
    path, content = at.real(given["file_path"]), str(given["content"])
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    _ = path.write_text(content, encoding="utf-8")
    detail: JsonObject = {
        "type": "create" if before is None else "update",
        "filePath": given["file_path"],
        "content": content,
        "structuredPatch": [] if before is None else patch(before, content),
        "originalFile": before,
    }
    if before is None:
        return Returned(f"File created successfully at: {given['file_path']}", detail)
    return Returned(f"The file {given['file_path']} has been updated successfully.", detail)


def replaced(text: str, old: str, new: str, every: bool) -> str:
    found = text.count(old)
    if not found or (found > 1 and not every):
        raise ValueError(f"{found} matches for {old!r}")
    return text.replace(old, new)


def edit(at: Workspace, given: JsonObject) -> Returned:
    path, old, new = at.real(given["file_path"]), str(given["old_string"]), str(given["new_string"])
    every = bool(given.get("replace_all", False))
    before = path.read_text(encoding="utf-8")
    after = replaced(before, old, new, every)
    _ = path.write_text(after, encoding="utf-8")
    return Returned(
        f"The file {given['file_path']} has been updated successfully.",
        {
            "filePath": given["file_path"],
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": patch(before, after),
            "userModified": False,
            "replaceAll": every,
        },
    )


def multi_edit(at: Workspace, given: JsonObject) -> Returned:
    path, edits = at.real(given["file_path"]), cast("list[JsonObject]", given["edits"])
    before = after = path.read_text(encoding="utf-8")
    said: list[str] = []
    for number, change in enumerate(edits, 1):
        old, new = str(change["old_string"]), str(change["new_string"])
        after = replaced(after, old, new, every=False)
        said.append(f'{number}. Replaced "{old}" with "{new}"')
    _ = path.write_text(after, encoding="utf-8")
    return Returned(
        f"Applied {len(said)} edits to {given['file_path']}:\n" + "\n".join(said),
        {
            "filePath": given["file_path"],
            "edits": edits,
            "originalFileContents": before,
            "structuredPatch": patch(before, after),
            "userModified": False,
        },
    )


def grep(at: Workspace, given: JsonObject) -> Returned:
    wanted = re.compile(str(given["pattern"]))
    top = at.real(given.get("path", HOME))
    files = [top] if top.is_file() else sorted(top.rglob(str(given.get("glob", "*"))))
    hits: list[tuple[str, str]] = []
    for path in files:
        name = path.relative_to(at.root).as_posix()
        if path.is_file() and not name.startswith(".git/"):
            lines = path.read_text(encoding="utf-8").splitlines()
            hits += [
                (name, f"{name}:{number}:{line}")
                for number, line in enumerate(lines, 1)
                if wanted.search(line)
            ]
    names = list(dict.fromkeys(name for name, _ in hits))
    if given.get("output_mode") == "content":
        text = "\n".join(line for _, line in hits)
        return Returned(
            text or "No matches found",
            {
                "mode": "content",
                "numFiles": 0,
                "filenames": [],
                "content": text,
                "numLines": len(hits),
            },
        )
    text = f"Found {len(names)} files\n" + "\n".join(names) if names else "No files found"
    return Returned(
        text, {"mode": "files_with_matches", "filenames": names, "numFiles": len(names)}
    )


def glob(at: Workspace, given: JsonObject) -> Returned:
    found = sorted(path for path in at.root.glob(str(given["pattern"])) if path.is_file())
    names = [f"{HOME}/{path.relative_to(at.root).as_posix()}" for path in found]
    return Returned(
        "\n".join(names) or "No files found",
        {"filenames": names, "durationMs": 12, "numFiles": len(names), "truncated": False},
    )


def todo_write(at: Workspace, given: JsonObject) -> Returned:
    old, at.todos = at.todos, cast("list[object]", given["todos"])
    return Returned(
        "The todo list was updated. Keep it current while you work.",
        {"oldTodos": old, "newTodos": at.todos},
    )


TOOLS: dict[str, Callable[[Workspace, JsonObject], Returned]] = {
    "Bash": bash,
    "Edit": edit,
    "Glob": glob,
    "Grep": grep,
    "MultiEdit": multi_edit,
    "Read": read,
    "TodoWrite": todo_write,
    "Write": write,
}
CHANGES_FILES = {"Edit", "MultiEdit", "Write"}


ITEM = re.compile(r"- |\d+\. ")


def prose(text: str) -> str:
    """Text as it is meant: lines of a paragraph or list item joined, the rest kept apart."""
    paragraphs: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines: list[str] = []
        for line in map(str.strip, paragraph.splitlines()):
            if lines and not ITEM.match(line):
                lines[-1] += f" {line}"
            else:
                lines.append(line)
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


@dataclass(frozen=True)
class Words:
    """Something the agent says, wrapped freely in this file."""

    wrapped: str

    @property
    def text(self) -> str:
        return prose(self.wrapped)


class Think(Words):
    """Said to itself."""


class Say(Words):
    """Said to the user."""


@dataclass(frozen=True)
class Use:
    """One tool call, with what its result is expected to contain."""

    tool: str
    given: JsonObject
    expect: tuple[str, ...] = ()
    fails: bool = False
    slow: bool = False
    worker: Callable[[Thread], str] | None = None


Block: TypeAlias = Think | Say | Use
Mark: TypeAlias = tuple[str | None, int, int]
"""A point in a thread to go back to: its last record, characters so far, tokens cached."""
Order: TypeAlias = Literal["batch", "stream", "crossed"]
"""How calls and results of one message interleave: all calls then all results, each call with
its result, or all calls then the results in reverse."""


def digest(*parts: object) -> bytes:
    return hashlib.sha512("\n".join(map(str, parts)).encode()).digest()


def letters(prefix: str, length: int, *parts: object) -> str:
    """An id in the style of the API: a prefix and letters and digits."""
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    return prefix + "".join(
        alphabet[byte % len(alphabet)] for byte in digest(prefix, *parts)[:length]
    )


def signature(text: str) -> str:
    """Stands in for the signature of a thinking block; nothing can verify it."""
    return base64.b64encode(b"".join(digest(n, text) for n in range(2))).decode()


@dataclass
class Session:
    """The transcript being written."""

    at: Workspace
    records: list[JsonObject] = field(default_factory=list[JsonObject])
    now: datetime = START
    serial: int = 0
    prompt: str = ""
    backups: JsonObject = field(default_factory=dict[str, object])
    id: str = str(uuid.uuid5(uuid.NAMESPACE_URL, "https://ledgerly.example/session"))

    def tick(self, milliseconds: int) -> str:
        self.now += timedelta(milliseconds=milliseconds)
        return self.stamp()

    def stamp(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def new_uuid(self) -> str:
        self.serial += 1
        return str(uuid.uuid5(uuid.UUID(self.id), str(self.serial)))

    def snapshot(self, message: str, update: bool) -> None:
        self.records.append(
            {
                "type": "file-history-snapshot",
                "messageId": message,
                "snapshot": {
                    "messageId": self.prompt,
                    "trackedFileBackups": dict(self.backups),
                    "timestamp": self.stamp(),
                },
                "isSnapshotUpdate": update,
            }
        )

    def back_up(self, shown: str, message: str) -> None:
        """Note that a file is about to change, once per file."""
        name = shown.removeprefix(f"{HOME}/")
        if name not in self.backups:
            exists = self.at.real(shown).exists()
            self.backups[name] = {
                "backupFileName": f"{digest(name).hex()[:16]}@v1" if exists else None,
                "version": 1,
                "backupTime": self.stamp(),
            }
            self.snapshot(message, update=True)


@dataclass
class Thread:
    """One conversation in the session: the main one, or that of a sub-agent."""

    session: Session
    overhead: int
    agent: str | None = None
    parent: str | None = None
    chars: int = 0
    cached: int = 0
    steps: int = 0
    uses: int = 0
    began: datetime = START

    def add(self, kind: str, rest: JsonObject, pause: int, parent: str | None = "") -> str:
        """Append one record after the last one, or after the given parent."""
        stamp, new = self.session.tick(pause), self.session.new_uuid()
        record: JsonObject = {
            "parentUuid": self.parent if parent == "" else parent,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": HOME,
            "sessionId": self.session.id,
            "version": VERSION,
            "gitBranch": "main",
        }
        if self.agent is not None:
            record["agentId"] = self.agent
        self.session.records.append(
            {**record, "type": kind, **rest, "uuid": new, "timestamp": stamp}
        )
        return new

    def user(self, content: object, pause: int, **extra: object) -> str:
        self.chars += len(
            content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        )
        self.parent = self.add(
            "user", {"message": {"role": "user", "content": content}, **extra}, pause
        )
        return self.parent

    def ask(self, text: str, after: Mark | None = None) -> None:
        """The user asks something; `after` goes back to an earlier point and asks again."""
        if self.session.records:
            _ = self.session.tick(94_000)
        self.session.prompt = str(
            uuid.uuid5(uuid.UUID(self.session.id), str(self.session.serial + 1))
        )
        self.session.snapshot(self.session.prompt, update=False)
        if after is not None:
            self.parent, self.chars, self.cached = after
        self.began = self.session.now
        _ = self.user(
            prose(text),
            120,
            thinkingMetadata={"maxThinkingTokens": 31999},
            permissionMode="acceptEdits",
        )

    def done(self) -> Mark:
        """The turn is over. Returns the place where the next one starts."""
        took = (self.session.now - self.began) // timedelta(milliseconds=1)
        self.parent = self.add(
            "system", {"subtype": "turn_duration", "durationMs": took, "isMeta": False}, 60
        )
        return self.parent, self.chars, self.cached

    def usage(self, spoken: int) -> JsonObject:
        """What one request cost: everything so far is read again, the new part is cached."""
        context = self.overhead + round(self.chars / 3.3)
        fresh = 3 + self.steps % 6
        created = context - self.cached - fresh
        read_back, self.cached = self.cached, context - fresh
        return {
            "input_tokens": fresh,
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": read_back,
            "output_tokens": max(1, round(spoken / 3.3)),
            "service_tier": "standard",
        }

    def step(self, *blocks: Block, order: Order = "batch") -> None:
        """One model response: a line per block, then (or in between) the tool results."""
        spoken = sum(
            len(json.dumps(block.given)) if isinstance(block, Use) else len(block.text)
            for block in blocks
        )
        self.steps += 1
        key = (self.agent, self.steps, self.session.serial)
        message: JsonObject = {
            "model": MODEL,
            "id": letters("msg_01", 22, *key),
            "type": "message",
            "role": "assistant",
        }
        ending: JsonObject = {
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self.usage(spoken),
        }
        request = letters("req_011C", 20, *key)
        self.chars += spoken
        waiting: list[tuple[Use, str, str]] = []
        for index, block in enumerate(blocks):
            tool_id = letters("toolu_01", 22, *key, index)
            if isinstance(block, Think):
                content: JsonObject = {
                    "type": "thinking",
                    "thinking": block.text,
                    "signature": signature(block.text),
                }
            elif isinstance(block, Say):
                content = {"type": "text", "text": block.text}
            else:
                content = {
                    "type": "tool_use",
                    "id": tool_id,
                    "name": block.tool,
                    "input": block.given,
                }
            said = self.add(
                "assistant",
                {"message": {**message, "content": [content], **ending}, "requestId": request},
                8600 if index == 0 else 2100,
            )
            self.parent = said
            if isinstance(block, Use):
                waiting.append((block, tool_id, said))
                if order == "stream":
                    self.run(*waiting.pop())
        for call in reversed(waiting) if order == "crossed" else waiting:
            self.run(*call)

    def run(self, use: Use, tool_id: str, said: str) -> None:
        """Carry out one call and record its result."""
        self.uses += 1
        if use.tool in CHANGES_FILES:
            self.session.back_up(str(use.given["file_path"]), said)
        if use.worker is not None:
            content, detail = self.delegate(use, tool_id, said)
            returned = Returned(json.dumps(content), detail)
        else:
            returned = TOOLS[use.tool](self.session.at, use.given)
            content = returned.text
            assert returned.failed == use.fails, (use, returned.text[-3000:])
        for wanted in use.expect:
            assert wanted in returned.text, f"expected {wanted!r} in {returned.text[-3000:]}"
        if use.slow:
            self.progress(use, tool_id, said, returned.text)
        result: JsonObject = {"tool_use_id": tool_id, "type": "tool_result", "content": content}
        if use.tool == "Bash":
            result["is_error"] = returned.failed
        self.parent = said
        _ = self.user([result], 420, toolUseResult=returned.detail, sourceToolAssistantUUID=said)

    def progress(self, use: Use, tool_id: str, said: str, text: str) -> None:
        lines = text.removeprefix("Exit code 1\n").splitlines()[:5]
        data: JsonObject = {
            "type": "bash_progress",
            "output": "\n".join(lines),
            "fullOutput": "\n".join(lines),
            "elapsedTimeSeconds": 2,
            "totalLines": len(lines),
            "timeoutMs": 120000,
        }
        assert use.tool == "Bash"
        _ = self.add(
            "progress",
            {"data": data, "toolUseID": "bash-progress-0", "parentToolUseID": tool_id},
            2000,
            said,
        )

    def delegate(self, use: Use, tool_id: str, said: str) -> tuple[list[JsonObject], JsonObject]:
        """Let a sub-agent work in a thread of its own; its last words are the result."""
        assert use.worker is not None
        prompt, agent = str(use.given["prompt"]), digest(tool_id).hex()[:7]
        began = self.session.now
        _ = self.add(
            "progress",
            {
                "data": {
                    "type": "agent_progress",
                    "prompt": prompt,
                    "agentId": agent,
                    "normalizedMessages": [],
                    "message": {
                        "type": "user",
                        "message": {"role": "user", "content": [{"type": "text", "text": prompt}]},
                    },
                },
                "toolUseID": f"agent_{tool_id}",
                "parentToolUseID": tool_id,
            },
            300,
            said,
        )
        worker = Thread(self.session, overhead=9_200, agent=agent)
        _ = worker.user(prompt, 200)
        report = use.worker(worker)
        took = (self.session.now - began) // timedelta(milliseconds=1)
        tokens = worker.overhead + round(worker.chars / 3.3)
        note = (
            f"agentId: {agent} (can be resumed)\n<usage>total_tokens: {tokens}\n"
            f"tool_uses: {worker.uses}\nduration_ms: {took}</usage>"
        )
        text: list[JsonObject] = [{"type": "text", "text": report}]
        detail: JsonObject = {
            "status": "completed",
            "prompt": prompt,
            "agentId": agent,
            "content": text,
            "totalDurationMs": took,
            "totalTokens": tokens,
            "totalToolUseCount": worker.uses,
        }
        return [*text, {"type": "text", "text": note}], detail


# --------------------------------------------------------------------------------------------
# 4. The story
# --------------------------------------------------------------------------------------------

TESTS = "python -m unittest discover -s tests -t ."
TODOS = [
    ("Reproduce the reconcile differences", "Reproducing the reconcile differences"),
    ("Find the cause in the conversion code", "Finding the cause"),
    ("Write a failing test", "Writing a failing test"),
    ("Fix the conversion", "Fixing the conversion"),
    ("Reconcile all invoices again", "Reconciling all invoices"),
    ("Make due dates follow the customer's day", "Fixing due dates"),
    ("Update the changelog and commit", "Updating the changelog"),
]


def sh(command: str, why: str, *expect: str, fails: bool = False, slow: bool = False) -> Use:
    return Use("Bash", {"command": command, "description": why}, expect, fails, slow)


def look(name: str, *expect: str, **part: int) -> Use:
    return Use("Read", {"file_path": f"{HOME}/{name}", **part}, expect)


def search(pattern: str, *expect: str, **options: str) -> Use:
    return Use("Grep", {"pattern": pattern, **options}, expect)


def save(name: str, content: str) -> Use:
    return Use("Write", {"file_path": f"{HOME}/{name}", "content": content})


def change(name: str, old: str, new: str, every: bool = False) -> Use:
    return Use(
        "Edit",
        {"replace_all": every, "file_path": f"{HOME}/{name}", "old_string": old, "new_string": new},
    )


def changes(name: str, *pairs: tuple[str, str]) -> Use:
    edits = [{"old_string": old, "new_string": new} for old, new in pairs]
    given: JsonObject = {"file_path": f"{HOME}/{name}", "edits": edits}
    return Use("MultiEdit", given, (f"Applied {len(edits)} edits",))


def todos(finished: int, count: int, working: bool = True) -> Use:
    """The todo list with so many items finished and, if working, the next one begun."""
    states = ["completed"] * finished + (["in_progress"] if working else [])
    states += ["pending"] * (count - len(states))
    listed: list[JsonObject] = [
        {"content": content, "status": state, "activeForm": active}
        for (content, active), state in zip(TODOS, states, strict=False)
    ]
    return Use("TodoWrite", {"todos": listed})


ROUNDING = r'''"""How a converted amount settles on the minor unit of its currency.

Conversions have their own rule, apart from `money.round_money`, which is a contract with the
billing service and with the tax office.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from ledgerly.money import minor_unit

CONVERSION_ROUNDING = ROUND_HALF_UP


def settle(amount: Decimal, currency: str) -> Decimal:
    """Round a converted amount, once, at the end of the conversion."""
    return amount.quantize(minor_unit(currency), rounding=CONVERSION_ROUNDING)
'''

CONVERT = r'''"""Convert money between currencies with the rate of a month."""

from __future__ import annotations

from ledgerly.money import Money
from ledgerly.rates import Rates
from ledgerly.rounding import settle


def convert(money: Money, to: str, month: str, rates: Rates) -> Money:
    """Convert to another currency through US dollars, the base of the rate feed.

    The dollar amount in the middle is never rounded: it is not money anyone is paid, and
    rounding it to cents moves the result by up to half a cent before the real rounding.
    """
    if money.currency == to:
        return money
    exact = money.amount * rates.per_usd(month, to) / rates.per_usd(month, money.currency)
    return Money(settle(exact, to), to)
'''

PIVOT_TESTS = r"""    def test_the_dollar_amount_in_the_middle_is_not_rounded(self):
        # INV-2026-0001, 0018 and 0022, with what finance booked.
        self.assertEqual(eur("101.48", "GBP"), Decimal("118.75"))
        self.assertEqual(eur("176264", "JPY"), Decimal("1078.33"))
        self.assertEqual(eur("512257", "JPY"), Decimal("3133.85"))

    def test_a_missing_rate_is_an_error(self):
"""

MODEL_CHANGES = [
    (
        "from datetime import datetime\n",
        "from datetime import datetime, timedelta, timezone\n",
    ),
    (
        "    booked: Money | None = None\n",
        r'''    booked: Money | None = None
    utc_offset_minutes: int = 0
    """The customer's offset when the invoice was issued."""
''',
    ),
    (
        '        return self.issued_at.strftime("%Y-%m")\n',
        r"""        return self.issued_at.strftime("%Y-%m")

    @property
    def customer_zone(self) -> timezone:
        return timezone(timedelta(minutes=self.utc_offset_minutes))
""",
    ),
    (
        '        issued_at=datetime.strptime(row["issued_at"], "%Y-%m-%dT%H:%M:%SZ"),\n',
        '        issued_at=parse_moment(row["issued_at"]),\n',
    ),
    (
        'if "booked_eur" in row else None,\n    )\n',
        r"""if "booked_eur" in row else None,
        utc_offset_minutes=row["utc_offset_minutes"],
    )
""",
    ),
    (
        "class BadRow(ValueError):\n",
        r'''def parse_moment(text: str) -> datetime:
    """A moment in UTC, like 2026-03-02T09:00:00Z."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


class BadRow(ValueError):
''',
    ),
]

DUEDATES = r'''"""When an invoice has to be paid: days are the customer's, moments are UTC."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ledgerly.models import Invoice


def local_day(invoice: Invoice, moment: datetime) -> date:
    """The customer's calendar day at a moment."""
    if moment.tzinfo is None:
        raise ValueError(f"a moment needs a timezone: {moment.isoformat()}")
    return moment.astimezone(invoice.customer_zone).date()


def issue_day(invoice: Invoice) -> date:
    return local_day(invoice, invoice.issued_at)


def due_date(invoice: Invoice) -> date:
    return issue_day(invoice) + timedelta(days=invoice.terms_days)


def is_overdue(invoice: Invoice, now: datetime) -> bool:
    return local_day(invoice, now) > due_date(invoice)


def days_late(invoice: Invoice, now: datetime) -> int:
    return max(0, (local_day(invoice, now) - due_date(invoice)).days)
'''

DUEDATE_TESTS = r"""from datetime import date, datetime, timezone
from decimal import Decimal
from unittest import TestCase

from ledgerly.duedates import days_late, due_date, is_overdue
from ledgerly.models import Invoice, Line
from ledgerly.reminders import to_remind

AUCKLAND, TOKYO, NEW_YORK = 780, 540, -300


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def invoice(issued_at: str, terms_days: int = 14, offset: int = 0) -> Invoice:
    return Invoice(
        number="INV-1",
        customer="Test",
        country="DE",
        currency="EUR",
        issued_at=moment(issued_at),
        terms_days=terms_days,
        lines=(Line("A", 1, Decimal(1)),),
        utc_offset_minutes=offset,
    )


class DueDateTest(TestCase):
    def test_terms_are_counted_from_the_day_of_issue(self):
        self.assertEqual(due_date(invoice("2026-01-10T12:00:00Z")), date(2026, 1, 24))

    def test_an_evening_in_utc_is_the_next_day_in_auckland_and_tokyo(self):
        for offset in (AUCKLAND, TOKYO):
            late = invoice("2026-01-10T22:15:00Z", offset=offset)
            self.assertEqual(due_date(late), date(2026, 1, 25))

    def test_an_early_morning_in_utc_is_the_day_before_in_new_york(self):
        early = invoice("2026-01-10T02:00:00Z", offset=NEW_YORK)
        self.assertEqual(due_date(early), date(2026, 1, 23))

    def test_the_due_day_itself_is_not_late(self):
        on_the_day = moment("2026-01-24T12:00:00Z")
        self.assertFalse(is_overdue(invoice("2026-01-10T12:00:00Z"), on_the_day))

    def test_overdue_is_judged_by_the_customers_day(self):
        sold = invoice("2026-01-10T00:30:00Z", offset=AUCKLAND)
        self.assertTrue(is_overdue(sold, moment("2026-01-24T11:30:00Z")))

    def test_days_late_starts_the_day_after(self):
        self.assertEqual(
            days_late(invoice("2026-01-10T12:00:00Z"), moment("2026-01-25T12:00:00Z")), 1
        )

    def test_a_reminder_goes_out_two_local_days_before(self):
        late = invoice("2026-01-10T22:15:00Z", offset=AUCKLAND)
        self.assertEqual(to_remind([late], moment("2026-01-22T02:10:00Z")), [])
        self.assertEqual(to_remind([late], moment("2026-01-23T02:10:00Z")), [late])

    def test_a_moment_without_a_timezone_is_an_error(self):
        with self.assertRaises(ValueError):
            is_overdue(invoice("2026-01-10T12:00:00Z"), datetime(2026, 1, 25))
"""

PIVOT_CHECK = """python - <<'PY'
from ledgerly.convert import convert
from ledgerly.rates import load_rates
from ledgerly.store import DATA, load_invoices
from ledgerly.totals import total

rates = load_rates(DATA / "rates.json")
for invoice in load_invoices():
    if invoice.number[-4:] in {"0001", "0018", "0022", "0023", "0029", "0037"}:
        money = total(invoice)
        usd = money.amount / rates.per_usd(invoice.month, money.currency)
        exact = usd * rates.per_usd(invoice.month, "EUR")
        ours = convert(money, "EUR", invoice.month, rates).amount
        print(invoice.number, money, f"usd={usd:.6f} exact={exact:.6f}",
              f"ours={ours} booked={invoice.booked.amount}")
PY"""

TIE_CHECK = """python - <<'PY'
from ledgerly.convert import convert
from ledgerly.rates import load_rates
from ledgerly.store import DATA, load_invoices
from ledgerly.totals import total

rates = load_rates(DATA / "rates.json")
ties = 0
for invoice in load_invoices():
    money = total(invoice)
    if money.currency == "EUR":
        continue
    rate = rates.per_usd(invoice.month, "EUR") / rates.per_usd(invoice.month, money.currency)
    exact = money.amount * rate
    if (exact * 1000) % 10 == 5 and exact * 1000 == int(exact * 1000):
        ties += 1
        ours = convert(money, "EUR", invoice.month, rates).amount
        print(invoice.number, money, "exact", exact, "ours", ours, "booked", invoice.booked.amount)
print(ties, "ties")
PY"""

SURVEY_PROMPT = prose("""
    Find every place in the ledgerly package where a calendar day or a moment is made, compared or
    parsed. I want to make due dates follow the customer's local day (utc_offset_minutes on each
    row of data/invoices.json); moments stay UTC.

    For each place report file and line, whether the value is naive or aware, and whether it has
    to change. Say explicitly if something looks like a day but should stay UTC. Do not edit
    anything.
""")


def survey(worker: Thread) -> str:
    """The sub-agent: read-only, answers with a list of places."""
    worker.step(
        Say("I'll search for all date handling first, then read the files it turns up."),
        search(
            r"datetime|timedelta|timezone|\.date\(\)|strptime|strftime",
            "ledgerly/duedates.py",
            path=f"{HOME}/ledgerly",
            output_mode="content",
        ),
        search("utc_offset", "tests/test_cli.py", glob="*.py"),
    )
    worker.step(
        look("ledgerly/models.py", "strptime"), look("ledgerly/cli.py", "as_of"), order="stream"
    )
    worker.step(look("ledgerly/duedates.py"), look("ledgerly/reminders.py"))
    report = prose("""
        Nothing in the package is timezone-aware today, and nothing reads `utc_offset_minutes`: it
        is in every data row and in one test fixture, and `invoice_from_row` drops it.

        Must change:
        1. `ledgerly/models.py:49` `invoice_from_row`: `strptime(..., "%Y-%m-%dT%H:%M:%SZ")` gives
          a naive datetime; the `Z` is matched as a letter. Make it aware (UTC) and keep the
          offset on `Invoice`.
        2. `ledgerly/duedates.py:11` `issue_day`: `issued_at.date()` is the UTC day. Root cause of
          the wrong due dates.
        3. `ledgerly/duedates.py:19` and `:23` `is_overdue`, `days_late`: `now.date()` is the UTC
          day too, so fixing only the issue day would move the error instead of removing it.
        4. `ledgerly/reminders.py:20` `to_remind`: one `today` for all customers; it has to be per
          invoice.
        5. `ledgerly/cli.py:38` `main`: `--as-of` is parsed naive; needs `tzinfo=timezone.utc`,
          otherwise `astimezone` would take it for the local time of the machine.

        Should stay UTC:
        6. `ledgerly/models.py:34` `Invoice.month`: picks the rate table; its docstring says
          finance books by the UTC month. Making it local would change booked values around month
          ends.
        7. `ledgerly/report.py` only formats `due_date`, no change.
    """)
    worker.step(Say(report))
    return report


def find_the_rounding_bug(main: Thread) -> None:
    main.ask("""
        Finance says our EUR values are a cent off on a bunch of invoices, in both directions, and
        the nightly reconcile has been failing for weeks. Please find out why and fix it, starting
        with a failing test. The job's log is in logs/, the invoices are in data/invoices.json;
        booked_eur is what finance booked and is right by definition.
    """)
    main.step(
        Think("""
            One-cent differences in both directions smell like rounding, probably rounding twice
            somewhere in the currency conversion. If it were only the rounding mode the
            differences would all point the same way. Let me get the layout and the history first,
            then the log.
        """),
        Say("I'll start with the layout and the recent history."),
        Use("Glob", {"pattern": "**/*.py"}, ("ledgerly/convert.py",)),
        sh(
            "git log --oneline && git status --short",
            "Show recent commits and local changes",
            "convert through dollars",
        ),
    )
    main.step(
        Say("Next the README and the changelog, to see when conversion last changed."),
        look("README.md", "reconcile"),
        look("CHANGELOG.md", "go through US dollars"),
        order="stream",
    )
    main.step(
        Think("""
            0.7.0 is interesting: "go through US dollars, because the new feed quotes everything
            per dollar". Before that the table was per euro, so a conversion to EUR was a single
            division. Going through a third currency is fine as long as the amount in the middle
            is not rounded, and it is exactly the kind of place where someone rounds out of habit,
            because every other amount in the library is rounded. 0.7.1 is the other candidate:
            VAT rounded per line. But VAT is only charged at home, and home invoices are in EUR
            and not converted at all, so it could only explain differences on EUR invoices. The
            log will tell which currencies are affected. It may be long; I want all of it once,
            because patterns over currencies matter more than single lines, and I would rather not
            guess at a grep.
        """),
        Say("""
            The changelog has a candidate: 0.7.0 switched conversion to go through US dollars. Now
            what the nightly job saw.
        """),
        sh("cat logs/nightly-2026.log", "Show the log of the nightly job", "DIFF", slow=True),
    )
    main.step(
        Think("""
            Every DIFF is exactly one cent. EUR invoices never differ, which fits: they are not
            converted. GBP, JPY, CHF, NZD go both ways; the USD ones in the log are all +0.01. Two
            different causes? There are also WARN lines from reminders about due dates that differ
            from the invoice page by a day. Not what I was asked, but worth remembering.
        """),
        Say("""
            Every difference is exactly one cent, EUR invoices never differ, and the USD ones all
            point the same way while the others go both ways. I'll track the work and read the
            conversion code.
        """),
        todos(0, 5),
        look("ledgerly/convert.py", "round_money"),
        look("ledgerly/money.py", "ROUND_HALF_UP"),
        order="stream",
    )
    main.step(
        Think("""
            There it is: `round_money(... , "USD")` on the way and `round_money(..., to)` at the
            end. How far off can that be? Rounding to cents moves the dollar amount by at most
            0.005; times 0.925 that is at most 0.0046 EUR, so the final value can cross a rounding
            boundary and move by one cent, never by two. That matches "a cent off, in both
            directions". For USD invoices the first rounding does nothing, the amount has two
            decimals already, so the USD differences need another explanation; money.py rounds
            halves away from zero, always. If finance does something else with halves, every
            difference from that source has the same sign, and that is what the USD lines show. So
            the hypothesis is two causes. I should not fix both in one step, otherwise I cannot
            tell which change removed which difference. To count them properly I need the rows
            themselves.
        """),
        Say("""
            `convert` rounds the dollar amount in the middle and then rounds again. Before I blame
            that, I want to see the data and reproduce the failure.
        """),
        look("data/invoices.json", "INV-2026-0210"),
    )
    main.step(
        sh(
            "python -m ledgerly reconcile",
            "Reproduce the nightly reconcile",
            "210 invoices, 38 differ, net +0.06 EUR",
            fails=True,
        )
    )
    main.step(
        Think("""
            38 of 210, the same picture as the log: 33 in GBP, JPY, CHF, NZD and SEK with both
            signs, 5 in USD and all five +0.01, none in EUR. The net is only +0.06, which is why
            nobody noticed it in the monthly totals. Two things could still spoil the double
            rounding theory: a rate that is read as a float somewhere, or totals that are not what
            I think they are. Reading rates.py and totals.py settles both, and I need the existing
            tests of convert before I write another one.
        """),
        Say("Reproduced: 38 of 210 differ. Reading the rest of the path an amount takes."),
        look("ledgerly/rates.py"),
        look("ledgerly/totals.py"),
        look("tests/test_convert.py"),
        order="crossed",
    )
    main.step(
        Think("""
            Totals look right: net is exact, VAT is rounded per line on purpose (0.7.1). So it is
            convert. Check with exact arithmetic on a few rows, including two of the USD ones,
            because for USD the middle step divides by 1 and cannot lose anything.
        """),
        sh(
            PIVOT_CHECK,
            "Compare exact conversion with ours for some invoices",
            "INV-2026-0001 GBP 101.48",
            "exact=441.225000",
        ),
    )
    main.step(
        Think("""
            The four non-USD rows: exact 118.746363 gives 118.75 under any mode, we have 118.74.
            1078.334656 gives 1078.33, we have 1078.34. 3133.847388 gives 3133.85, we have
            3133.84. 2756.541998 gives 2756.54, we have 2756.55. In all four the booked value is
            the correctly rounded exact value, so the middle rounding alone explains them. The two
            USD rows are exact halves, 441.225 and 1032.485, booked 441.22 and 1032.48: both go to
            the even cent, which fits half-even and also half-down. Two rows are not enough to
            tell those apart. For the test I take real invoices of January, since the test table
            already has the January rates for GBP and JPY, and none of them is a tie, so the test
            will not depend on how the second question is answered.
        """),
        Say("""
            That separates two effects:

            - GBP, JPY, CHF and so on: `exact` rounds to what finance booked, ours does not.
              INV-2026-0001 is 118.746 exactly; rounding the dollars to cents first gives 118.74.
              Rounding twice is the bug.
            - USD: nothing is lost in the middle; the exact value is half a cent (441.225). That
              is about which way a half goes, a separate question.

            First a failing test for rounding twice, with real invoices and their booked values.
        """),
        todos(2, 5),
        change(
            "tests/test_convert.py", "    def test_a_missing_rate_is_an_error(self):\n", PIVOT_TESTS
        ),
    )
    main.step(
        sh(
            f"{TESTS} 2>&1",
            "Run the tests",
            "FAIL: test_the_dollar_amount_in_the_middle_is_not_rounded",
            "FAILED (failures=1)",
            fails=True,
        )
    )
    main.step(
        Say("""
            The new test fails for the right reason (118.74 instead of 118.75).

            Cause: `convert` rounds to US cents in the middle, then to the target currency. It
            came in with 0.7.0, when conversion began to go through dollars.

            Plan: keep the middle amount exact and round once at the end. For that I'd give
            `round_money` in money.py an optional `rounding` argument, so that conversions can
            choose their mode later. OK to go ahead?
        """)
    )
    _ = main.done()


def fix_the_conversion(main: Thread) -> None:
    main.ask("""
        Good find. But don't touch the public API of money.py: the billing service imports Money
        and round_money directly and has a test that pins their signatures. Otherwise go ahead.
    """)
    main.step(
        Think("""
            So no new argument on round_money, and no change of its behaviour either, since
            billing relies on it. The rounding of conversions needs its own home. A private helper
            inside convert.py would do, but the mode is a business rule that finance may ask
            about; a tiny module with a name is easier to find and to test.
        """),
        Say("""
            Understood: money.py stays exactly as it is.

            Decision: conversions get their own rounding in a new module, `ledgerly/rounding.py`,
            instead of a new argument on `round_money`, because the signature is pinned by the
            billing service and the mode is a finance rule that should have one obvious place. I
            keep HALF_UP there for now, so that this step changes only one thing: the double
            rounding.
        """),
        save("ledgerly/rounding.py", ROUNDING),
        save("ledgerly/convert.py", CONVERT),
    )
    main.step(todos(3, 5), sh(f"{TESTS} 2>&1", "Run the tests", "Ran 19 tests", "OK"))
    main.step(
        Say("Green. Now all invoices again."),
        todos(4, 5),
        sh(
            "python -m ledgerly reconcile",
            "Reconcile all invoices",
            "210 invoices, 5 differ, net +0.05 EUR",
            fails=True,
        ),
    )
    main.step(
        Think("""
            38 down to 5, all USD, all +0.01. Earlier I saw 441.225 exactly. If all five are exact
            halves, and if there are other exact halves that do match, then finance rounds halves
            to even. Count all ties, not just the failing ones.
        """),
        sh(TIE_CHECK, "List invoices whose exact value is half a cent", "INV-2026-0029", "10 ties"),
    )
    main.step(
        Think("""
            Ten ties. Five match, five do not. Matching: 824.915 to 824.92, 1063.195 to 1063.20,
            1971.915 to 1971.92, 582.855 to 582.86, 48.495 to 48.50: finance went up, always to an
            even last digit. Not matching: 441.225 to 441.22 twice, 1032.485 to 1032.48, 978.465
            to 978.46, 2193.545 to 2193.54: finance went down, again to an even last digit. So
            half-down is ruled out by the first five and half-up by the other five; half-even
            explains all ten. That is strong evidence, but which rule is right is not mine to
            decide from the data, and the existing test test_half_a_cent_rounds_up says that
            someone once wanted half-up on purpose. I'll report and ask; the change is one line if
            they agree.
        """),
        Say("""
            From 38 differences to 5. The five left are all USD and all exactly half a cent before
            rounding, for example INV-2026-0029: 441.225. We round up to 441.23, finance booked
            441.22. Of the ten ties in the data, the five we match are those where rounding up
            happens to land on an even cent, and the five we miss are those where it lands on an
            odd one. So it looks as if finance rounds halves to even.

            I have not changed the mode on that evidence alone: it is a finance rule, not a bug in
            the code. Can you confirm with them? It is one line in `ledgerly/rounding.py`.
        """),
    )
    _ = main.done()


def use_half_even(main: Thread) -> Mark:
    main.ask("""
        actually, use ROUND_HALF_EVEN, not HALF_UP — finance confirmed, their booking system uses
        banker's rounding for conversions. VAT stays as it is, that one is the tax office's rule.
    """)
    main.step(
        Think("""
            Finance confirmed, so half-even for conversions. Scope: `settle` in rounding.py is
            only used by `convert`. VAT goes through `round_money` in totals.py and must stay
            half-up, the user says so explicitly, and money.py must not change at all. So the only
            edit is in rounding.py, two places with the same name, plus a sentence in the
            docstring that says where the rule comes from, so that the next reader does not "fix"
            it back. I expect test_half_a_cent_rounds_up in test_convert.py to fail now, and
            test_round_money_rounds_halves_away_from_zero in test_money.py to keep passing. If the
            second one fails I have touched the wrong thing.
        """),
        Say("""
            Changing the mode for conversions only; `round_money`, and with it VAT, keeps HALF_UP.
        """),
        change("ledgerly/rounding.py", "ROUND_HALF_UP", "ROUND_HALF_EVEN", every=True),
        change(
            "ledgerly/rounding.py",
            '    """Round a converted amount, once, at the end of the conversion."""',
            '    """Round a converted amount, once, at the end of the conversion.\n\n'
            '    Halves go to the even neighbour, as in finance\'s booking system.\n    """',
        ),
    )
    main.step(
        sh(
            f"{TESTS} 2>&1",
            "Run the tests",
            "FAIL: test_half_a_cent_rounds_up",
            "FAILED (failures=1)",
            fails=True,
        )
    )
    main.step(
        Say("""
            `test_half_a_cent_rounds_up` pinned the old rule for conversions, so it has to change
            with the decision; I'll test both directions of a tie.
        """),
        change(
            "tests/test_convert.py",
            "    def test_half_a_cent_rounds_up(self):\n"
            '        self.assertEqual(eur("1.00", "USD"), Decimal("0.93"))\n'
            '        self.assertEqual(eur("0.20", "USD"), Decimal("0.19"))\n',
            "    def test_half_a_cent_goes_to_the_even_cent(self):\n"
            '        self.assertEqual(eur("1.00", "USD"), Decimal("0.92"))\n'
            '        self.assertEqual(eur("0.60", "USD"), Decimal("0.56"))\n'
            '        self.assertEqual(eur("477.00", "USD"), Decimal("441.22"))  '
            "# INV-2026-0029\n",
        ),
        sh(f"{TESTS} 2>&1", "Run the tests", "Ran 19 tests", "OK"),
    )
    main.step(
        sh(
            "python -m ledgerly reconcile --all",
            "Reconcile, listing every invoice",
            "210 invoices, 0 differ, net +0.00 EUR",
        )
    )
    main.step(
        Say("All 210 invoices match. Back to the reminder warnings I saw in the log."),
        todos(5, 5, working=False),
        search(
            "invoice page says",
            "INV-2026-0020",
            path=f"{HOME}/logs/nightly-2026.log",
            output_mode="content",
        ),
        look("ledgerly/duedates.py", "issued_at.date()"),
    )
    main.step(
        Think("""
            The warnings are about due dates, not money. Customers at +540 and +780 minutes get a
            mail with a date one day before the one on their invoice page, and those at -300 and
            -480 sometimes one day after. `issue_day` takes the day of `issued_at` as stored, and
            that is UTC. An invoice issued at 22:15 UTC is issued on the next day in Tokyo and
            Auckland. The changelog of 0.8.0 says that `utc_offset_minutes` was added to the rows
            and that nothing reads it yet, so the information is there. It is a separate bug with
            customers on the other end, so a separate decision: I report it and do not widen the
            change without being asked.
        """),
        Say("""
            The reconcile bug is fixed: 38 differences, then 5, now 0. Two causes, two decisions:

            1. Rounding in the middle (33 invoices). `convert` now rounds once, at the end.
            2. Ties (5 invoices). Conversions round half to even, as finance confirmed; VAT and
              `round_money` keep half up. money.py is unchanged.

            Found along the way, not touched yet: reminders name the wrong due date for customers
            far from UTC. `due_date` counts from `issued_at.date()`, the UTC day, but the invoice
            page shows the customer's day. Auckland and Tokyo get a date one day early, the US
            sometimes one day late: 31 warnings since mid January. Shall I fix that too?
        """),
    )
    return main.done()


def local_command(main: Thread) -> Mark:
    """The user runs a command of the client; the model is told not to answer it."""
    _ = main.user(
        "<local-command-caveat>Caveat: what follows is the output of a local command. "
        "It is not addressed to you.</local-command-caveat>",
        15_000,
        isMeta=True,
    )
    _ = main.user(
        "<command-name>/permissions</command-name>\n"
        "<command-message>permissions</command-message>\n<command-args></command-args>",
        10,
    )
    _ = main.user("<local-command-stdout>Permission mode: accept edits</local-command-stdout>", 10)
    return main.parent, main.chars, main.cached


def ask_and_go_back(main: Thread, fork: Mark) -> None:
    """A turn the user abandons: they go back to the fork and ask something else."""
    main.ask(
        """
        Yes, fix the reminders too, and while you're at it turn the reconcile output into a proper
        table with a header, finance wants to paste it into a deck.
    """,
        after=fork,
    )
    main.step(
        Say("""
            Two things then. I'll look at how the reports are put together before the due dates.
        """),
        look("ledgerly/report.py", "reconcile_lines"),
        look("ledgerly/cli.py", "as_of"),
    )
    main.step(
        Say("""
            The report module says that the ops scripts parse its lines with grep and awk. A
            header and column rules would break them, so I would add the table as a separate
            `--table` option instead of changing the default. Starting with that.
        """)
    )


def fix_due_dates(main: Thread, fork: Mark) -> None:
    main.ask(
        """
        Yes, fix the reminders too. A due date is a day in the customer's calendar, so use
        utc_offset_minutes from the invoice. --as-of and everything we store stays UTC.
    """,
        after=fork,
    )
    main.step(
        Think("""
            This touches every place that makes a day out of a moment. Missing one gives a half
            fix that is worse than none. A read-only survey by a sub-agent first; that keeps the
            file dumps out of this conversation.
        """),
        Say("""
            Days and moments are mixed in several modules. I'll have a sub-agent list every place
            before I change any.
        """),
        Use(
            "Task",
            {
                "description": "Survey date handling",
                "prompt": SURVEY_PROMPT,
                "subagent_type": "Explore",
            },
            ("Must change",),
            worker=survey,
        ),
    )
    main.step(
        Say("""
            Good: five places to change, and one that must not. Decision: `Invoice.month` stays in
            UTC, because it selects the rate table and finance books by the UTC month; making it
            local would bring back differences around month ends. Let me read what I am about to
            change, and keep the current overdue list for comparison.
        """),
        todos(5, 6),
        look("ledgerly/models.py", "invoice_from_row"),
        look("ledgerly/reminders.py", "today = now.date()"),
        look("tests/test_duedates.py", "DueDateTest"),
        look("tests/test_cli.py", "test_overdue_counts_days"),
        sh(
            "mkdir -p build && python -m ledgerly overdue --as-of 2026-03-02T09:00:00Z "
            "| tee build/overdue-before.txt",
            "List overdue invoices before the change",
            "144 overdue",
        ),
    )
    main.step(
        Think("""
            The survey agrees with what I saw. Point 3 is the one I would have missed: if only the
            issue day becomes local and "now" stays UTC, an Auckland customer would be called
            overdue half a day late, and a New York one five hours early. Both sides of the
            comparison have to be days of the same calendar. The cleanest form is one function,
            `local_day(invoice, moment)`, used for the issue moment and for now, and nothing else
            in the package makes a day out of a moment. A naive moment should be refused there:
            astimezone would silently take it for machine-local time, and on the servers that
            happens to be UTC, so tests would pass and a laptop would be wrong. The offset goes on
            Invoice with a default of 0, because the totals tests build invoices without one, and
            so may other callers.
        """),
        Say("""
            Tests first. I rewrite the due date tests so that moments are aware and the customers
            sit in Auckland, Tokyo and New York, and pin that a naive moment is an error: silently
            treating it as UTC is how this happened.
        """),
        save("tests/test_duedates.py", DUEDATE_TESTS),
        sh(
            "python -m unittest tests.test_duedates 2>&1",
            "Run the due date tests",
            "unexpected keyword argument 'utc_offset_minutes'",
            "FAILED (errors=8)",
            fails=True,
            slow=True,
        ),
    )
    main.step(
        Say("""
            Now the model: keep the offset and parse moments as UTC. The field gets a default of 0
            so that existing callers of `Invoice(...)` keep working.
        """),
        changes("ledgerly/models.py", *MODEL_CHANGES),
        save("ledgerly/duedates.py", DUEDATES),
    )
    main.step(
        Think("""
            Left to do: `to_remind` and the command line. In `to_remind` the single `today` has to
            go, because at 02:10 UTC, when the nightly job runs, it is already afternoon in
            Auckland and still the evening before in New York. Comparing the reminder day with the
            customer's own day is right for both. One consequence to be aware of: the job runs
            once per day, so each customer still gets exactly one run per local day, and no
            reminder is skipped or doubled. In cli.py only the parsing of --as-of changes. The
            text that `overdue` prints keeps its format.
        """),
        Say("""
            Reminders decide "today" per invoice, and the command line parses `--as-of` as UTC.
            Its output does not change.
        """),
        change(
            "ledgerly/reminders.py",
            "    today = now.date()\n"
            "    return [invoice for invoice in invoices if reminder_day(invoice) == today]\n",
            "    return [\n"
            "        invoice\n"
            "        for invoice in invoices\n"
            "        if reminder_day(invoice) == local_day(invoice, now)\n"
            "    ]\n",
        ),
        change(
            "ledgerly/reminders.py",
            "from ledgerly.duedates import due_date\n",
            "from ledgerly.duedates import due_date, local_day\n",
        ),
        change(
            "ledgerly/reminders.py",
            '    """The invoices whose reminder goes out today."""',
            '    """The invoices whose reminder goes out today, on the customer\'s day."""',
        ),
        change(
            "ledgerly/cli.py",
            '    now = datetime.strptime(args.as_of, "%Y-%m-%dT%H:%M:%SZ")\n'
            '    print(*overdue_lines(invoices, now), sep="\\n")\n',
            '    print(*overdue_lines(invoices, parse_moment(args.as_of)), sep="\\n")\n',
        ),
        change(
            "ledgerly/cli.py",
            "import argparse\nfrom datetime import datetime\nfrom pathlib import Path\n\n",
            "import argparse\nfrom pathlib import Path\n\n"
            "from ledgerly.models import parse_moment\n",
        ),
        order="stream",
    )
    main.step(sh(f"{TESTS} -v 2>&1", "Run all tests", "Ran 24 tests", "OK", slow=True))
    main.step(
        sh(
            "python -m ledgerly overdue --as-of 2026-03-02T09:00:00Z > build/overdue-after.txt; "
            "diff build/overdue-before.txt build/overdue-after.txt",
            "Compare the overdue list with the one before",
            "days late",
            fails=True,
        ),
        sh(
            "python -m ledgerly reconcile",
            "Check that reconcile is still clean",
            "210 invoices, 0 differ",
        ),
    )
    main.step(
        Think("""
            Every changed line moves by exactly one day, which is what a timezone fix should do; a
            two-day move would have meant applying the offset twice. The signs are right as well:
            Momiji Tea, Kaze Instruments and Tussock Outdoors one day later, Juniper & Vale and
            Harbour Books one day earlier. INV-2026-0143 of Werkstatt Nord is gone from the list:
            due 2 March local, and today is 2 March, so not late. Reconcile is untouched by this,
            as it should be, since `month` stays in UTC.
        """),
        Say("""
            Due dates now follow the customer's day, and reconcile is still at 0 differences.
            (`diff` exits with 1 because the lists differ, which is the point.) The changes in the
            overdue list are the invoices issued late in the UTC day in Tokyo and Auckland, one
            day later than before, and US invoices issued just after midnight UTC, one day
            earlier. One German invoice, INV-2026-0143, was issued in the last hour of the UTC day
            and is not overdue yet, so the count goes from 144 to 143. The output format is
            unchanged.
        """),
    )
    _ = main.done()


def change_the_output_and_stop(main: Thread) -> None:
    main.ask("""
        Great. One more thing: make the reconcile report easier to read, thousands separators in
        the amounts.
    """)
    main.step(
        Say("Small change in `reconcile_lines`. Reading it again first."),
        look("ledgerly/report.py", "def reconcile_lines", offset=38, limit=18),
    )
    main.step(
        changes(
            "ledgerly/report.py",
            ("{match.total.amount:>11}", "{match.total.amount:>13,}"),
            (
                "{match.ours.amount:>9}  booked {match.booked.amount:>9}",
                "{match.ours.amount:>10,}  booked {match.booked.amount:>10,}",
            ),
        ),
        sh(
            f"{TESTS} 2>&1",
            "Run the tests",
            "FAIL: test_reconcile_lists_differences_and_fails",
            fails=True,
        ),
    )
    _ = main.user([{"type": "text", "text": "[Request interrupted by user]"}], 2500)


def wrap_up(main: Thread) -> None:
    main.ask("""
        scratch that, leave the CLI output format as is — I forgot that the ops scripts cut
        columns out of it. Revert that bit, then update the changelog, run everything once more
        and commit.
    """)
    main.step(
        Think("""
            The format stays, so the whole edit of report.py goes. The failing CLI test was right
            to complain: it pins the column widths. report.py has no other uncommitted change (the
            rounding and due date work did not touch it), so checking out the committed version is
            safe. build/ is my scratch folder and must not end up in the commit.
        """),
        Say("""
            Reverting. report.py had no other changes, so restoring the committed file is enough.
        """),
        sh(
            "git checkout -q ledgerly/report.py && rm -r build && git status --short",
            "Restore report.py and remove scratch files",
            " M ledgerly/convert.py",
            "?? ledgerly/rounding.py",
        ),
    )
    main.step(todos(6, 7), look("CHANGELOG.md", "## Unreleased", limit=8))
    main.step(
        change(
            "CHANGELOG.md",
            "## Unreleased\n",
            """## Unreleased
- Convert: the dollar amount in the middle is no longer rounded. Values in EUR were off by a
  cent on about one converted invoice in six since 0.7.0.
- Convert: halves go to the even minor unit, as in finance's booking system. VAT and
  `round_money` still round halves away from zero.
- Due dates, overdue and reminders follow the customer's calendar day (`utc_offset_minutes`).
  Moments need a timezone now; a naive one is an error.
""",
        ),
        sh(f"{TESTS} -v 2>&1", "Run all tests", "Ran 24 tests", "OK"),
        sh(
            "python -m ledgerly reconcile && git diff --stat && git diff HEAD -- ledgerly/money.py "
            "| wc -l",
            "Reconcile, and check that money.py is unchanged",
            "0 differ",
            "ledgerly/duedates.py",
        ),
    )
    main.step(
        Think("""
            All constraints once more before the commit. money.py: diff is empty. Half-even only
            for conversions: rounding.py is imported by convert.py alone. VAT: totals.py
            unchanged. CLI output format: report.py unchanged, and in cli.py only the parsing of
            --as-of differs. Moments stored and passed stay UTC. Tests: 24, of which 18 existed
            before; one of those was renamed with the rule it pins.
        """),
        Say("""
            Everything passes, and the diff of money.py is empty. One last look at the whole
            change before I commit.
        """),
        sh(
            "git add -N ledgerly/rounding.py && git diff -- ledgerly tests",
            "Show the whole change",
            "+++ b/ledgerly/rounding.py",
        ),
    )
    main.step(
        sh(
            "git add -A && git commit -q -m 'Round conversions once, due dates by customer day' "
            "&& git log --oneline -1 && git show --stat --format= HEAD",
            "Commit the change",
            "Round conversions once",
        )
    )
    main.step(todos(7, 7, working=False))
    main.step(
        Say("""
            Committed. Summary:

            **Rounding.** `convert` rounded to US cents in the middle and again at the end (since
            0.7.0). It now rounds once, half to even, in the new `ledgerly/rounding.py`.
            Reconcile: 38 differences before, 0 of 210 now.

            **Due dates.** `due_date`, `is_overdue`, `days_late` and reminders use the customer's
            calendar day; moments are aware and UTC.

            **Decisions**
            - money.py is unchanged: the billing service pins its API. Hence the separate module.
            - Conversions round half to even (finance confirmed), VAT keeps half up (tax law).
            - `Invoice.month` stays UTC, because finance books by the UTC month.
            - The CLI output format stays as it is: the ops scripts depend on it.

            **Tests:** 24 pass, 6 of them new.

            **Open, for you to decide**
            1. Reminders already sent with a wrong date (31 in the log) are not corrected.
            2. A row without `utc_offset_minutes` is now a KeyError; it should become a `BadRow`
              that names the invoice.
            3. The offset is stored when the invoice is issued, so a change to or from daylight
              saving time before the due date is not seen. Storing the zone's name would solve it.
            4. The billing service still rounds conversions with `round_money`; if it converts
              amounts itself, it needs the same rule.
        """)
    )
    _ = main.done()


def play(main: Thread) -> None:
    find_the_rounding_bug(main)
    fix_the_conversion(main)
    _ = use_half_even(main)
    fork = local_command(main)
    ask_and_go_back(main, fork)
    fix_due_dates(main, fork)
    change_the_output_and_stop(main)
    wrap_up(main)


def environment(folder: Path) -> dict[str, str]:
    """What commands see: this Python, git with a fixed author and date, nothing of the caller."""
    for name in ("bin", "home", "tmp"):
        (folder / name).mkdir()
    python = folder / "bin" / "python"
    _ = python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    env = {
        "PATH": f"{folder / 'bin'}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_PAGER": "cat",
    }
    for who in ("AUTHOR", "COMMITTER"):
        env |= {
            f"GIT_{who}_NAME": "Dana Reyes",
            f"GIT_{who}_EMAIL": "dana@ledgerly.example",
            f"GIT_{who}_DATE": "2026-03-02T10:00:00Z",
        }
    return env


def make_session() -> Iterable[JsonObject]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env, root = environment(folder), folder / "ledgerly"
        root.mkdir()
        make_project(root, env)
        session = Session(Workspace(root, env))
        play(Thread(session, overhead=18_500))
        return session.records


def main(args: Sequence[str]) -> int:
    if len(args) != 1:
        print("usage: make_session.py OUT.jsonl", file=sys.stderr)
        return 2
    lines = [
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in make_session()
    ]
    _ = Path(args[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
