//! The prompt `user_summary`: a template that names tools, which the client calls.

use hw_rules::safe_text::truncate_echo;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use crate::item_template::single_line;

pub(crate) const PROMPT_NAME: &str = "user_summary";

const DESCRIPTION: &str = "Generates a summary of the user's accomplishments based on created discussions, closed \
                     issues, and closed pull requests.";

/// Stands for a missing period.
const WHOLE_HISTORY: &str = "the whole recorded history";

pub(crate) fn prompt_definition() -> Prompt {
    let username = PromptArgument::new("username")
        .with_description("Username. Example: john_doe.")
        .with_required(true);
    let period = PromptArgument::new("period").with_required(false).with_description(
        "Examples \"last week\", \"from August 2025 to September 2025\", \"2024-01-01 - 2024-12-31\"",
    );
    Prompt::new(PROMPT_NAME, Some(DESCRIPTION), Some(vec![username, period]))
        .with_title("User summary")
}

pub(crate) fn render_prompt(arguments: &Map<String, Value>) -> Result<GetPromptResult, ErrorData> {
    let username = text_argument(arguments, "username")?
        .ok_or_else(|| ErrorData::invalid_params("the argument `username` is missing", None))?;
    let period = text_argument(arguments, "period")?.unwrap_or_else(|| WHOLE_HISTORY.to_owned());
    let message = PromptMessage::new_text(Role::User, prompt_text(&username, &period));
    Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
}

/// Returns an argument on one line; an empty one counts as absent.
fn text_argument(arguments: &Map<String, Value>, name: &str) -> Result<Option<String>, ErrorData> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = single_line(text.trim());
            Ok(Some(truncate_echo(&text).into_owned()).filter(|text| !text.is_empty()))
        }
        Some(_) => {
            Err(ErrorData::invalid_params(format!("the argument `{name}` must be a string"), None))
        }
    }
}

fn prompt_text(username: &str, period: &str) -> String {
    format!(
        "Summarize the accomplishments of the user {username} during {period}, focusing on the most significant \
contributions first. Use the following approach:

  • Use list_discussions to gather discussions they created within {period}.
  • Use list_issues to gather issues they closed within {period}.
  • Use list_pull_requests to gather pull requests they closed within {period}.
  • Aggregate all results, removing duplicates.
  • Prioritize and highlight:
    • Discussions (most important)
    • Pull requests (next most important)
    • Issues (least important)
  • For each contribution, include a direct link and relevant metrics or facts.
  • Present a concise, unified summary that mixes all types of contributions, with the most impactful items first."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prompt_is_the_template_with_its_arguments() {
        let expected = [
            "Summarize the accomplishments of the user john_doe during last week, focusing on the most significant contributions first. Use the following approach:",
            "",
            "  • Use list_discussions to gather discussions they created within last week.",
            "  • Use list_issues to gather issues they closed within last week.",
            "  • Use list_pull_requests to gather pull requests they closed within last week.",
            "  • Aggregate all results, removing duplicates.",
            "  • Prioritize and highlight:",
            "    • Discussions (most important)",
            "    • Pull requests (next most important)",
            "    • Issues (least important)",
            "  • For each contribution, include a direct link and relevant metrics or facts.",
            "  • Present a concise, unified summary that mixes all types of contributions, with the most impactful items first.",
        ];
        assert_eq!(
            rendered_text(&json!({ "username": "john_doe", "period": "last week" })),
            expected.join("\n")
        );
    }

    #[test]
    fn prompt_without_a_period_covers_the_whole_history() {
        let text = rendered_text(&json!({ "username": "john_doe", "period": "" }));
        assert!(text.starts_with("Summarize the accomplishments of the user john_doe during the whole recorded history, f"));
    }

    #[test]
    fn prompt_without_a_username_is_rejected() {
        for arguments in [json!({}), json!({ "username": " " }), json!({ "username": 1 })] {
            assert!(render_prompt(arguments.as_object().unwrap()).is_err(), "{arguments}");
        }
    }

    fn rendered_text(arguments: &Value) -> String {
        let got = render_prompt(arguments.as_object().unwrap()).unwrap();
        got.messages[0].content.as_text().unwrap().text.clone()
    }
}
