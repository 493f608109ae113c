import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Entry, Said
from holdfast.core.plan.policy import LAYOUTS
from holdfast.project.layout import (
    COPY_FOLDERS,
    MAX_SLUG_CHARS,
    archive_path,
    copy_path,
    packet_path,
    slug,
)

AT = "2026-01-29T14:25:30Z"


def entry(at: str = AT) -> Entry:
    return Entry("0123abcd" + "0" * 24, None, Said("user", "x"), 1, at=at)


@pytest.mark.seed("R042", "R047")
def test_a_copy_is_named_for_when_it_came_and_which_tool_it_came_from() -> None:
    assert copy_path(entry(), "offload", "web_search", "holdfast") == (
        ".holdfast/cache/offloaded/20260129_142530_web_search-0123abcd.md"
    )


@pytest.mark.seed("R042", "R047")
def test_the_protocol_layout_has_the_paths_of_the_protocol() -> None:
    assert [copy_path(entry(), kind, "web_search", "ctx-001") for kind in COPY_FOLDERS] == [
        "Memory/Shared/cache/offloaded/20260129_142530_web_search-0123abcd.md",
        "Memory/Shared/cache/intermediate/20260129_142530_web_search-0123abcd.md",
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_keeps_copies_in_folders_by_kind(layout: str) -> None:
    assert [copy_path(entry(), kind, "Bash", layout) for kind in COPY_FOLDERS] == [
        f"{LAYOUTS[layout]}/{folder}/20260129_142530_bash-0123abcd.md"
        for folder in ("offloaded", "intermediate")
    ]


@pytest.mark.parametrize(
    ("at", "stamp"),
    [
        (AT, "20260129_142530_"),
        ("2026-01-29T14:25:30.123456+02:00", "20260129_142530_"),
        ("2026-01-29 14:25:30", "20260129_142530_"),
        ("", ""),
        ("yesterday", ""),
        ("2026-01-29", ""),
        ("1769689530", ""),
    ],
)
def test_what_nobody_timed_has_no_stamp(at: str, stamp: str) -> None:
    path = copy_path(entry(at), "offload", "Bash", "holdfast")
    assert path == f".holdfast/cache/offloaded/{stamp}bash-0123abcd.md"


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("Bash", "bash"),
        ("mcp__fs__read_file", "mcp_fs_read_file"),
        ("../../etc/passwd", "etc_passwd"),
        ("a/b\\c:d", "a_b_c_d"),
        ("..", "tool"),
        ("", "tool"),
        ("\0\n\r", "tool"),
        ("Größe", "gr_e"),
        ("検索", "tool"),
        ("x" * 300, "x" * MAX_SLUG_CHARS),
        ("\u202egnp.exe", "gnp_exe"),
        ("\ud800", "tool"),
        (".hidden", "hidden"),
    ],
)
def test_a_tool_of_any_name_gives_a_name_that_any_file_system_takes(tool: str, name: str) -> None:
    assert slug(tool) == name


@given(st.text(max_size=400), st.text(max_size=40))
def test_no_name_and_no_time_leads_out_of_the_folder(tool: str, at: str) -> None:
    path = copy_path(entry(at), "offload", tool, "holdfast")
    folder, _, name = path.rpartition("/")
    assert folder == ".holdfast/cache/offloaded"
    assert re.fullmatch(r"(\d{8}_\d{6}_)?[a-z0-9][a-z0-9_]{0,39}-0123abcd\.md", name, re.ASCII)


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_two_workers_never_share_a_file(one: str, other: str) -> None:
    assert (packet_path(one, "holdfast") == packet_path(other, "holdfast")) == (one == other)


def test_names_that_begin_alike_have_pages_of_their_own() -> None:
    long = "customer-acme-migration-of-billing-service-"
    assert archive_path(f"{long}one", "holdfast") != archive_path(f"{long}two", "holdfast")
    assert archive_path("f3e72b5f-7d12", "holdfast").endswith("/f3e72b5f_7d12_full.md")
