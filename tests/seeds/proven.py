"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {
    "R024": ("tests/core/measure/test_usage.py::test_below_a_quarter_is_green_and_work_goes_on",),
    "R025": (
        "tests/core/measure/test_usage.py::test_from_a_quarter_to_a_half_is_yellow_and_asks_to_watch",
    ),
    "R030": (
        "tests/core/measure/test_usage.py::test_each_level_asks_for_its_action_in_the_words_of_the_protocol",
    ),
    "R032": (
        "tests/surfaces/cli/test_status.py::test_the_report_begins_with_when_how_full_and_which_level",
    ),
    "R033": (
        "tests/core/view/test_report.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_counts_what_each_tier_did_and_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_of_a_session_never_compressed_counts_nothing",
    ),
    "R034": (
        "tests/core/view/test_report.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_recommends_what_its_level_asks_for",
    ),
    "R035": (
        "tests/core/view/test_report.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_lists_every_compression_with_its_time_tier_and_saving",
        "tests/surfaces/cli/test_status.py::test_the_report_of_a_session_never_compressed_lists_none",
    ),
}
