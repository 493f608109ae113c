"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {
    "R004": (
        "tests/properties/test_compress.py::test_compressing_breaks_no_request_and_loses_nothing",
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
    ),
    "R024": ("tests/core/measure/test_usage.py::test_below_a_quarter_is_green_and_work_goes_on",),
    "R025": (
        "tests/core/measure/test_usage.py::test_from_a_quarter_to_a_half_is_yellow_and_asks_to_watch",
    ),
    "R026": (
        "tests/surfaces/cli/test_compress.py::test_a_window_that_is_half_full_is_compressed_when_that_pays",
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
    "R040": (
        "tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R041": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R042": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R043": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R044": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R050": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/reliability/test_engine.py::test_a_result_below_the_bound_stays_as_it_is",
    ),
    "R051": (
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R097": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R098": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R100": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R101": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R104": (
        "tests/surfaces/cli/test_compress.py::test_compressing_does_what_the_planner_recommends",
    ),
    "R106": (
        "tests/surfaces/cli/test_compress.py::test_a_dry_run_shows_what_would_be_compressed_and_changes_nothing",
    ),
    "R107": (
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_context_status_reports_how_full_the_window_is",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R208": (
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_log.py::test_an_undoing_is_logged_last",
    ),
    "R209": (
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
    ),
    "R210": (
        "tests/surfaces/cli/test_log.py::test_a_logged_compression_is_in_the_history_of_the_status_report",
    ),
    "R212": (
        "tests/surfaces/cli/test_compress.py::test_compressing_does_what_the_planner_recommends",
        "tests/surfaces/cli/test_compress.py::test_what_would_not_pay_is_left_as_it_is",
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R213": (
        "tests/surfaces/cli/test_run.py::test_context_status_reports_how_full_the_window_is",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R214": (
        "tests/surfaces/cli/test_recover.py::test_what_left_the_window_is_found_again_by_its_words",
        "tests/surfaces/cli/test_run.py::test_recover_searches_and_intent_shows_the_request",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R215": (
        "tests/surfaces/cli/test_intent.py::test_the_first_request_and_the_latest_are_shown_word_for_word",
        "tests/surfaces/cli/test_run.py::test_recover_searches_and_intent_shows_the_request",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R216": (
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R217": (
        "tests/core/plan/test_rules.py::test_a_result_is_offloaded_when_nothing_is_lost_and_its_preview_tells",
        "tests/core/plan/test_rules.py::test_the_first_gate_is_about_large_results",
    ),
    "R218": (
        "tests/core/plan/test_rules.py::test_inputs_are_truncated_when_there_are_some_and_their_content_is_on_disk",
        "tests/core/plan/test_rules.py::test_the_second_gate_is_about_inputs_that_are_on_disk",
        "tests/surfaces/cli/test_compress.py::test_a_dry_run_judges_the_gates_that_are_concerned",
    ),
    "R222": (
        "tests/surfaces/cli/test_rules.py::test_the_gates_are_declared_in_the_xml_of_the_protocol",
        "tests/surfaces/cli/test_rules.py::test_what_has_a_meaning_in_xml_is_escaped",
    ),
    "R223": ("tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",),
    "R322": (
        "tests/reliability/test_engine.py::test_a_result_that_cannot_be_copied_stays_in_sight_with_a_warning",
    ),
}
