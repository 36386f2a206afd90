//! `highwater search`

use hw_rules::snippet::Piece;
use hw_store::{Found, Hit, Matches, Ranked, SearchEngine, Store, Workspace};
use hw_tui::words::grouped;

use super::reading;
use crate::cli::Search;
use crate::columns::of_hits;
use crate::config::Settings;
use crate::report::{Unheard, warn};
use crate::sheet::Sheet;
use crate::terminal::{Page, Style, tell};

pub(crate) fn run(args: &Search, settings: &Settings) -> anyhow::Result<()> {
    let style = Style::of(&settings.screen);
    reading::answer(settings, |store| search(args, store, style))
}

fn search(args: &Search, store: &Store, style: Style) -> anyhow::Result<()> {
    let mut sheet = Sheet::open(&args.output, of_hits())?;
    let query = args.query.join(" ");
    let wish = hw_store::Search { limit: args.limit, ..hw_store::Search::new(&query) };
    let found = SearchEngine::over(Workspace::over(store.clone())).search(&wish)?;
    let mut is_first = true;
    for hit in &found.hits {
        let gap = !std::mem::replace(&mut is_first, false);
        sheet.put(hit, |page, hit| print(page, hit, gap, style))?;
    }
    sheet.end()?;
    tell_of(&found, &query);
    reading::warn_of(&found.behind);
    reading::whole(found.skipped)
}

/// A hit for people: what it is, where, and the words around the match.
fn print(page: &mut Page, hit: &Hit, gap: bool, style: Style) -> Result<(), Unheard> {
    if gap {
        page.line("")?;
    }
    let Hit { owner, repository, number, state, .. } = hit;
    let kind = hit.type_name().replace('_', " ");
    let facts = plain(format!("{kind} {owner}/{repository}#{number} {state}: "));
    page.marked(&[vec![facts], hit.marked_title.clone()].concat(), style)?;
    page.line(&format!("  {}", hit.said.as_ref().map_or(&hit.url, |said| &said.url)))?;
    if hit.snippet.is_empty() {
        return Ok(());
    }
    page.marked(&[vec![plain(whose(hit))], hit.snippet.clone()].concat(), style)
}

/// What stands in front of the words: whose they are, when they are not the thread's own.
fn whose(hit: &Hit) -> String {
    let Some(said) = &hit.said else { return "  ".to_owned() };
    format!("  in a comment by {}: ", crate::markdown::author(said.author.as_deref()))
}

fn plain(text: String) -> Piece {
    Piece { text, is_match: false }
}

/// Says on stderr what the hits themselves do not show.
fn tell_of(found: &Found, query: &str) {
    if query.trim().is_empty() {
        tell("there is nothing to look for: the query is empty");
    } else if found.hits.is_empty() {
        tell("nothing was found");
    }
    found.misread.iter().chain(&unranked(found)).for_each(|sentence| warn(sentence));
}

/// That not all matches were compared, if so.
fn unranked(found: &Found) -> Option<String> {
    if found.ranked == Ranked::All {
        return None;
    }
    let matches = match found.matches {
        Matches::Exactly(count) => grouped(count),
        Matches::AtLeast(count) => format!("at least {}", grouped(count)),
    };
    Some(format!("only the newest of {matches} matches were ranked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_of_some_matches_says_so() {
        let found = |matches, ranked| Found { matches, ranked, ..Found::default() };
        assert_eq!(unranked(&found(Matches::Exactly(7), Ranked::All)), None);
        let some = found(Matches::AtLeast(5_000), Ranked::Newest);
        let expected = "only the newest of at least 5,000 matches were ranked";
        assert_eq!(unranked(&some).as_deref(), Some(expected));
    }
}
