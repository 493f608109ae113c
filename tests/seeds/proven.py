"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {
    "R001": (
        "tests/properties/test_principles.py::test_a_session_of_many_windows_fits_in_one_by_three_tiers_and_keeps_what_the_task_needs",
        "tests/properties/test_principles.py::test_every_request_follows_the_thresholds_of_the_protocol",
    ),
    "R002": (
        "tests/surfaces/install/test_plugin.py::test_the_skill_says_who_it_is_and_what_it_executes",
    ),
    "R003": (
        "tests/core/shrink/summary/test_fit.py::test_what_is_shown_fits_and_what_the_user_wants_is_always_shown",
        "tests/core/test_compress.py::test_the_first_request_stands_word_for_word_whatever_leaves",
        "tests/properties/test_merging.py::test_no_word_of_the_user_is_lost_or_made_up",
        "tests/properties/test_summarize.py::test_a_window_brought_down_to_a_budget_breaks_nothing_and_loses_no_words",
        "tests/reliability/test_anchor.py::test_a_recorded_session_keeps_its_words_through_a_few_summaries",
        "tests/reliability/test_anchor.py::test_fifty_summaries_of_one_session_lose_no_request_rule_file_or_value",
        "tests/reliability/test_anchor.py::test_pinned_words_survive_until_the_user_unpins_them",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_the_goal_comes_back_with_where_to_recover",
    ),
    "R004": (
        "tests/engine/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
        "tests/properties/test_compress.py::test_compressing_breaks_no_request_and_loses_nothing",
        "tests/properties/test_summarize.py::test_a_window_brought_down_to_a_budget_breaks_nothing_and_loses_no_words",
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
    ),
    "R005": (
        "tests/core/plan/test_choose.py::test_of_a_kind_what_is_missed_least_for_its_tokens_leaves_first",
        "tests/core/plan/test_choose.py::test_what_is_surely_not_needed_leaves_first_and_of_a_kind_the_oldest",
        "tests/core/test_compress.py::test_what_is_surely_not_needed_leaves_first",
    ),
    "R006": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R007": (
        "tests/surfaces/install/test_plugin.py::test_the_skill_says_who_it_is_and_what_it_executes",
    ),
    "R008": (
        "tests/surfaces/install/test_plugin.py::test_the_skill_says_who_it_is_and_what_it_executes",
    ),
    "R009": (
        "tests/properties/test_principles.py::test_a_massive_history_is_carried_by_one_summary_that_is_extended_and_stays_good",
    ),
    "R010": (
        "tests/core/plan/test_choose.py::test_no_set_of_proposals_wins_more_than_the_one_that_is_chosen",
        "tests/core/plan/test_gain.py::test_a_bill_is_the_difference_of_two_runs_that_were_metered",
        "tests/engine/test_replay.py::test_a_small_window_is_kept_small_and_the_task_costs_less",
    ),
    "R011": (
        "tests/core/measure/test_bill.py::test_what_is_used_out_of_sight_is_fetched_once_and_paid_for",
        "tests/core/plan/test_choose.py::test_no_set_of_proposals_wins_more_than_the_one_that_is_chosen",
        "tests/core/plan/test_choose.py::test_what_will_probably_be_fetched_again_stays",
        "tests/core/plan/test_gain.py::test_fetching_something_again_costs_a_request_and_its_tokens",
        "tests/core/plan/test_proposals.py::test_what_was_used_lately_is_missed_sooner_and_more_of_it_sooner_still",
        "tests/engine/test_replay.py::test_a_name_that_is_used_after_it_left_is_charged_and_one_in_sight_is_not",
    ),
    "R012": (
        "tests/properties/test_principles.py::test_what_is_critical_survives_and_only_what_may_go_goes",
    ),
    "R013": (
        "tests/properties/test_principles.py::test_a_context_may_be_thrown_away_at_any_moment_for_the_ledger_has_all_of_it",
    ),
    "R014": (
        "tests/properties/test_principles.py::test_what_is_handed_to_a_worker_or_a_session_is_small_whole_and_binds_as_it_did",
    ),
    "R015": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R016": (
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
        "tests/seeds/test_packet.py::test_the_example_of_the_protocol_fits_in_its_budget_with_all_that_it_lists",
    ),
    "R017": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R018": (
        "tests/core/view/packet/test_strategies.py::test_only_what_is_about_the_task_is_kept_and_what_is_pinned_in_any_case",
        "tests/packets/test_make_and_deliver.py::test_a_packet_keeps_to_the_cap_of_its_depth_and_counts_exactly",
    ),
    "R019": (
        "tests/packets/test_make_and_deliver.py::test_a_session_that_moved_on_makes_a_packet_stale_and_a_push_brings_it_up_to_date",
    ),
    "R020": (
        "tests/core/view/packet/test_layers.py::test_the_words_of_a_task_say_how_deep_it_goes",
    ),
    "R021": (
        "tests/packets/test_feedback.py::test_feedback_is_put_on_record_with_the_packet_it_is_about",
        "tests/seeds/test_packet.py::test_the_example_of_the_protocol_fits_in_its_budget_with_all_that_it_lists",
    ),
    "R022": (
        "tests/core/view/packet/test_layers.py::test_the_words_of_a_task_say_how_deep_it_goes",
        "tests/packets/test_feedback.py::test_a_packet_is_unread_until_its_worker_reads_it_and_silent_until_it_reports",
        "tests/packets/test_make_and_deliver.py::test_reading_is_recorded_and_who_has_not_read_is_known",
        "tests/surfaces/cli/test_context_learning.py::test_an_unread_packet_is_listed_with_what_to_tell_its_worker",
    ),
    "R023": (
        "tests/packets/test_make_and_deliver.py::test_a_constraint_stated_once_long_ago_stands_word_for_word",
    ),
    "R024": ("tests/core/measure/test_usage.py::test_below_a_quarter_is_green_and_work_goes_on",),
    "R025": (
        "tests/core/measure/test_usage.py::test_from_a_quarter_to_a_half_is_yellow_and_asks_to_watch",
    ),
    "R026": (
        "tests/core/plan/test_due.py::test_what_is_due_follows_from_how_full_the_window_is",
        "tests/core/plan/test_policy_profiles.py::test_the_default_is_the_protocol",
        "tests/engine/test_engine.py::test_every_model_is_weighed_from_the_same_part_of_its_own_window_on",
        "tests/surfaces/cli/test_compress.py::test_a_window_that_is_half_full_is_compressed_when_that_pays",
    ),
    "R027": (
        "tests/properties/test_principles.py::test_a_session_of_many_windows_fits_in_one_by_three_tiers_and_keeps_what_the_task_needs",
    ),
    "R028": (
        "tests/engine/test_checkpoints.py::test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once",
        "tests/engine/test_checkpoints.py::test_a_window_that_becomes_critical_is_put_down_once_before_anything_leaves",
    ),
    "R029": ("tests/seeds/test_functions.py::test_a_status_names_its_level_and_action",),
    "R030": (
        "tests/core/measure/test_usage.py::test_each_level_asks_for_its_action_in_the_words_of_the_protocol",
        "tests/seeds/test_functions.py::test_a_status_names_its_level_and_action",
    ),
    "R031": ("tests/seeds/test_functions.py::test_usage_is_estimated_as_a_part_of_the_window",),
    "R032": (
        "tests/surfaces/cli/test_status.py::test_the_report_begins_with_when_how_full_and_which_level",
    ),
    "R033": (
        "tests/core/view/test_status.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_counts_what_each_tier_did_and_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_of_a_session_never_compressed_counts_nothing",
    ),
    "R034": (
        "tests/core/view/test_status.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_recommends_what_its_level_asks_for",
    ),
    "R035": (
        "tests/core/view/test_status.py::test_a_report_says_what_was_done_what_to_do_and_what_it_saved",
        "tests/surfaces/cli/test_status.py::test_the_report_lists_every_compression_with_its_time_tier_and_saving",
        "tests/surfaces/cli/test_status.py::test_the_report_of_a_session_never_compressed_lists_none",
    ),
    "R036": (
        "tests/properties/test_principles.py::test_every_request_follows_the_thresholds_of_the_protocol",
        "tests/surfaces/hooks/test_session.py::test_a_window_that_fills_up_is_told_of_once",
    ),
    "R037": (
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
    ),
    "R038": (
        "tests/engine/test_checkpoints.py::test_a_summary_is_preceded_by_a_checkpoint_of_what_it_replaces",
    ),
    "R039": (
        "tests/engine/test_checkpoints.py::test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once",
        "tests/engine/test_checkpoints.py::test_a_window_that_becomes_critical_is_put_down_once_before_anything_leaves",
    ),
    "R040": (
        "tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",
        "tests/core/plan/test_policy_profiles.py::test_the_default_is_the_protocol",
        "tests/core/test_compress_birth.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/surfaces/hooks/events/test_tool_result.py::test_a_large_result_leaves_and_all_of_it_can_be_read_by_its_reference",
    ),
    "R041": (
        "tests/core/test_compress_birth.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/seeds/test_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R042": (
        "tests/engine/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
        "tests/project/test_layout.py::test_a_copy_is_named_for_when_it_came_and_which_tool_it_came_from",
        "tests/project/test_layout.py::test_the_protocol_layout_has_the_paths_of_the_protocol",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/seeds/test_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R043": (
        "tests/core/shrink/test_offload.py::test_a_reference_has_the_form_of_the_documents",
        "tests/core/shrink/test_offload.py::test_the_tokens_saved_are_those_that_are_saved",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/surfaces/hooks/events/test_tool_result.py::test_a_large_result_leaves_and_all_of_it_can_be_read_by_its_reference",
    ),
    "R044": (
        "tests/core/plan/test_proposals.py::test_what_the_agent_brought_back_stays",
        "tests/core/plan/test_proposals.py::test_what_was_read_from_a_copy_stays_in_every_layout",
        "tests/engine/test_engine.py::test_what_left_at_birth_is_read_back_byte_for_byte",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R045": (
        "tests/core/shrink/test_offload.py::test_a_reference_can_have_the_form_of_the_protocol",
    ),
    "R046": (
        "tests/seeds/test_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R047": (
        "tests/project/test_layout.py::test_a_copy_is_named_for_when_it_came_and_which_tool_it_came_from",
        "tests/project/test_layout.py::test_the_protocol_layout_has_the_paths_of_the_protocol",
        "tests/seeds/test_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R048": (
        "tests/seeds/test_functions.py::test_a_large_result_is_written_whole_and_leaves_a_reference",
    ),
    "R049": ("tests/core/shrink/test_offload.py::test_a_reference_has_the_form_of_the_documents",),
    "R050": (
        "tests/core/test_compress_birth.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
        "tests/reliability/test_engine.py::test_a_result_below_the_bound_stays_as_it_is",
    ),
    "R051": (
        "tests/core/test_compress_birth.py::test_a_large_result_leaves_before_it_is_sent",
        "tests/reliability/test_engine.py::test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens",
    ),
    "R052": (
        "tests/core/plan/test_proposals.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
    ),
    "R053": (
        "tests/core/plan/test_proposals.py::test_only_large_writes_and_edits_are_truncated",
        "tests/core/plan/test_proposals.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R054": (
        "tests/engine/test_engine.py::test_a_write_is_seen_on_disk_by_processes_that_last_one_request",
        "tests/engine/test_engine.py::test_a_write_is_seen_on_disk_however_often_the_window_was_asked_for",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/project/test_persisted.py::test_a_write_is_on_disk_when_the_file_holds_its_text",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R055": (
        "tests/core/shrink/test_truncate.py::test_a_stub_has_the_form_of_the_documents_and_the_keys_stay",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R056": (
        "tests/core/plan/test_choose.py::test_of_inputs_the_oldest_leave_first_then_the_largest_then_those_on_disk",
    ),
    "R057": ("tests/core/shrink/test_truncate.py::test_a_stub_can_have_the_form_of_the_protocol",),
    "R058": (
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R059": (
        "tests/core/plan/test_proposals.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/core/shrink/test_truncate.py::test_what_was_not_seen_on_disk_does_not_claim_to_be_there",
        "tests/engine/test_engine.py::test_what_is_not_on_disk_stays_in_the_call_that_wrote_it",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/project/test_persisted.py::test_a_file_that_was_changed_since_does_not_hold_the_write",
        "tests/project/test_persisted.py::test_a_write_is_on_disk_when_the_file_holds_its_text",
        "tests/seeds/test_functions.py::test_an_input_that_is_not_on_disk_stays",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R060": (
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R061": (
        "tests/core/shrink/test_truncate.py::test_a_stub_has_the_form_of_the_documents_and_the_keys_stay",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
        "tests/seeds/test_functions.py::test_an_input_whose_content_is_on_disk_becomes_a_reference",
    ),
    "R062": (
        "tests/core/plan/test_rules.py::test_a_summary_is_made_when_the_gentler_tiers_do_not_do_and_nothing_of_it_is_missing",
        "tests/engine/test_replay.py::test_a_window_that_only_a_summary_can_shrink_is_summarized_and_the_summary_scored",
        "tests/properties/test_summarize.py::test_a_window_that_is_too_small_breaks_nothing_and_loses_no_words",
        "tests/surfaces/cli/test_summary.py::test_the_gate_of_the_summary_is_passed_where_only_a_summary_helps",
    ),
    "R063": (
        "tests/core/shrink/summary/test_rows.py::test_a_scene_shows_what_is_wanted_what_was_done_and_how_the_work_is",
        "tests/core/shrink/summary/test_story.py::test_a_story_has_the_requests_constraints_and_files_of_all_chapters",
        "tests/core/test_summarize.py::test_what_is_old_leaves_and_the_summary_stands_in_its_place",
        "tests/core/view/test_summary.py::test_what_left_and_what_stays_are_counted_by_kind",
        "tests/surfaces/cli/test_summary.py::test_compressing_tells_what_leaves_what_stays_and_how_good_the_summary_is",
    ),
    "R064": (
        "tests/core/view/test_log.py::test_a_summary_names_its_archive_and_its_quality_below_the_fields",
        "tests/surfaces/cli/test_summary.py::test_the_log_names_the_archive_and_the_quality_below_the_fields_of_the_protocol",
    ),
    "R065": (
        "tests/core/test_summarize.py::test_what_is_old_leaves_and_the_summary_stands_in_its_place",
        "tests/core/view/test_summary.py::test_what_left_and_what_stays_are_counted_by_kind",
        "tests/properties/test_summarize.py::test_a_window_brought_down_to_a_budget_breaks_nothing_and_loses_no_words",
        "tests/properties/test_summarize.py::test_a_window_that_is_too_small_breaks_nothing_and_loses_no_words",
        "tests/reliability/test_anchor.py::test_fifty_summaries_of_one_session_lose_no_request_rule_file_or_value",
        "tests/surfaces/cli/test_summary.py::test_compressing_tells_what_leaves_what_stays_and_how_good_the_summary_is",
    ),
    "R066": (
        "tests/core/shrink/summary/test_text.py::test_references_say_what_is_there_and_how_large_it_is",
        "tests/surfaces/cli/test_summary.py::test_the_log_names_the_archive_and_the_quality_below_the_fields_of_the_protocol",
    ),
    "R067": (
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_the_top_says_when_and_how_much_and_how_to_get_it_back",
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R068": (
        "tests/core/observe/requests/test_intent.py::test_the_first_request_and_the_newest_are_kept_word_for_word",
        "tests/core/shrink/summary/test_fit.py::test_what_is_shown_fits_and_what_the_user_wants_is_always_shown",
        "tests/core/shrink/summary/test_text.py::test_a_newer_request_and_the_changes_of_scope_stand_below_the_first",
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_the_first_request_stands_once_when_it_is_also_the_newest",
        "tests/core/shrink/summary/test_text.py::test_what_the_user_said_stands_word_for_word",
        "tests/core/test_summarize.py::test_what_is_old_leaves_and_the_summary_stands_in_its_place",
        "tests/core/view/test_forms.py::test_the_requests_and_the_constraints_stand_word_for_word",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/core/view/test_summary_intents.py::test_requests_and_constraints_are_told_word_for_word_with_their_entries",
        "tests/seeds/test_functions.py::test_the_parts_say_what_the_record_shows",
        "tests/surfaces/cli/test_intent.py::test_the_first_request_and_the_current_one_are_shown_word_for_word",
    ),
    "R069": (
        "tests/core/observe/files/test_changes.py::test_what_was_made_changed_and_read_is_one_row_each",
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/core/test_summarize.py::test_what_is_old_leaves_and_the_summary_stands_in_its_place",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R070": (
        "tests/core/shrink/summary/test_text.py::test_a_decision_comes_with_its_reason_and_who_made_it",
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R071": (
        "tests/core/observe/results/test_progress.py::test_progress_is_what_the_list_says",
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_progress_lists_what_is_done_and_what_is_left",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R072": (
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_facts_stand_raw_under_what_brought_them",
        "tests/core/shrink/summary/test_text.py::test_what_the_user_said_stands_word_for_word",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R073": (
        "tests/core/observe/results/test_progress.py::test_the_next_step_is_the_one_in_hand_then_the_rest_in_order",
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_steps_are_numbered_and_name_an_owner_only_when_it_is_not_the_agent",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R074": (
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/shrink/summary/test_text.py::test_references_say_what_is_there_and_how_large_it_is",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R075": (
        "tests/seeds/test_functions.py::test_a_session_is_archived_and_then_summed_up_under_the_keys_of_the_skill",
        "tests/seeds/test_functions.py::test_what_cannot_be_archived_is_not_summed_up",
    ),
    "R076": (
        "tests/core/view/test_forms.py::test_the_object_has_the_keys_of_the_protocol_in_plain_values",
        "tests/core/view/test_forms.py::test_the_object_names_the_folder_that_the_archive_is_in",
        "tests/seeds/test_functions.py::test_a_session_is_archived_and_then_summed_up_under_the_keys_of_the_skill",
        "tests/surfaces/cli/test_summary.py::test_a_program_gets_the_object_of_the_protocol_and_every_row",
    ),
    "R077": (
        "tests/core/observe/results/test_progress.py::test_progress_is_what_the_list_says",
        "tests/core/observe/results/test_progress.py::test_the_next_step_is_the_one_in_hand_then_the_rest_in_order",
        "tests/core/observe/test_phrases.py::test_what_the_agent_decides_is_told_with_its_reason",
        "tests/seeds/test_functions.py::test_each_part_of_a_summary_can_be_had_alone",
        "tests/seeds/test_functions.py::test_the_parts_say_what_the_record_shows",
    ),
    "R078": (
        "tests/core/shrink/summary/test_text.py::test_an_empty_summary_has_every_section_and_says_that_there_is_nothing",
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_the_skills_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_the_form_of_the_protocol",
    ),
    "R079": (
        "tests/engine/test_copies.py::test_the_summary_of_a_task_is_kept_up_to_date_where_its_protocol_looks_for_it",
    ),
    "R080": (
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R081": (
        "tests/core/observe/test_phrases.py::test_a_change_of_scope_is_the_sentence_that_makes_it",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/core/view/test_forms.py::test_the_requests_and_the_constraints_stand_word_for_word",
        "tests/core/view/test_summary_intents.py::test_requests_and_constraints_are_told_word_for_word_with_their_entries",
        "tests/surfaces/cli/test_intent.py::test_changes_of_scope_and_constraints_are_shown_with_where_they_stand",
    ),
    "R082": (
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R083": (
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R084": (
        "tests/core/observe/test_phrases.py::test_what_the_agent_decides_is_told_with_its_reason",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R085": (
        "tests/core/observe/results/test_progress.py::test_the_newest_account_is_what_counts",
        "tests/core/observe/test_phrases.py::test_a_run_of_tests_is_told_in_its_own_words",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/core/view/test_forms.py::test_the_state_counts_the_steps_and_says_when_nothing_is_in_the_way",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R086": (
        "tests/core/observe/results/test_progress.py::test_the_next_step_is_the_one_in_hand_then_the_rest_in_order",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R087": (
        "tests/core/observe/results/test_errors.py::test_what_the_same_command_no_longer_shows_is_gone_although_it_still_fails",
        "tests/core/observe/test_phrases.py::test_an_error_is_told_by_the_line_that_says_it_best",
        "tests/core/view/test_forms.py::test_a_blocker_is_named_in_the_state_and_told_among_the_errors",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R088": (
        "tests/core/shrink/summary/test_rows.py::test_a_scene_shows_what_is_wanted_what_was_done_and_how_the_work_is",
        "tests/core/shrink/summary/test_story.py::test_a_story_has_the_requests_constraints_and_files_of_all_chapters",
        "tests/core/test_summarize.py::test_a_summary_that_is_sent_back_is_known_again_and_extended",
        "tests/properties/test_merging.py::test_merging_again_what_is_known_changes_nothing",
        "tests/properties/test_summarize.py::test_a_window_that_comes_back_with_more_has_its_summary_extended",
        "tests/reliability/test_anchor.py::test_fifty_summaries_of_one_session_lose_no_request_rule_file_or_value",
    ),
    "R089": (
        "tests/core/observe/test_phrases.py::test_a_change_of_scope_is_the_sentence_that_makes_it",
        "tests/core/shrink/summary/test_merge.py::test_a_request_that_is_no_longer_current_is_kept_among_the_words",
        "tests/properties/test_merging.py::test_the_first_request_is_set_once_and_the_newest_is_the_current_one",
        "tests/properties/test_summarize.py::test_a_window_that_comes_back_with_more_has_its_summary_extended",
        "tests/reliability/test_anchor.py::test_a_window_that_comes_back_has_its_anchor_extended_and_not_made_anew",
        "tests/reliability/test_anchor.py::test_fifty_summaries_of_one_session_lose_no_request_rule_file_or_value",
        "tests/surfaces/cli/test_intent.py::test_changes_of_scope_and_constraints_are_shown_with_where_they_stand",
    ),
    "R090": (
        "tests/core/observe/files/test_changes.py::test_what_was_made_changed_and_read_is_one_row_each",
        "tests/core/shrink/summary/test_merge.py::test_what_two_touches_of_a_file_come_to",
        "tests/core/shrink/summary/test_story.py::test_a_story_has_the_requests_constraints_and_files_of_all_chapters",
        "tests/properties/test_merging.py::test_a_later_write_moves_a_row_that_was_read_and_reading_moves_none",
        "tests/properties/test_merging.py::test_every_path_has_one_row_and_none_is_lost",
        "tests/properties/test_merging.py::test_files_merged_again_are_as_they_were",
        "tests/reliability/test_anchor.py::test_a_window_that_comes_back_has_its_anchor_extended_and_not_made_anew",
        "tests/reliability/test_anchor.py::test_fifty_summaries_of_one_session_lose_no_request_rule_file_or_value",
    ),
    "R091": (
        "tests/properties/test_merging.py::test_what_is_appended_comes_out_the_same_however_it_is_grouped",
    ),
    "R092": (
        "tests/core/observe/results/test_progress.py::test_the_newest_account_is_what_counts",
        "tests/core/shrink/summary/test_merge.py::test_a_part_without_a_plan_and_without_the_user_changes_neither_steps_nor_questions",
        "tests/core/shrink/summary/test_merge.py::test_a_plan_that_was_carried_out_is_gone_though_nothing_takes_its_place",
        "tests/properties/test_merging.py::test_a_plan_replaces_the_plan_and_the_user_answers_questions",
    ),
    "R093": (
        "tests/core/observe/results/test_progress.py::test_without_a_list_the_next_step_is_what_the_agent_said_last",
        "tests/core/shrink/summary/test_merge.py::test_a_part_without_a_plan_and_without_the_user_changes_neither_steps_nor_questions",
        "tests/core/shrink/summary/test_merge.py::test_a_plan_that_was_carried_out_is_gone_though_nothing_takes_its_place",
        "tests/properties/test_merging.py::test_a_plan_replaces_the_plan_and_the_user_answers_questions",
        "tests/reliability/test_anchor.py::test_a_window_that_comes_back_has_its_anchor_extended_and_not_made_anew",
    ),
    "R094": (
        "tests/core/observe/results/test_errors.py::test_an_error_is_gone_where_the_same_command_went_well",
        "tests/core/shrink/summary/test_merge.py::test_an_error_is_resolved_where_it_stands_and_a_new_one_is_appended",
        "tests/properties/test_merging.py::test_an_error_is_told_once_and_stays_resolved",
    ),
    "R095": (
        "tests/core/verify/test_probes.py::test_there_is_a_question_of_each_kind_in_plain_words",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R096": (
        "tests/engine/test_copies.py::test_a_sub_agent_keeps_its_own_summary_goes_on_from_it_and_hands_it_on",
    ),
    "R097": ("tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",),
    "R098": (
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
        "tests/core/test_compress.py::test_a_critical_window_is_brought_down_to_between_its_first_two_bounds",
        "tests/core/test_compress.py::test_force_goes_on_to_what_is_recent_and_open_when_what_is_old_is_not_enough",
    ),
    "R099": (
        "tests/core/plan/test_policy_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/engine/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
        "tests/engine/test_engine.py::test_a_summary_stands_for_a_finished_task_long_before_the_window_is_full",
        "tests/engine/test_engine.py::test_a_task_names_its_summary_and_a_new_one_ends_it",
    ),
    "R100": (
        "tests/core/plan/test_due.py::test_more_than_twenty_turns_are_worth_weighing_in_the_anchored_profile",
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
        "tests/core/plan/test_policy_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
    ),
    "R101": (
        "tests/core/plan/test_due.py::test_so_many_tokens_are_too_many_whatever_part_of_the_window_they_are",
        "tests/core/plan/test_policy.py::test_the_other_documents_numbers_are_profiles",
        "tests/surfaces/hooks/test_session.py::test_before_a_compaction_all_is_put_down_and_its_writer_told_what_to_keep",
    ),
    "R102": (
        "tests/core/plan/test_policy_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/engine/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
    ),
    "R103": (
        "tests/core/plan/test_policy_profiles.py::test_the_anchored_profile_has_the_triggers_of_its_document",
        "tests/engine/test_engine.py::test_a_boundary_that_is_told_of_compresses_what_is_finished",
        "tests/engine/test_engine.py::test_a_summary_stands_for_a_finished_task_long_before_the_window_is_full",
    ),
    "R104": (
        "tests/surfaces/cli/test_compress.py::test_compressing_does_what_the_planner_recommends",
        "tests/surfaces/hooks/test_session.py::test_before_a_compaction_all_is_put_down_and_its_writer_told_what_to_keep",
    ),
    "R105": (
        "tests/surfaces/cli/test_run.py::test_clear_puts_down_where_the_work_stands_and_starts_afresh",
        "tests/surfaces/hooks/test_session.py::test_a_session_that_was_cleared_leaves_word_for_the_next",
    ),
    "R106": (
        "tests/surfaces/cli/test_compress.py::test_a_dry_run_shows_what_would_be_compressed_and_changes_nothing",
        "tests/surfaces/cli/test_preserve.py::test_a_dry_run_shows_the_four_phases_and_changes_nothing",
        "tests/surfaces/test_shim.py::test_with_the_real_program_it_answers_and_changes_nothing",
    ),
    "R107": (
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_context_status_reports_how_full_the_window_is",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
        "tests/surfaces/hooks/test_session.py::test_quick_commands_are_answered_without_the_model",
        "tests/surfaces/install/test_plugin.py::test_the_skill_names_the_quick_commands_and_holds_for_every_role",
    ),
    "R108": (
        "tests/engine/test_preserve.py::test_a_second_summary_carries_what_is_true_by_then_and_not_what_was",
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/engine/test_preserve.py::test_what_a_window_carries_stays_where_there_is_no_project_to_look_at",
    ),
    "R109": (
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_notes_are_session_continuity_and_the_decision_log",
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/engine/test_preserve.py::test_notes_that_are_there_are_kept_up_to_date_and_stay_small",
        "tests/project/integrations/test_notes.py::test_a_missing_section_a_missing_file_and_a_link_out_are_told_apart",
    ),
    "R110": (
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/engine/test_preserve.py::test_notes_that_are_there_are_kept_up_to_date_and_stay_small",
        "tests/project/integrations/test_notes.py::test_a_missing_section_a_missing_file_and_a_link_out_are_told_apart",
    ),
    "R111": (
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/project/integrations/test_trackers.py::test_trajectory_files_are_counted_and_only_lines_are_added",
    ),
    "R112": (
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/project/integrations/test_trackers.py::test_beads_in_progress_are_named_and_the_newest_line_of_each_counts",
    ),
    "R113": (
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/project/integrations/test_trackers.py::test_the_sprint_that_is_worked_on_is_told",
    ),
    "R114": (
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/project/integrations/test_trackers.py::test_the_run_state_is_told_in_a_line",
    ),
    "R115": (
        "tests/core/plan/test_proposals.py::test_an_old_large_result_keeps_an_outline",
        "tests/core/plan/test_proposals.py::test_an_old_result_of_the_turn_under_way_keeps_a_line",
        "tests/engine/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
    ),
    "R116": (
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
        "tests/engine/test_preserve.py::test_thinking_is_logged_to_the_trajectory_before_it_leaves_and_once",
    ),
    "R117": (
        "tests/core/plan/test_proposals.py::test_output_of_a_problem_that_was_resolved_is_debug_output",
        "tests/core/shrink/test_step.py::test_resolved_debug_output_keeps_a_brief_status",
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
    ),
    "R118": (
        "tests/core/observe/files/test_reads.py::test_a_file_read_again_makes_the_earlier_read_redundant",
        "tests/core/observe/files/test_reads.py::test_a_file_written_since_makes_the_read_before_it_redundant",
        "tests/core/plan/test_proposals.py::test_a_read_that_was_read_again_is_redundant_before_it_is_anything_else",
        "tests/core/shrink/test_step.py::test_a_redundant_read_keeps_its_path_and_lines",
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
    ),
    "R119": (
        "tests/core/plan/test_proposals.py::test_results_of_a_turn_that_has_its_answer_are_intermediate",
        "tests/core/shrink/test_step.py::test_offloads_and_intermediate_outputs_have_a_readable_copy",
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/engine/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
    ),
    "R120": (
        "tests/engine/test_preserve.py::test_a_summary_that_comes_back_otherwise_is_noted_once_and_the_window_is_the_ledgers",
        "tests/engine/test_preserve.py::test_words_that_someone_wrote_into_our_lines_are_noted_and_the_ledger_is_believed",
    ),
    "R121": (
        "tests/project/integrations/test_trackers.py::test_beads_in_progress_are_named_and_the_newest_line_of_each_counts",
    ),
    "R122": (
        "tests/engine/test_preserve.py::test_notes_that_are_there_are_kept_up_to_date_and_stay_small",
        "tests/engine/test_preserve.py::test_words_that_someone_wrote_into_our_lines_are_noted_and_the_ledger_is_believed",
        "tests/project/integrations/test_notes.py::test_what_someone_wrote_into_our_block_is_handed_back_and_the_ledger_stands",
    ),
    "R123": (
        "tests/project/integrations/test_trackers.py::test_trajectory_files_are_counted_and_only_lines_are_added",
    ),
    "R124": (
        "tests/engine/test_preserve.py::test_words_that_someone_wrote_into_our_lines_are_noted_and_the_ledger_is_believed",
    ),
    "R125": (
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
        "tests/surfaces/cli/test_preserve.py::test_rules_list_the_six_the_five_and_what_was_added",
    ),
    "R126": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
        "tests/engine/test_preserve.py::test_notes_that_are_there_are_kept_up_to_date_and_stay_small",
        "tests/surfaces/cli/test_preserve.py::test_a_dry_run_shows_the_four_phases_and_changes_nothing",
    ),
    "R127": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
        "tests/engine/test_preserve.py::test_notes_that_are_there_are_kept_up_to_date_and_stay_small",
    ),
    "R128": (
        "tests/engine/test_preserve.py::test_thinking_is_logged_to_the_trajectory_before_it_leaves_and_once",
    ),
    "R129": (
        "tests/project/integrations/test_trackers.py::test_beads_in_progress_are_named_and_the_newest_line_of_each_counts",
    ),
    "R130": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R131": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R132": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R133": (
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/engine/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
        "tests/engine/test_preserve.py::test_what_leaves_is_told_by_kind",
    ),
    "R134": (
        "tests/engine/test_preserve.py::test_thinking_is_logged_to_the_trajectory_before_it_leaves_and_once",
        "tests/engine/test_preserve.py::test_what_leaves_is_told_by_kind",
    ),
    "R135": (
        "tests/core/plan/test_proposals.py::test_a_read_that_was_read_again_is_redundant_before_it_is_anything_else",
        "tests/core/shrink/test_step.py::test_a_redundant_read_keeps_its_path_and_lines",
        "tests/engine/test_preserve.py::test_what_leaves_is_told_by_kind",
    ),
    "R136": (
        "tests/core/plan/test_proposals.py::test_results_of_a_turn_that_has_its_answer_are_intermediate",
        "tests/core/shrink/test_step.py::test_offloads_and_intermediate_outputs_have_a_readable_copy",
        "tests/core/test_compress.py::test_a_batch_that_pays_is_one_entry_that_names_all_it_hides",
        "tests/engine/test_engine.py::test_results_of_finished_turns_leave_and_their_copies_open",
        "tests/engine/test_preserve.py::test_what_leaves_is_told_by_kind",
    ),
    "R137": (
        "tests/engine/test_preserve.py::test_a_second_summary_carries_what_is_true_by_then_and_not_what_was",
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R138": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R139": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R140": (
        "tests/core/observe/test_unattended.py::test_whatever_is_missing_the_user_is_asked",
        "tests/engine/test_unattended.py::test_a_file_that_merely_sits_in_the_work_tree_starts_nothing",
        "tests/engine/test_unattended.py::test_a_run_that_was_started_here_goes_on_after_a_compression",
        "tests/surfaces/cli/test_checkpoint.py::test_a_run_is_started_looked_at_and_stopped",
        "tests/surfaces/cli/test_checkpoint.py::test_a_run_state_file_alone_has_the_user_asked",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_an_unattended_run_goes_on_by_itself",
    ),
    "R141": (
        "tests/core/observe/test_unattended.py::test_a_run_of_ours_continues_its_sprint_without_asking",
        "tests/engine/test_unattended.py::test_a_run_that_was_started_here_goes_on_after_a_compression",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_an_unattended_run_goes_on_by_itself",
    ),
    "R142": (
        "tests/core/observe/test_unattended.py::test_a_run_of_ours_continues_its_sprint_without_asking",
        "tests/engine/test_unattended.py::test_a_run_that_was_started_here_goes_on_after_a_compression",
        "tests/surfaces/cli/test_checkpoint.py::test_a_run_is_started_looked_at_and_stopped",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_an_unattended_run_goes_on_by_itself",
    ),
    "R143": (
        "tests/engine/test_unattended.py::test_a_file_that_merely_sits_in_the_work_tree_starts_nothing",
        "tests/engine/test_unattended.py::test_a_run_that_was_started_here_goes_on_after_a_compression",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_an_unattended_run_goes_on_by_itself",
    ),
    "R144": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
        "tests/surfaces/cli/test_drift.py::test_drift_is_shown_with_its_reasons_and_evidence_and_ends_with_1",
        "tests/surfaces/hooks/test_session.py::test_an_agent_that_drifts_after_a_compaction_is_told_once",
    ),
    "R145": ("tests/core/verify/drift/test_signs.py::test_working_on_something_else_is_a_sign",),
    "R146": ("tests/core/verify/drift/test_signs.py::test_working_on_something_else_is_a_sign",),
    "R147": (
        "tests/core/verify/drift/test_signs.py::test_asking_at_once_for_what_was_said_is_a_sign",
    ),
    "R148": (
        "tests/core/verify/drift/test_signs.py::test_calling_it_done_with_nothing_to_show_is_critical",
    ),
    "R149": (
        "tests/core/verify/drift/test_signs.py::test_asking_at_once_for_what_was_said_is_a_sign",
    ),
    "R150": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R151": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R152": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R153": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R154": (
        "tests/core/verify/drift/test_signs.py::test_asking_at_once_for_what_was_said_is_a_sign",
    ),
    "R155": (
        "tests/core/verify/drift/test_signs.py::test_calling_it_done_with_nothing_to_show_is_critical",
    ),
    "R156": ("tests/core/verify/drift/test_signs.py::test_working_on_something_else_is_a_sign",),
    "R157": ("tests/core/verify/drift/test_signs.py::test_turning_from_a_decision_is_a_sign",),
    "R158": (
        "tests/core/verify/drift/test_signs.py::test_doing_what_was_forbidden_or_skipping_what_was_demanded_is_a_sign",
    ),
    "R159": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R160": ("tests/seeds/test_functions.py::test_each_check_tells_of_drift_by_itself",),
    "R161": ("tests/seeds/test_functions.py::test_the_predicates_can_be_asked_one_by_one",),
    "R162": ("tests/seeds/test_functions.py::test_each_check_tells_of_drift_by_itself",),
    "R163": ("tests/seeds/test_functions.py::test_an_action_that_goes_on_is_aligned",),
    "R164": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R165": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R166": (
        "tests/engine/test_recover.py::test_a_hidden_result_is_found_by_a_part_of_it_and_not_as_a_whole",
        "tests/seeds/test_functions.py::test_offloaded_files_are_searched_and_give_back_the_part_that_is_meant",
    ),
    "R167": (
        "tests/engine/test_recover.py::test_a_hidden_result_is_found_by_a_part_of_it_and_not_as_a_whole",
    ),
    "R168": (
        "tests/engine/test_recover.py::test_a_hidden_result_is_found_by_a_part_of_it_and_not_as_a_whole",
    ),
    "R169": (
        "tests/engine/test_recover.py::test_all_that_was_said_can_be_searched_after_a_summary",
        "tests/seeds/test_functions.py::test_an_archive_gives_back_the_sections_that_are_about_something",
    ),
    "R170": ("tests/engine/test_recover.py::test_a_needle_is_found_by_any_of_its_words",),
    "R171": (
        "tests/seeds/test_functions.py::test_offloaded_files_are_searched_and_give_back_the_part_that_is_meant",
    ),
    "R172": ("tests/seeds/test_functions.py::test_the_parts_of_a_search_stand_on_their_own",),
    "R173": (
        "tests/seeds/test_functions.py::test_an_archive_gives_back_the_sections_that_are_about_something",
    ),
    "R174": (
        "tests/engine/test_levels.py::test_a_reference_opens_after_a_restart_a_month_later",
        "tests/engine/test_levels.py::test_every_level_can_be_given_after_a_compression_and_tells_the_requests",
    ),
    "R175": (
        "tests/core/view/test_levels.py::test_no_level_ever_has_more_tokens_than_its_budget",
        "tests/engine/test_levels.py::test_every_level_can_be_given_after_a_compression_and_tells_the_requests",
        "tests/surfaces/cli/test_checkpoint.py::test_a_level_is_printed_in_its_tokens",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R176": (
        "tests/core/view/test_levels.py::test_no_level_ever_has_more_tokens_than_its_budget",
        "tests/engine/test_levels.py::test_every_level_can_be_given_after_a_compression_and_tells_the_requests",
        "tests/surfaces/cli/test_checkpoint.py::test_a_level_is_printed_in_its_tokens",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R177": (
        "tests/core/view/test_levels.py::test_no_level_ever_has_more_tokens_than_its_budget",
        "tests/engine/test_levels.py::test_every_level_can_be_given_after_a_compression_and_tells_the_requests",
        "tests/surfaces/cli/test_checkpoint.py::test_a_level_is_printed_in_its_tokens",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R178": (
        "tests/core/verify/test_probes.py::test_there_is_a_question_of_each_kind_in_plain_words",
        "tests/core/view/test_probes.py::test_facts_are_asked_for_whether_the_summary_shows_them_or_not",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R179": (
        "tests/core/verify/test_probes.py::test_a_path_with_another_action_or_none_is_no_answer",
        "tests/core/verify/test_probes.py::test_there_is_a_question_of_each_kind_in_plain_words",
        "tests/core/view/test_probes.py::test_facts_are_asked_for_whether_the_summary_shows_them_or_not",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R180": (
        "tests/core/verify/test_probes.py::test_there_is_a_question_of_each_kind_in_plain_words",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R181": (
        "tests/core/verify/test_probes.py::test_there_is_a_question_of_each_kind_in_plain_words",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R182": (
        "tests/core/verify/test_probes.py::test_a_row_that_is_left_out_fails_its_own_questions_and_no_others",
        "tests/core/verify/test_probes.py::test_a_text_that_has_everything_answers_everything",
        "tests/core/verify/test_probes.py::test_what_is_missing_names_its_section_and_entries_in_the_order_to_expand",
        "tests/core/verify/test_probes.py::test_whatever_is_written_whole_answers_everything_in_any_order",
        "tests/core/view/test_probes.py::test_facts_are_asked_for_whether_the_summary_shows_them_or_not",
        "tests/engine/test_replay.py::test_a_window_that_only_a_summary_can_shrink_is_summarized_and_the_summary_scored",
        "tests/surfaces/cli/test_summary.py::test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer",
    ),
    "R183": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_one_row_that_says_otherwise_misses_accuracy",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R184": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R185": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R186": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R187": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R188": (
        "tests/core/verify/test_quality.py::test_a_part_that_is_lost_misses_the_targets_that_rest_on_it",
        "tests/core/verify/test_quality.py::test_the_dimensions_and_their_targets_are_those_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed",
    ),
    "R189": (
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_findings_are_sentences_and_neither_code_nor_commands_nor_announcements",
        "tests/core/view/test_forms.py::test_no_kind_of_row_crowds_out_another",
        "tests/core/view/test_forms.py::test_what_is_left_out_is_counted_and_what_binds_is_not_left_out",
    ),
    "R190": (
        "tests/core/view/test_forms.py::test_a_phase_form_keeps_within_its_words",
        "tests/core/view/test_forms.py::test_a_research_form_of_a_short_session_is_short",
        "tests/core/view/test_forms.py::test_what_is_left_out_is_counted_and_what_binds_is_not_left_out",
    ),
    "R191": (
        "tests/core/view/test_forms.py::test_a_contract_is_quoted_as_the_request_writes_it",
        "tests/core/view/test_forms.py::test_a_form_is_what_it_was",
        "tests/core/view/test_forms.py::test_a_specification_has_no_tests_and_no_function_twice",
        "tests/core/view/test_forms.py::test_a_specification_knows_a_definition_by_its_line",
        "tests/core/view/test_forms.py::test_functions_that_a_change_names_are_in_the_specification",
        "tests/core/view/test_forms.py::test_prose_and_calls_are_no_definitions",
    ),
    "R192": ("tests/core/view/test_forms.py::test_a_phase_form_keeps_within_its_words",),
    "R193": (
        "tests/engine/test_copies.py::test_finished_work_goes_into_the_summary_and_work_under_way_stays_as_it_is",
    ),
    "R194": (
        "tests/engine/test_copies.py::test_finished_work_goes_into_the_summary_and_work_under_way_stays_as_it_is",
    ),
    "R195": (
        "tests/core/observe/files/test_changes.py::test_what_was_made_changed_and_read_is_one_row_each",
    ),
    "R196": (
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/core/view/test_forms.py::test_the_anchored_form_has_the_sections_of_its_template_in_their_order",
        "tests/surfaces/cli/test_summary.py::test_the_summary_is_shown_in_any_of_its_forms",
    ),
    "R197": (
        "tests/core/observe/files/test_changes.py::test_a_path_is_never_shortened",
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/core/view/test_forms.py::test_no_path_is_left_out_or_shortened",
    ),
    "R198": (
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/seeds/test_functions.py::test_the_parts_say_what_the_record_shows",
    ),
    "R199": (
        "tests/core/observe/files/test_changes.py::test_what_was_made_changed_and_read_is_one_row_each",
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/seeds/test_functions.py::test_the_parts_say_what_the_record_shows",
    ),
    "R200": (
        "tests/core/shrink/summary/test_text.py::test_files_that_were_changed_are_a_table_and_those_that_were_read_a_list",
        "tests/seeds/test_functions.py::test_the_parts_say_what_the_record_shows",
    ),
    "R201": (
        "tests/engine/test_checkpoints.py::test_a_checkpoint_is_in_the_ledger_and_on_disk_and_can_be_read_back",
        "tests/surfaces/cli/test_checkpoint.py::test_a_checkpoint_is_made_listed_and_shown",
    ),
    "R202": (
        "tests/engine/test_checkpoints.py::test_a_summary_is_preceded_by_a_checkpoint_of_what_it_replaces",
    ),
    "R203": (
        "tests/engine/test_checkpoints.py::test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once",
        "tests/engine/test_checkpoints.py::test_a_window_that_becomes_critical_is_put_down_once_before_anything_leaves",
    ),
    "R204": (
        "tests/engine/test_checkpoints.py::test_a_summary_is_preceded_by_a_checkpoint_of_what_it_replaces",
    ),
    "R205": (
        "tests/engine/test_checkpoints.py::test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once",
        "tests/engine/test_preserve.py::test_a_summary_that_is_refused_puts_the_work_down_and_advises_a_fresh_session_once",
    ),
    "R206": (
        "tests/engine/test_checkpoints.py::test_a_checkpoint_is_in_the_ledger_and_on_disk_and_can_be_read_back",
    ),
    "R207": (
        "tests/surfaces/cli/test_checkpoint.py::test_checkpoint_and_reset_ends_the_session_and_opens_one_that_goes_on",
    ),
    "R208": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/core/view/test_log.py::test_a_summary_names_its_archive_and_its_quality_below_the_fields",
        "tests/core/view/test_log.py::test_whatever_else_happened_to_a_window_is_an_event_too",
        "tests/engine/test_engine.py::test_what_was_not_written_has_not_happened",
        "tests/reliability/test_engine.py::test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent",
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_log.py::test_an_undoing_is_logged_last",
        "tests/surfaces/cli/test_summary.py::test_the_log_names_the_archive_and_the_quality_below_the_fields_of_the_protocol",
    ),
    "R209": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/core/view/test_log.py::test_a_summary_names_its_archive_and_its_quality_below_the_fields",
        "tests/core/view/test_log.py::test_an_event_that_may_have_lost_the_intent_asks_for_verification",
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_summary.py::test_the_log_names_the_archive_and_the_quality_below_the_fields_of_the_protocol",
    ),
    "R210": (
        "tests/surfaces/cli/test_log.py::test_a_logged_compression_is_in_the_history_of_the_status_report",
    ),
    "R211": (
        "tests/engine/test_preserve.py::test_a_summary_goes_through_four_phases_and_the_event_has_them",
    ),
    "R212": (
        "tests/surfaces/cli/test_compress.py::test_compressing_does_what_the_planner_recommends",
        "tests/surfaces/cli/test_compress.py::test_what_would_not_pay_is_left_as_it_is",
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
        "tests/surfaces/hooks/test_session.py::test_quick_commands_are_answered_without_the_model",
    ),
    "R213": (
        "tests/surfaces/cli/test_run.py::test_context_status_reports_how_full_the_window_is",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
        "tests/surfaces/hooks/test_session.py::test_quick_commands_are_answered_without_the_model",
    ),
    "R214": (
        "tests/surfaces/cli/test_recover.py::test_what_left_the_window_is_found_again_by_its_words",
        "tests/surfaces/cli/test_run.py::test_recover_searches_and_intent_shows_the_request",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
        "tests/surfaces/hooks/test_session.py::test_what_is_recovered_is_told_to_the_model",
    ),
    "R215": (
        "tests/core/view/test_summary_intents.py::test_requests_and_constraints_are_told_word_for_word_with_their_entries",
        "tests/surfaces/cli/test_intent.py::test_the_first_request_and_the_current_one_are_shown_word_for_word",
        "tests/surfaces/cli/test_run.py::test_recover_searches_and_intent_shows_the_request",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
        "tests/surfaces/hooks/test_session.py::test_the_intent_is_shown_word_for_word",
    ),
    "R216": (
        "tests/surfaces/cli/test_log.py::test_a_compression_is_logged_with_every_field_of_the_protocol",
        "tests/surfaces/cli/test_run.py::test_compress_runs_the_planner_and_the_log_tells_of_it",
        "tests/surfaces/cli/test_run.py::test_the_five_quick_commands_are_understood",
    ),
    "R217": (
        "tests/core/plan/test_rules.py::test_a_result_is_offloaded_when_nothing_is_lost_and_its_preview_tells",
        "tests/core/plan/test_rules.py::test_the_first_gate_is_about_large_results",
        "tests/surfaces/hooks/events/test_tool_result.py::test_a_large_result_leaves_and_all_of_it_can_be_read_by_its_reference",
    ),
    "R218": (
        "tests/core/plan/test_rules.py::test_inputs_are_truncated_when_there_are_some_and_their_content_is_on_disk",
        "tests/core/plan/test_rules.py::test_the_second_gate_is_about_inputs_that_are_on_disk",
        "tests/surfaces/cli/test_compress.py::test_a_dry_run_judges_the_gates_that_are_concerned",
    ),
    "R219": (
        "tests/core/plan/test_rules.py::test_a_summary_is_made_when_the_gentler_tiers_do_not_do_and_nothing_of_it_is_missing",
        "tests/core/plan/test_rules.py::test_the_third_gate_is_about_the_summary",
        "tests/engine/test_preserve.py::test_a_summary_that_is_refused_puts_the_work_down_and_advises_a_fresh_session_once",
        "tests/surfaces/cli/test_summary.py::test_the_gate_of_the_summary_is_passed_where_only_a_summary_helps",
    ),
    "R220": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
        "tests/surfaces/hooks/test_session.py::test_an_agent_that_drifts_after_a_compaction_is_told_once",
    ),
    "R221": (
        "tests/engine/test_checkpoints.py::test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once",
        "tests/engine/test_checkpoints.py::test_a_window_that_becomes_critical_is_put_down_once_before_anything_leaves",
        "tests/surfaces/hooks/test_session.py::test_a_window_that_fills_up_is_told_of_once",
    ),
    "R222": (
        "tests/surfaces/cli/test_rules.py::test_the_gates_are_declared_in_the_xml_of_the_protocol",
        "tests/surfaces/cli/test_rules.py::test_what_has_a_meaning_in_xml_is_escaped",
    ),
    "R223": (
        "tests/core/plan/test_policy.py::test_the_defaults_are_those_of_the_protocol",
        "tests/core/plan/test_policy_profiles.py::test_the_default_is_the_protocol",
        "tests/core/test_compress_birth.py::test_a_large_result_leaves_before_it_is_sent",
    ),
    "R224": (
        "tests/core/plan/test_proposals.py::test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk",
        "tests/engine/test_engine.py::test_a_write_is_seen_on_disk_by_processes_that_last_one_request",
        "tests/engine/test_engine.py::test_a_write_is_seen_on_disk_however_often_the_window_was_asked_for",
        "tests/engine/test_engine.py::test_what_was_written_to_disk_leaves_the_call_that_wrote_it",
    ),
    "R225": (
        "tests/core/observe/requests/test_intent.py::test_the_first_request_and_the_newest_are_kept_word_for_word",
    ),
    "R226": ("tests/seeds/test_functions.py::test_what_cannot_be_archived_is_not_summed_up",),
    "R227": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R228": (
        "tests/engine/test_drift.py::test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request",
    ),
    "R229": (
        "tests/core/plan/test_proposals.py::test_an_error_that_is_still_open_stays_unless_everything_legal_is_asked_for",
        "tests/core/shrink/test_offload.py::test_a_mask_keeps_the_lines_that_were_used",
        "tests/core/verify/test_losses.py::test_a_promise_that_would_be_broken_is_told",
    ),
    "R230": (
        "tests/engine/test_drift.py::test_what_was_lost_comes_back_as_data_in_a_fence",
        "tests/properties/test_principles.py::test_nothing_left_without_a_name_in_sight_that_brings_it_back",
    ),
    "R231": (
        "tests/properties/test_principles.py::test_every_request_follows_the_thresholds_of_the_protocol",
    ),
    "R232": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
    ),
    "R233": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
    ),
    "R234": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
    ),
    "R235": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R236": (
        "tests/core/observe/test_phrases.py::test_what_binds_is_a_constraint",
        "tests/core/observe/test_phrases.py::test_what_forbids_is_a_negative_constraint",
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R237": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
        "tests/packets/test_make_and_deliver.py::test_a_codebase_brings_files_patterns_and_an_example",
    ),
    "R238": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
        "tests/core/view/packet/test_strategies.py::test_files_that_are_alike_become_a_pattern_and_one_to_read",
    ),
    "R239": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
    ),
    "R240": (
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
        "tests/packets/test_make_and_deliver.py::test_what_is_left_out_is_said_and_where_to_find_it",
    ),
    "R241": (
        "tests/core/view/packet/test_document.py::test_a_changed_word_breaks_the_checksum_and_another_order_does_not",
        "tests/core/view/packet/test_document.py::test_a_packet_is_written_nested_under_context_and_comes_back",
    ),
    "R242": (
        "tests/seeds/test_packet.py::test_the_object_has_the_fields_and_defaults_of_the_protocol",
    ),
    "R243": (
        "tests/packets/test_packet.py::test_any_packet_survives_its_file",
        "tests/seeds/test_packet.py::test_it_is_written_read_and_counted",
        "tests/text/test_yaml.py::test_whatever_is_written_is_read_back",
    ),
    "R244": (
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
        "tests/seeds/test_packet.py::test_it_is_written_read_and_counted",
    ),
    "R245": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_keeps_to_the_cap_of_its_depth_and_counts_exactly",
        "tests/seeds/test_packet.py::test_it_is_written_read_and_counted",
    ),
    "R246": (
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
        "tests/packets/test_make_and_deliver.py::test_layer_1_is_never_cut_and_says_when_it_is_too_much",
    ),
    "R247": (
        "tests/core/observe/results/test_decisions.py::test_the_answer_to_a_question_is_the_users_decision",
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R248": (
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
        "tests/packets/test_make_and_deliver.py::test_a_codebase_brings_files_patterns_and_an_example",
    ),
    "R249": (
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
        "tests/core/view/packet/test_prompt.py::test_every_layer_has_its_part_in_order",
    ),
    "R250": ("tests/seeds/test_packet.py::test_the_depth_decides_which_layers_are_extracted",),
    "R251": (
        "tests/core/observe/requests/test_intent.py::test_the_first_request_and_the_newest_are_kept_word_for_word",
        "tests/core/observe/test_phrases.py::test_what_forbids_is_a_negative_constraint",
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
        "tests/seeds/test_packet.py::test_each_step_of_the_generator_can_be_had_by_itself",
        "tests/seeds/test_packet.py::test_the_depth_decides_which_layers_are_extracted",
    ),
    "R252": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
        "tests/seeds/test_packet.py::test_each_step_of_the_generator_can_be_had_by_itself",
        "tests/seeds/test_packet.py::test_the_depth_decides_which_layers_are_extracted",
    ),
    "R253": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
        "tests/seeds/test_packet.py::test_each_step_of_the_generator_can_be_had_by_itself",
        "tests/seeds/test_packet.py::test_the_depth_decides_which_layers_are_extracted",
    ),
    "R254": (
        "tests/packets/test_make_and_deliver.py::test_what_is_left_out_is_said_and_where_to_find_it",
        "tests/seeds/test_packet.py::test_each_step_of_the_generator_can_be_had_by_itself",
        "tests/seeds/test_packet.py::test_the_depth_decides_which_layers_are_extracted",
    ),
    "R255": (
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
        "tests/packets/test_make_and_deliver.py::test_a_packet_keeps_to_the_cap_of_its_depth_and_counts_exactly",
        "tests/packets/test_make_and_deliver.py::test_depth_and_caps_are_the_users_to_set",
    ),
    "R256": (
        "tests/core/view/packet/test_layers.py::test_a_depth_stands_for_its_layers_and_its_cap",
    ),
    "R257": (
        "tests/core/view/packet/test_strategies.py::test_only_what_is_about_the_task_is_kept_and_what_is_pinned_in_any_case",
    ),
    "R258": (
        "tests/core/view/packet/test_strategies.py::test_the_farther_back_a_decision_lies_the_less_is_said_of_it",
        "tests/packets/test_make_and_deliver.py::test_a_constraint_stated_once_long_ago_stands_word_for_word",
    ),
    "R259": (
        "tests/core/view/packet/test_strategies.py::test_files_that_are_alike_become_a_pattern_and_one_to_read",
        "tests/packets/test_make_and_deliver.py::test_a_codebase_brings_files_patterns_and_an_example",
    ),
    "R260": (
        "tests/core/view/packet/test_strategies.py::test_decisions_made_together_become_one_choice_with_one_reason",
    ),
    "R261": (
        "tests/core/view/packet_stats/test_feedback.py::test_the_protocols_own_feedback_is_read",
        "tests/packets/test_feedback.py::test_feedback_is_put_on_record_with_the_packet_it_is_about",
        "tests/surfaces/cli/test_context_learning.py::test_a_worker_reports_and_the_orchestrator_sees_it",
        "tests/surfaces/hooks/test_session.py::test_what_a_worker_lacked_is_on_record",
    ),
    "R262": (
        "tests/core/view/packet_stats/test_feedback.py::test_the_protocols_own_feedback_is_read",
        "tests/packets/test_feedback.py::test_feedback_is_put_on_record_with_the_packet_it_is_about",
        "tests/surfaces/cli/test_context_learning.py::test_a_worker_reports_and_the_orchestrator_sees_it",
    ),
    "R263": (
        "tests/packets/test_feedback.py::test_feedback_is_written_where_the_protocol_says_and_read_in_both_spellings",
        "tests/surfaces/cli/test_context_learning.py::test_a_worker_reports_and_the_orchestrator_sees_it",
    ),
    "R264": (
        "tests/core/view/learning/test_learning.py::test_gaps_that_go_with_failures_ask_for_more_and_say_why",
        "tests/packets/test_stats.py::test_records_of_packets_lead_to_a_recommendation",
        "tests/surfaces/test_handoff.py::test_a_budget_that_was_enough_holds_for_packets_that_nobody_sized",
        "tests/surfaces/test_handoff.py::test_what_nobody_needed_gets_less_room_and_what_was_missing_more",
        "tests/surfaces/test_handoff.py::test_what_workers_reported_makes_the_next_packet_another_one",
    ),
    "R265": (
        "tests/packets/test_stats.py::test_the_tracker_takes_a_task_as_the_protocol_calls_it",
    ),
    "R266": (
        "tests/core/view/learning/test_learning.py::test_the_least_that_did_as_well_is_enough_for_its_kind_alone",
        "tests/packets/test_stats.py::test_the_tracker_learns_what_is_enough_what_is_idle_and_what_fails",
        "tests/surfaces/test_handoff.py::test_a_budget_that_was_enough_holds_for_packets_that_nobody_sized",
    ),
    "R267": (
        "tests/core/view/learning/test_learning.py::test_what_nobody_needs_is_usually_unused_once_that_is_sure",
        "tests/packets/test_stats.py::test_the_tracker_learns_what_is_enough_what_is_idle_and_what_fails",
    ),
    "R268": (
        "tests/core/view/learning/test_learning.py::test_a_gap_goes_with_failures_when_tasks_with_it_surely_fail_more",
        "tests/packets/test_stats.py::test_the_tracker_learns_what_is_enough_what_is_idle_and_what_fails",
    ),
    "R269": (
        "tests/core/view/learning/test_learning.py::test_the_report_has_the_protocols_three_lines",
        "tests/packets/test_stats.py::test_the_tracker_takes_a_task_as_the_protocol_calls_it",
        "tests/surfaces/cli/test_context_learning.py::test_stats_begin_with_the_protocols_three_lines",
    ),
    "R270": (
        "tests/engine/test_copies.py::test_the_cache_of_the_protocol_has_a_folder_for_each_kind",
    ),
    "R271": (
        "tests/packets/test_make_and_deliver.py::test_the_layout_of_the_protocol_has_a_file_for_each_worker_and_one_for_all",
        "tests/packets/test_make_and_deliver.py::test_with_a_pane_it_is_on_record_and_its_file_is_there_for_the_worker",
        "tests/surfaces/cli/test_context.py::test_generate_prints_the_packet_and_writes_the_file_of_a_pane",
        "tests/surfaces/test_agentwire.py::test_the_files_are_where_the_protocol_has_them",
    ),
    "R272": (
        "tests/packets/test_make_and_deliver.py::test_the_layout_of_the_protocol_has_a_file_for_each_worker_and_one_for_all",
        "tests/surfaces/cli/test_context.py::test_what_all_workers_share_needs_no_task",
    ),
    "R273": (
        "tests/packets/test_feedback.py::test_feedback_is_written_where_the_protocol_says_and_read_in_both_spellings",
    ),
    "R274": (
        "tests/packets/test_make_and_deliver.py::test_with_a_pane_it_is_on_record_and_its_file_is_there_for_the_worker",
    ),
    "R275": (
        "tests/surfaces/cli/test_context.py::test_generate_prints_the_packet_and_writes_the_file_of_a_pane",
        "tests/surfaces/test_agentwire.py::test_the_files_are_where_the_protocol_has_them",
        "tests/surfaces/test_agentwire.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R276": (
        "tests/surfaces/cli/test_context.py::test_preview_shows_what_a_worker_would_get_and_records_nothing",
        "tests/surfaces/test_agentwire.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R277": (
        "tests/surfaces/cli/test_context_learning.py::test_stats_begin_with_the_protocols_three_lines",
        "tests/surfaces/test_agentwire.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R278": (
        "tests/packets/test_make_and_deliver.py::test_clearing_takes_the_file_away_and_leaves_the_record",
        "tests/surfaces/cli/test_context.py::test_clear_takes_the_files_away_and_keeps_the_record",
        "tests/surfaces/test_agentwire.py::test_the_files_are_where_the_protocol_has_them",
        "tests/surfaces/test_agentwire.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R279": (
        "tests/surfaces/cli/test_preserve.py::test_a_dry_run_shows_the_four_phases_and_changes_nothing",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R280": (
        "tests/surfaces/cli/test_preserve.py::test_a_dry_run_shows_the_four_phases_and_changes_nothing",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R281": (
        "tests/surfaces/cli/test_preserve.py::test_rules_list_the_six_the_five_and_what_was_added",
        "tests/surfaces/test_shim.py::test_with_the_real_program_it_answers_and_changes_nothing",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R282": (
        "tests/surfaces/cli/test_preserve.py::test_rules_list_the_six_the_five_and_what_was_added",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R283": (
        "tests/surfaces/cli/test_preserve.py::test_a_missing_section_ends_with_1_and_says_how_to_make_it",
        "tests/surfaces/cli/test_preserve.py::test_without_outside_ledgers_our_own_holds_everything_and_the_code_is_0",
        "tests/surfaces/test_shim.py::test_with_the_real_program_it_answers_and_changes_nothing",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R284": (
        "tests/surfaces/cli/test_preserve.py::test_a_missing_section_ends_with_1_and_says_how_to_make_it",
        "tests/surfaces/cli/test_preserve.py::test_a_section_that_is_none_ends_with_2_and_lists_those_that_are",
        "tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",
    ),
    "R285": ("tests/surfaces/test_shim.py::test_words_are_handed_on_and_the_exit_code_comes_back",),
    "R286": (
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
        "tests/surfaces/cli/test_context.py::test_generate_prints_the_packet_and_writes_the_file_of_a_pane",
    ),
    "R287": (
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
    ),
    "R288": (
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
    ),
    "R289": (
        "tests/surfaces/mcp/test_packet_calls.py::test_tools_can_have_the_prefix_that_the_roles_name",
        "tests/surfaces/test_handoff.py::test_a_worker_is_known_by_what_it_says_then_its_environment_then_its_client",
        "tests/surfaces/test_roles.py::test_an_orchestrator_is_told_to_judge_generate_write_and_have_it_read",
    ),
    "R290": (
        "tests/surfaces/cli/test_roles.py::test_both_texts_are_printed_with_the_paths_of_the_layout",
        "tests/surfaces/hooks/test_session.py::test_a_worker_is_started_with_a_packet",
        "tests/surfaces/test_roles.py::test_an_orchestrator_is_told_to_judge_generate_write_and_have_it_read",
    ),
    "R291": (
        "tests/packets/test_make_and_deliver.py::test_a_constraint_stated_once_long_ago_stands_word_for_word",
        "tests/surfaces/cli/test_roles.py::test_both_texts_are_printed_with_the_paths_of_the_layout",
        "tests/surfaces/hooks/test_session.py::test_a_worker_is_started_with_a_packet",
        "tests/surfaces/test_roles.py::test_a_worker_is_told_to_read_to_keep_what_was_decided_and_to_report",
    ),
    "R292": (
        "tests/surfaces/hooks/test_session.py::test_what_a_worker_lacked_is_on_record",
        "tests/surfaces/test_roles.py::test_a_worker_is_told_to_read_to_keep_what_was_decided_and_to_report",
    ),
    "R293": (
        "tests/core/view/packet/test_prompt.py::test_an_earlier_session_stands_under_its_own_heading",
        "tests/packets/test_make_and_deliver.py::test_a_session_that_goes_on_from_another_hands_its_story_on",
    ),
    "R294": (
        "tests/core/plan/test_policy_profiles.py::test_no_role_changes_when_something_is_due_or_turns_anything_off",
        "tests/surfaces/install/test_plugin.py::test_the_skill_names_the_quick_commands_and_holds_for_every_role",
    ),
    "R295": (
        "tests/core/plan/test_policy_profiles.py::test_who_coordinates_sees_more_of_what_happened_and_who_reads_documents_outlines_sooner",
    ),
    "R296": (
        "tests/surfaces/cli/test_loa_config.py::test_switches_that_are_off",
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
    ),
    "R297": (
        "tests/surfaces/cli/test_loa_config.py::test_switches_that_are_off",
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
    ),
    "R298": (
        "tests/engine/test_checkpoints.py::test_a_checkpoint_is_in_the_ledger_and_on_disk_and_can_be_read_back",
        "tests/engine/test_preserve.py::test_a_simple_checkpoint_looks_at_three_and_carries_all",
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
    ),
    "R299": (
        "tests/engine/test_preserve.py::test_thinking_is_logged_to_the_trajectory_before_it_leaves_and_once",
        "tests/surfaces/cli/test_loa_config.py::test_switches_that_are_off",
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
    ),
    "R300": (
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
        "tests/surfaces/cli/test_preserve.py::test_rules_list_the_six_the_five_and_what_was_added",
    ),
    "R301": (
        "tests/engine/test_preserve.py::test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may",
        "tests/surfaces/cli/test_loa_config.py::test_the_block_as_the_document_has_it",
    ),
    "R302": (
        "tests/packets/test_make_and_deliver.py::test_depth_and_caps_are_the_users_to_set",
        "tests/surfaces/cli/test_agentwire_config.py::test_the_block_of_the_protocol_sets_what_it_says",
    ),
    "R303": (
        "tests/packets/test_make_and_deliver.py::test_depth_and_caps_are_the_users_to_set",
        "tests/surfaces/cli/test_agentwire_config.py::test_the_block_of_the_protocol_sets_what_it_says",
    ),
    "R304": (
        "tests/packets/test_make_and_deliver.py::test_a_worker_that_is_spawned_with_a_task_gets_a_packet",
        "tests/surfaces/cli/test_agentwire_config.py::test_the_block_of_the_protocol_sets_what_it_says",
    ),
    "R305": (
        "tests/packets/test_feedback.py::test_nothing_is_recorded_where_tracking_is_off",
        "tests/surfaces/cli/test_agentwire_config.py::test_the_block_of_the_protocol_sets_what_it_says",
    ),
    "R306": (
        "tests/packets/test_feedback.py::test_a_task_that_is_done_takes_the_packets_file_away_and_keeps_the_record",
        "tests/packets/test_make_and_deliver.py::test_clearing_takes_the_file_away_and_leaves_the_record",
        "tests/packets/test_make_and_deliver.py::test_the_file_goes_by_itself_when_the_task_is_done",
        "tests/surfaces/cli/test_agentwire_config.py::test_the_block_of_the_protocol_sets_what_it_says",
        "tests/surfaces/cli/test_context.py::test_clear_takes_the_files_away_and_keeps_the_record",
    ),
    "R307": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R308": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R309": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R310": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R311": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R312": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R313": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R314": (
        "tests/docs/test_protocols.py::test_every_command_of_the_page_runs",
        "tests/surfaces/install/test_plugin.py::test_the_skill_says_who_it_is_and_what_it_executes",
    ),
    "R315": ("tests/docs/test_protocols.py::test_every_command_of_the_page_runs",),
    "R316": (
        "tests/engine/test_preserve.py::test_a_missing_section_is_warned_of_once_and_the_summary_is_made",
        "tests/surfaces/cli/test_preserve.py::test_a_missing_section_ends_with_1_and_says_how_to_make_it",
        "tests/surfaces/cli/test_preserve.py::test_a_summary_that_was_made_without_a_section_says_so",
    ),
    "R317": (
        "tests/engine/test_preserve.py::test_strict_mode_blocks_a_summary_once_says_how_to_go_on_and_then_goes_on",
        "tests/engine/test_preserve.py::test_strict_mode_never_keeps_an_agent_from_going_on",
        "tests/surfaces/cli/test_preserve.py::test_a_blocked_summary_ends_with_69_and_the_next_try_goes_on",
    ),
    "R318": (
        "tests/engine/test_preserve.py::test_a_missing_section_is_made_where_that_is_automatic",
        "tests/surfaces/cli/test_preserve.py::test_a_person_is_asked",
        "tests/surfaces/cli/test_preserve.py::test_what_is_missing_is_made_when_asked_for",
    ),
    "R319": (
        "tests/engine/test_levels.py::test_a_level_that_cannot_be_given_is_followed_by_all_that_can_be_read",
    ),
    "R320": (
        "tests/engine/test_levels.py::test_a_level_that_cannot_be_given_is_followed_by_all_that_can_be_read",
    ),
    "R321": (
        "tests/engine/test_levels.py::test_a_level_that_cannot_be_given_is_followed_by_all_that_can_be_read",
    ),
    "R322": (
        "tests/reliability/test_engine.py::test_a_result_that_cannot_be_copied_stays_in_sight_with_a_warning",
    ),
    "R323": ("tests/seeds/test_functions.py::test_an_input_that_is_not_on_disk_stays",),
    "R324": (
        "tests/core/verify/test_widen.py::test_a_probe_that_fails_gives_its_own_section_more_room_and_no_other",
    ),
    "R325": (
        "tests/core/view/test_log.py::test_a_compression_is_an_event_with_the_fields_of_the_protocol",
        "tests/engine/test_preserve.py::test_metrics_say_what_size_recovery_and_preservation_came_to",
        "tests/surfaces/cli/test_preserve.py::test_the_log_and_the_status_have_the_metrics",
    ),
    "R326": (
        "tests/engine/test_preserve.py::test_metrics_say_what_size_recovery_and_preservation_came_to",
        "tests/surfaces/cli/test_preserve.py::test_the_log_and_the_status_have_the_metrics",
    ),
    "R327": (
        "tests/engine/test_preserve.py::test_metrics_say_what_size_recovery_and_preservation_came_to",
        "tests/surfaces/cli/test_preserve.py::test_the_log_and_the_status_have_the_metrics",
    ),
    "R328": (
        "tests/engine/test_preserve.py::test_metrics_say_what_size_recovery_and_preservation_came_to",
        "tests/engine/test_preserve.py::test_no_tier_loses_an_item_that_is_always_preserved",
        "tests/surfaces/cli/test_preserve.py::test_the_log_and_the_status_have_the_metrics",
    ),
    "R329": (
        "tests/core/measure/test_bill.py::test_a_prefix_that_stands_as_it_stood_is_read_and_the_rest_is_written",
        "tests/core/measure/test_bill.py::test_what_is_used_out_of_sight_is_fetched_once_and_paid_for",
        "tests/core/observe/results/test_refetched.py::test_a_command_that_is_repeated_word_for_word_is_charged",
        "tests/core/observe/results/test_refetched.py::test_a_file_that_left_and_is_read_again_is_charged_to_what_took_it_away",
        "tests/core/observe/results/test_refetched.py::test_bringing_something_back_is_charged_to_the_newest_compression",
        "tests/core/plan/test_choose.py::test_what_will_probably_be_fetched_again_stays",
        "tests/core/plan/test_gain.py::test_fetching_something_again_costs_a_request_and_its_tokens",
        "tests/engine/test_replay.py::test_a_name_that_is_used_after_it_left_is_charged_and_one_in_sight_is_not",
        "tests/engine/test_replay.py::test_a_small_window_is_kept_small_and_the_task_costs_less",
    ),
    "R330": (
        "tests/core/view/learning/test_learning.py::test_five_measures_tell_whether_packets_helped",
    ),
    "R331": (
        "tests/core/view/learning/test_learning.py::test_five_measures_tell_whether_packets_helped",
    ),
    "R332": (
        "tests/core/view/learning/test_learning.py::test_five_measures_tell_whether_packets_helped",
    ),
    "R333": (
        "tests/core/view/learning/test_learning.py::test_five_measures_tell_whether_packets_helped",
    ),
    "R334": (
        "tests/core/view/learning/test_learning.py::test_five_measures_tell_whether_packets_helped",
    ),
    "R335": (
        "tests/core/plan/test_due.py::test_what_is_due_follows_from_how_full_the_window_is",
        "tests/core/plan/test_policy_profiles.py::test_the_stress_profile_compresses_at_a_quarter",
        "tests/engine/test_replay.py::test_under_stress_there_are_more_compressions",
        "tests/seeds/test_stress.py::test_a_session_under_stress_is_compressed_from_a_quarter_of_its_window_on",
    ),
    "R336": ("tests/seeds/test_stress.py::test_every_fact_can_be_recovered_after_a_compression",),
    "R337": (
        "tests/seeds/test_stress.py::test_the_task_goes_on_after_a_compression",
        "tests/surfaces/hooks/test_session.py::test_after_a_compaction_the_goal_comes_back_with_where_to_recover",
    ),
    "R338": (
        "tests/engine/test_drift.py::test_an_agent_that_goes_on_is_not_disturbed",
        "tests/seeds/test_stress.py::test_leaving_the_goal_is_noticed_and_going_on_is_not",
    ),
    "R339": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_says_what_to_do_what_binds_what_was_decided_and_why",
    ),
    "R340": (
        "tests/core/view/packet/test_revise.py::test_a_part_that_a_person_wrote_is_marked",
        "tests/packets/test_make_and_deliver.py::test_what_the_orchestrator_wrote_stays_through_a_refresh_and_a_new_generation",
        "tests/surfaces/cli/test_context.py::test_edit_push_and_diff_tell_how_a_packet_evolved",
    ),
    "R341": (
        "tests/packets/test_feedback.py::test_a_worker_asks_for_more_until_it_is_handed_more",
        "tests/packets/test_make_and_deliver.py::test_a_session_that_moved_on_makes_a_packet_stale_and_a_push_brings_it_up_to_date",
        "tests/surfaces/cli/test_context_learning.py::test_a_worker_escalates_and_asks_for_a_newer_packet",
    ),
    "R342": (
        "tests/packets/test_make_and_deliver.py::test_a_session_that_moved_on_makes_a_packet_stale_and_a_push_brings_it_up_to_date",
        "tests/surfaces/cli/test_context.py::test_edit_push_and_diff_tell_how_a_packet_evolved",
    ),
    "R343": (
        "tests/core/view/learning/test_learning.py::test_gaps_that_go_with_failures_ask_for_more_and_say_why",
        "tests/core/view/packet/test_layers.py::test_the_words_of_a_task_say_how_deep_it_goes",
        "tests/surfaces/test_handoff.py::test_what_workers_reported_makes_the_next_packet_another_one",
    ),
    "R344": (
        "tests/packets/test_feedback.py::test_a_worker_asks_for_more_until_it_is_handed_more",
        "tests/packets/test_make_and_deliver.py::test_a_worker_can_start_with_the_goal_and_ask_for_more_layers",
        "tests/surfaces/cli/test_context_learning.py::test_a_worker_escalates_and_asks_for_a_newer_packet",
        "tests/surfaces/mcp/test_packet_calls.py::test_a_worker_that_is_stuck_says_so_and_the_orchestrator_can_see_it",
    ),
    "R345": (
        "tests/surfaces/test_roles.py::test_a_task_begins_with_the_reading_and_may_bring_the_packet_along",
    ),
    "R346": (
        "tests/packets/test_feedback.py::test_a_packet_is_unread_until_its_worker_reads_it_and_silent_until_it_reports",
        "tests/packets/test_make_and_deliver.py::test_reading_is_recorded_and_who_has_not_read_is_known",
        "tests/surfaces/cli/test_context.py::test_a_worker_reads_its_packet_by_number_by_environment_or_as_the_only_one",
        "tests/surfaces/cli/test_context_learning.py::test_an_unread_packet_is_listed_with_what_to_tell_its_worker",
        "tests/surfaces/test_roles.py::test_a_task_begins_with_the_reading_and_may_bring_the_packet_along",
    ),
    "R347": (
        "tests/packets/test_make_and_deliver.py::test_a_long_session_is_compressed_apart_from_the_packets_of_its_tasks",
    ),
    "R348": (
        "tests/packets/test_make_and_deliver.py::test_the_layout_of_the_protocol_has_a_file_for_each_worker_and_one_for_all",
        "tests/packets/test_make_and_deliver.py::test_what_is_shared_reaches_the_packets_of_every_worker",
        "tests/surfaces/cli/test_context.py::test_what_all_workers_share_needs_no_task",
    ),
    "R349": (
        "tests/packets/test_make_and_deliver.py::test_the_layout_of_the_protocol_has_a_file_for_each_worker_and_one_for_all",
        "tests/packets/test_make_and_deliver.py::test_what_is_shared_reaches_the_packets_of_every_worker",
    ),
    "R350": (
        "tests/packets/test_make_and_deliver.py::test_a_packet_keeps_to_the_cap_of_its_depth_and_counts_exactly",
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
        "tests/seeds/test_packet.py::test_the_example_of_the_protocol_fits_in_its_budget_with_all_that_it_lists",
    ),
    "R351": (
        "tests/core/view/packet_stats/test_feedback.py::test_no_gaps_are_no_gap",
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
        "tests/surfaces/cli/test_context.py::test_a_worker_reads_its_packet_by_number_by_environment_or_as_the_only_one",
    ),
    "R352": (
        "tests/seeds/test_handoff.py::test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens",
        "tests/seeds/test_packet.py::test_the_example_of_the_protocol_fits_in_its_budget_with_all_that_it_lists",
    ),
    "R353": (
        "tests/packets/test_questions.py::test_the_protocols_own_question_is_answered_with_the_decision_of_the_user",
        "tests/surfaces/cli/test_context_learning.py::test_a_question_is_answered_with_its_source",
    ),
    "R354": (
        "tests/core/view/packet/test_revise.py::test_layers_can_be_had_by_themselves",
        "tests/packets/test_make_and_deliver.py::test_a_worker_can_start_with_the_goal_and_ask_for_more_layers",
        "tests/surfaces/cli/test_context.py::test_layers_are_had_one_by_one",
        "tests/surfaces/mcp/test_packet_calls.py::test_a_worker_begins_with_one_layer_and_asks_for_the_next",
    ),
    "R355": (
        "tests/core/view/decisions/test_graph.py::test_a_decision_is_referenced_by_later_sessions_that_speak_of_it",
        "tests/packets/test_stats.py::test_a_later_session_finds_the_decisions_that_its_task_touches",
        "tests/surfaces/cli/test_context_learning.py::test_the_graph_is_drawn_in_every_format",
        "tests/surfaces/test_handoff.py::test_a_packet_holds_what_an_earlier_session_decided_about_its_task",
    ),
    "R356": (
        "tests/core/observe/results/test_decisions.py::test_a_decision_names_the_one_that_it_takes_the_place_of",
        "tests/core/view/decisions/test_graph.py::test_a_decision_knows_what_took_its_place_and_history_tells_it_in_order",
        "tests/core/view/packet/test_prompt.py::test_a_worker_sees_how_the_packet_evolved_and_no_more_than_the_last_three",
        "tests/core/view/packet/test_revise.py::test_a_new_revision_tells_what_changed_and_why",
        "tests/packets/test_make_and_deliver.py::test_a_session_that_moved_on_makes_a_packet_stale_and_a_push_brings_it_up_to_date",
        "tests/packets/test_questions.py::test_what_was_replaced_is_answered_with_what_replaced_it",
        "tests/surfaces/cli/test_context.py::test_edit_push_and_diff_tell_how_a_packet_evolved",
        "tests/surfaces/cli/test_context_learning.py::test_history_tells_how_decisions_and_packets_evolved",
    ),
}
