"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {
    "R003": (
        "tests/core/test_compress.py::test_the_first_request_stands_word_for_word_whatever_leaves",
    ),
    "R004": (
        "tests/properties/test_compress.py::test_compressing_breaks_no_request_and_loses_nothing",
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
        "tests/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
    ),
    "R005": (
        "tests/core/plan/test_choose.py::test_of_a_kind_what_is_missed_least_for_its_tokens_leaves_first",
        "tests/core/plan/test_choose.py::test_what_is_surely_not_needed_leaves_first_and_of_a_kind_the_oldest",
        "tests/core/test_compress.py::test_what_is_surely_not_needed_leaves_first",
    ),
    "R010": (
        "tests/core/plan/test_choose.py::test_no_set_of_proposals_wins_more_than_the_one_that_is_chosen",
        "tests/core/plan/test_gain.py::test_a_bill_is_the_difference_of_two_runs_that_were_metered",
        "tests/test_replaying.py::test_a_small_window_is_kept_small_and_the_task_costs_less",
    ),
    "R011": (
        "tests/core/measure/test_billing.py::test_what_is_used_out_of_sight_is_fetched_once_and_paid_for",
        "tests/core/plan/test_choose.py::test_no_set_of_proposals_wins_more_than_the_one_that_is_chosen",
        "tests/core/plan/test_choose.py::test_what_will_probably_be_fetched_again_stays",
        "tests/core/plan/test_gain.py::test_fetching_something_again_costs_a_request_and_its_tokens",
        "tests/core/plan/test_steps.py::test_what_was_used_lately_is_missed_sooner_and_more_of_it_sooner_still",
        "tests/test_replaying.py::test_a_name_that_is_used_after_it_left_is_charged_and_one_in_sight_is_not",
    ),
    "R024": ("tests/core/measure/test_usage.py::test_below_a_quarter_is_green_and_work_goes_on",),
    "R025": (
        "tests/core/measure/test_usage.py::test_from_a_quarter_to_a_half_is_yellow_and_asks_to_watch",
    ),
    "R026": (
        "tests/core/plan/test_due.py::test_what_is_due_follows_from_how_full_the_window_is",
        "tests/core/plan/test_profiles.py::test_the_default_is_the_protocol",
        "tests/surfaces/cli/test_compress.py::test_a_window_that_is_half_full_is_compressed_when_that_pays",
        "tests/test_engine.py::test_every_model_is_weighed_from_the_same_part_of_its_own_window_on",
    ),
    "R029": ("tests/test_seeds_functions.py::test_a_status_names_its_level_and_action",),
    "R030": (
        "tests/core/measure/test_usage.py::test_each_level_asks_for_its_action_in_the_words_of_the_protocol",
        "tests/test_seeds_functions.py::test_a_status_names_its_level_and_action",
    ),
    "R031": ("tests/test_seeds_functions.py::test_usage_is_estimated_as_a_part_of_the_window",),
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
    "R037": ("tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",),
    "R040": (
        "tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",
        "tests/core/plan/test_profiles.py::test_the_default_is_the_protocol",
        "tests/core/test_compress.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R041": (
        "tests/core/test_compress.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/test_seeds_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R042": (
        "tests/files/test_layout.py::test_a_copy_is_named_for_when_it_came_and_which_tool_it_came_from",
        "tests/files/test_layout.py::test_the_protocol_layout_has_the_paths_of_the_protocol",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
        "tests/test_seeds_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R043": (
        "tests/core/shrink/test_offload.py::test_a_reference_has_the_form_of_the_documents",
        "tests/core/shrink/test_offload.py::test_the_tokens_saved_are_those_that_are_saved",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R044": (
        "tests/core/plan/test_steps.py::test_what_the_agent_brought_back_stays",
        "tests/core/plan/test_steps.py::test_what_was_read_from_a_copy_stays_in_every_layout",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
    ),
    "R046": (
        "tests/test_seeds_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R047": (
        "tests/files/test_layout.py::test_a_copy_is_named_for_when_it_came_and_which_tool_it_came_from",
        "tests/files/test_layout.py::test_the_protocol_layout_has_the_paths_of_the_protocol",
        "tests/test_seeds_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R048": (
        "tests/test_seeds_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R049": ("tests/core/shrink/test_offload.py::test_a_reference_has_the_form_of_the_documents",),
    "R050": (
        "tests/core/test_compress.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/reliability/test_engine.py::test_a_result_below_the_bound_stays_as_it_is",
    ),
    "R051": (
        "tests/core/test_compress.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R052": (
        "tests/core/plan/test_steps.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
    ),
    "R053": (
        "tests/core/plan/test_steps.py::test_only_large_writes_and_edits_are_truncated",
        "tests/core/plan/test_steps.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R054": (
        "tests/files/test_persisted.py::test_a_write_is_on_disk_when_the_file_holds_its_text",
        "tests/test_engine.py::test_a_write_is_seen_on_disk_by_processes_that_last_one_request",
        "tests/test_engine.py::test_a_write_is_seen_on_disk_however_often_the_window_was_asked_for",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R055": (
        "tests/core/shrink/test_truncate.py::test_a_stub_has_the_form_of_the_documents_and_the_keys_stay",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R058": (
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R059": (
        "tests/core/plan/test_steps.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/core/shrink/test_truncate.py::test_what_was_not_seen_on_disk_does_not_claim_to_be_there",
        "tests/files/test_persisted.py::test_a_file_that_was_changed_since_does_not_hold_the_write",
        "tests/files/test_persisted.py::test_a_write_is_on_disk_when_the_file_holds_its_text",
        "tests/test_engine.py::test_what_is_not_on_disk_stays_in_the_call_that_wrote_it",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_that_is_not_on_disk_stays",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R060": (
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R061": (
        "tests/core/shrink/test_truncate.py::test_a_stub_has_the_form_of_the_documents_and_the_keys_stay",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/test_seeds_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R097": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R098": (
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
        "tests/core/test_compress.py::test_a_critical_window_is_brought_down_to_between_its_first_two_bounds",
        "tests/core/test_compress.py::test_force_goes_on_to_what_is_recent_and_open_when_what_is_old_is_not_enough",
    ),
    "R099": (
        "tests/core/plan/test_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
    ),
    "R100": (
        "tests/core/plan/test_due.py::test_more_than_twenty_turns_are_worth_weighing_in_the_anchored_profile",
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
        "tests/core/plan/test_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
    ),
    "R101": (
        "tests/core/plan/test_due.py::test_so_many_tokens_are_too_many_whatever_part_of_the_window_they_are",
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
    ),
    "R102": (
        "tests/core/plan/test_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
    ),
    "R103": (
        "tests/core/plan/test_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
    ),
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
    "R115": (
        "tests/core/plan/test_steps.py::test_an_old_large_result_keeps_an_outline",
        "tests/core/plan/test_steps.py::test_an_old_result_of_the_turn_under_way_keeps_a_line",
        "tests/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
    ),
    "R117": (
        "tests/core/plan/test_steps.py::test_output_of_a_problem_that_was_resolved_is_debug_output",
        "tests/core/shrink/test_step.py::test_resolved_debug_output_keeps_a_brief_status",
    ),
    "R118": (
        "tests/core/observe/test_reads.py::test_a_file_read_again_makes_the_earlier_read_redundant",
        "tests/core/observe/test_reads.py::test_a_file_written_since_makes_the_read_before_it_redundant",
        "tests/core/plan/test_steps.py::test_a_read_that_was_read_again_is_redundant_before_it_is_anything_else",
        "tests/core/shrink/test_step.py::test_a_redundant_read_keeps_its_path_and_lines",
    ),
    "R119": (
        "tests/core/plan/test_steps.py::test_results_of_a_turn_that_has_its_answer_are_intermediate",
        "tests/core/shrink/test_step.py::test_offloads_and_intermediate_outputs_have_a_readable_copy",
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
    ),
    "R133": (
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
    ),
    "R135": (
        "tests/core/plan/test_steps.py::test_a_read_that_was_read_again_is_redundant_before_it_is_anything_else",
        "tests/core/shrink/test_step.py::test_a_redundant_read_keeps_its_path_and_lines",
    ),
    "R136": (
        "tests/core/plan/test_steps.py::test_results_of_a_turn_that_has_its_answer_are_intermediate",
        "tests/core/shrink/test_step.py::test_offloads_and_intermediate_outputs_have_a_readable_copy",
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
    ),
    "R139": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
    ),
    "R208": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/core/view/test_log.py::test_whatever_else_happened_to_a_window_is_an_event_too",
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_log.py::test_an_undoing_is_logged_last",
        "tests/test_engine.py::test_what_was_not_written_has_not_happened",
    ),
    "R209": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/core/view/test_log.py::test_an_event_that_may_have_lost_the_intent_asks_for_verification",
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
    "R223": (
        "tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",
        "tests/core/plan/test_profiles.py::test_the_default_is_the_protocol",
        "tests/core/test_compress.py::test_a_large_result_leaves_before_it_is_sent",
    ),
    "R224": (
        "tests/core/plan/test_steps.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/test_engine.py::test_a_write_is_seen_on_disk_by_processes_that_last_one_request",
        "tests/test_engine.py::test_a_write_is_seen_on_disk_however_often_the_window_was_asked_for",
        "tests/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
    ),
    "R229": (
        "tests/core/plan/test_steps.py::test_an_error_that_is_still_open_stays_unless_everything_legal_is_asked_for",
        "tests/core/shrink/test_offload.py::test_a_mask_keeps_the_lines_that_were_used",
        "tests/core/verify/test_losses.py::test_a_promise_that_would_be_broken_is_told",
    ),
    "R294": (
        "tests/core/plan/test_profiles.py::test_no_role_changes_when_something_is_due_or_turns_anything_off",
    ),
    "R322": (
        "tests/reliability/test_engine.py::test_a_result_that_cannot_be_copied_stays_in_sight_with_a_warning",
    ),
    "R323": ("tests/test_seeds_functions.py::test_an_input_that_is_not_on_disk_stays",),
    "R325": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
    ),
    "R329": (
        "tests/core/measure/test_billing.py::test_a_prefix_that_stands_as_it_stood_is_read_and_the_rest_is_written",
        "tests/core/measure/test_billing.py::test_what_is_used_out_of_sight_is_fetched_once_and_paid_for",
        "tests/core/plan/test_choose.py::test_what_will_probably_be_fetched_again_stays",
        "tests/core/plan/test_gain.py::test_fetching_something_again_costs_a_request_and_its_tokens",
        "tests/test_replaying.py::test_a_name_that_is_used_after_it_left_is_charged_and_one_in_sight_is_not",
        "tests/test_replaying.py::test_a_small_window_is_kept_small_and_the_task_costs_less",
    ),
    "R335": (
        "tests/core/plan/test_due.py::test_what_is_due_follows_from_how_full_the_window_is",
        "tests/core/plan/test_profiles.py::test_the_stress_profile_compresses_at_a_quarter",
        "tests/test_replaying.py::test_under_stress_there_are_more_compressions",
    ),
}
