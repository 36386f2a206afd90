//! The prompt `user_summary`: a template, nothing more. The client calls the tools that it names.

use hw_rules::clean::shorten_echo;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use crate::form::line;

pub(crate) const NAME: &str = "user_summary";

const ABOUT: &str = "Generates a summary of the user's accomplishments based on created discussions, closed \
                     issues, and closed pull requests.";

/// What stands for a period that nobody named.
const ALWAYS: &str = "the whole recorded history";

pub(crate) fn definition() -> Prompt {
    let username = PromptArgument::new("username")
        .with_description("Username. Example: john_doe.")
        .with_required(true);
    let period = PromptArgument::new("period").with_required(false).with_description(
        "Examples \"last week\", \"from August 2025 to September 2025\", \"2024-01-01 - 2024-12-31\"",
    );
    Prompt::new(NAME, Some(ABOUT), Some(vec![username, period])).with_title("Summary of a user")
}

pub(crate) fn get(given: &Map<String, Value>) -> Result<GetPromptResult, ErrorData> {
    let username = argument(given, "username")?
        .ok_or_else(|| ErrorData::invalid_params("the argument `username` is missing", None))?;
    let period = argument(given, "period")?.unwrap_or_else(|| ALWAYS.to_owned());
    let message = PromptMessage::new_text(Role::User, text(&username, &period));
    Ok(GetPromptResult::new(vec![message]).with_description(ABOUT))
}

/// An argument on one line; an empty one is as good as none.
fn argument(given: &Map<String, Value>, name: &str) -> Result<Option<String>, ErrorData> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = line(text.trim());
            Ok(Some(shorten_echo(&text).into_owned()).filter(|text| !text.is_empty()))
        }
        Some(_) => {
            Err(ErrorData::invalid_params(format!("the argument `{name}` must be a string"), None))
        }
    }
}

fn text(username: &str, period: &str) -> String {
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
    fn the_prompt_is_the_template_with_its_two_words_put_in() {
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
            got(&json!({ "username": "john_doe", "period": "last week" })),
            expected.join("\n")
        );
    }

    #[test]
    fn without_a_period_it_is_about_all_there_is() {
        let text = got(&json!({ "username": "john_doe", "period": "" }));
        assert!(text.starts_with("Summarize the accomplishments of the user john_doe during the whole recorded history, f"));
    }

    #[test]
    fn a_prompt_about_nobody_is_refused() {
        for given in [json!({}), json!({ "username": " " }), json!({ "username": 1 })] {
            assert!(get(given.as_object().unwrap()).is_err(), "{given}");
        }
    }

    fn got(given: &Value) -> String {
        let got = get(given.as_object().unwrap()).unwrap();
        got.messages[0].content.as_text().unwrap().text.clone()
    }
}
