//! `highwater search`

use hw_rules::format::group_digits;
use hw_rules::item::ObjectKind;
use hw_rules::snippet::SnippetPiece;
use hw_store::{
    Hit, MatchCount, RankedMatches, SearchEngine, SearchResults, StoreReader, Workspace,
};

use super::read_command;
use crate::cli::SearchArgs;
use crate::columns::hit_columns;
use crate::config::AppSettings;
use crate::report::{OutputError, print_warning};
use crate::row_writer::RowWriter;
use crate::terminal::{MatchStyle, StdoutWriter, print_status};

pub(crate) fn run(args: &SearchArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let style = MatchStyle::from_terminal(&settings.terminal);
    read_command::with_reader(settings, |store| run_search(args, store, style))
}

fn run_search(args: &SearchArgs, store: &StoreReader, style: MatchStyle) -> anyhow::Result<()> {
    let mut writer = RowWriter::open(&args.output, hit_columns())?;
    let query = args.query.join(" ");
    let request =
        hw_store::SearchRequest { limit: args.limit, ..hw_store::SearchRequest::new(&query) };
    let results = SearchEngine::new(Workspace::from_store(store.clone())).search(&request)?;
    for (index, hit) in results.hits.iter().enumerate() {
        writer.write_row(hit, |out, hit| {
            if index > 0 {
                out.write_line("")?;
            }
            print_hit(out, hit, style)
        })?;
    }
    writer.finish()?;
    report_misses(&results, &query);
    read_command::warn_incomplete(&results.completeness);
    read_command::check_none_skipped(results.skipped)
}

/// Prints a hit: its name, title and URL, and the text around the match.
fn print_hit(out: &mut StdoutWriter, hit: &Hit, style: MatchStyle) -> Result<(), OutputError> {
    let facts = plain_piece(format!("{}: ", describe_hit(hit)));
    out.write_pieces(&[vec![facts], hit.marked_title.clone()].concat(), style)?;
    let url = hit.matched_comment.as_ref().map_or(&hit.url, |comment| &comment.url);
    out.write_line(&format!("  {url}"))?;
    // the line of a short post is its whole text
    if hit.snippet.is_empty() || (hit.kind == ObjectKind::Post && hit.title == hit.body.trim()) {
        return Ok(());
    }
    out.write_pieces(&[vec![plain_piece(snippet_prefix(hit))], hit.snippet.clone()].concat(), style)
}

/// Names a hit: a thread by its address and state, a post by its author, the account that reposted it, and its day.
fn describe_hit(hit: &Hit) -> String {
    if hit.kind == ObjectKind::Post {
        let author = crate::markdown::author_name(hit.author.as_deref());
        let account = hit.reposted_by.as_ref();
        let repost = account.map_or_else(String::new, |name| format!(", reposted by {name}"));
        let time = hit.created_at.instant().to_string();
        return format!("post by {author}{repost}, {}", time.get(..10).unwrap_or(&time));
    }
    let Hit { owner, repository, number, state, .. } = hit;
    let kind = hit.type_name().replace('_', " ");
    format!("{kind} {owner}/{repository}#{number} {state}")
}

/// Returns the text before a snippet: the author of the comment, if the match is in one.
fn snippet_prefix(hit: &Hit) -> String {
    let Some(comment) = &hit.matched_comment else { return "  ".to_owned() };
    format!("  in a comment by {}: ", crate::markdown::author_name(comment.author.as_deref()))
}

fn plain_piece(text: String) -> SnippetPiece {
    SnippetPiece { text, is_match: false }
}

/// Reports on stderr what the hits themselves do not show.
fn report_misses(results: &SearchResults, query: &str) {
    if query.trim().is_empty() {
        print_status("nothing to search for: the query is empty");
    } else if results.hits.is_empty() {
        print_status("no matches");
    }
    results
        .misread
        .iter()
        .chain(&unranked_warning(results))
        .for_each(|sentence| print_warning(sentence));
}

/// Returns a warning if not all matches were ranked.
fn unranked_warning(results: &SearchResults) -> Option<String> {
    if results.ranked_matches == RankedMatches::All {
        return None;
    }
    let matches = match results.matches {
        MatchCount::Exactly(count) => group_digits(count),
        MatchCount::AtLeast(count) => format!("at least {}", group_digits(count)),
    };
    Some(format!("many matches ({matches}); only the newest were ranked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranking_of_only_some_matches_is_a_warning() {
        let all = SearchResults {
            matches: MatchCount::Exactly(7),
            ranked_matches: RankedMatches::All,
            ..SearchResults::default()
        };
        assert_eq!(unranked_warning(&all), None);
        let some = SearchResults {
            matches: MatchCount::AtLeast(5_000),
            ranked_matches: RankedMatches::Newest,
            ..SearchResults::default()
        };
        let expected = "many matches (at least 5,000); only the newest were ranked";
        assert_eq!(unranked_warning(&some).as_deref(), Some(expected));
    }
}
