//! How many mistakes of newcomers the compiler answers well.

use crate::caret::Answer;
use crate::case::Case;

/// What people wrote who knew the README alone, before anything was compiled: the cases of each, by name, as they stand
/// among those of their topic.
pub(crate) const NEWCOMERS: [&[&str]; 4] = [FIRST, SECOND, THIRD, FOURTH];

/// The folder of further cases.
const HABITS: &str = "habits";

const FIRST: &[&str] = &[
    "args/max_retries",
    "file/prompt_by_include_str",
    "habits/node_by_value",
    "history/history_of_texts",
    "item/run_without_state",
    "output/derives_above",
    "output/nested_type_without_llm_output",
    "output/output_without_llm_output",
    "prompt/double_braces_around_a_field",
    "prompt/field_not_used",
    "prompt/image_without_filter",
    "prompt/list_field_without_filter",
    "prompt/optional_field",
    "prompt/state_not_named",
    "prompt/state_path_misspelt",
    "recover/category_without_error",
    "validate/helper_in_the_block",
    "validate/nested_state_not_named",
    "validate/validator_returns_text",
];

const SECOND: &[&str] = &[
    "args/argument_misspelt",
    "args/wait_is_a_number",
    "habits/await_left_out",
    "habits/borrowed_node_spawned",
    "item/run_has_no_state",
    "output/output_not_marked",
    "output/rename_rule_misspelt",
    "output/serde_derived_above",
    "prompt/method_in_braces",
    "prompt/mustache_braces",
    "prompt/option_without_or",
    "prompt/state_field_misspelt",
    "prompt/unknown_filter_join",
    "recover/category_misspelt",
    "recover/fallback_without_error",
    "validate/helper_beside_validators",
    "validate/node_names_no_state",
    "validate/validator_returns_string",
    "validate/validator_takes_state_by_value",
    "validate/validators_of_own_derives",
];

const THIRD: &[&str] = &[
    "flow/call_of_a_flow",
    "habits/map_in_a_loop",
    "habits/map_with_question_mark",
    "habits/reply_of_a_plain_value",
    "item/exec_without_node",
    "item/state_of_run_by_reference",
    "output/answer_borrows_cow",
    "output/line_without_serde",
    "output/list_of_nothing",
    "output/serde_key_misspelt_in_a_variant",
    "output/severity_with_deserialize_alone",
    "recover/retry_outside_a_stack",
    "step/batch_step_without_its_attribute",
    "step/post_writes_to_a_database",
    "step/prep_moves_an_element",
    "step/step_of_a_node",
    "step/step_without_its_attribute",
    "validate/allowed_moves",
];

const FOURTH: &[&str] = &[
    "flow/flow_arm_missing",
    "habits/forgotten_await",
    "habits/otherwise_given_text",
    "habits/question_mark_on_map",
    "item/run_without_state_of_its_prompt",
    "limits/limits_as_expression",
    "output/generic_output_without_parameter",
    "output/nested_type_without_schema",
    "prompt/list_without_format",
    "recover/fallback_owned_error",
    "recover/recover_key_cut_short",
    "smart/smart_node_borrows",
    "step/action_from_value",
    "step/post_is_async",
    "step/prep_without_clone",
    "step/step_without_attribute",
    "step/store_into_list",
    "tools/tools_name_the_function",
    "validate/node_without_state_of_its_validator",
    "validate/validator_returns_bool",
];

/// Whether a case is a mistake of a first day.
pub(crate) fn is_mistake(case: &Case) -> bool {
    case.topic == HABITS
        || NEWCOMERS
            .iter()
            .any(|names| names.contains(&case.name.as_str()))
}

/// How many of a newcomer's mistakes are answered by a mark, in words, in a help, and by judgement.
pub(crate) fn counts(mistakes: &[&Case]) -> [usize; 4] {
    let answers: Vec<_> = mistakes.iter().filter_map(|case| case.answer()).collect();
    [
        Answer::Marked,
        Answer::InWords,
        Answer::Helped,
        Answer::Judged,
    ]
    .map(|kind| answers.iter().filter(|answer| **answer == kind).count())
}
