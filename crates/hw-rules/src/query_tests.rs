use proptest::prelude::*;

use super::*;
use crate::dates::{Span, parse_from, parse_to};
use crate::item::Kind;

#[test]
fn every_word_is_a_term() {
    assert_eq!(terms("Crash on  start"), ["crash", "on", "start"]);
    assert_eq!(terms("crash CRASH"), ["crash"]);
}

#[test]
fn quotation_marks_make_a_phrase_and_need_no_partner() {
    assert_eq!(terms("a \"b c\" d"), ["a", "b c", "d"]);
    assert_eq!(terms("\"un balanced"), ["un balanced"]);
    assert_eq!(terms("\"\" \""), Vec::<String>::new());
}

#[test]
fn a_star_behind_a_word_makes_it_a_prefix() {
    assert_eq!(terms("auth* x"), ["auth*", "x"]);
    assert_eq!(terms("foo-ba*"), ["foo", "ba*"]);
    assert!(Query::parse("foo-ba*").literals.is_empty());
}

#[test]
fn words_with_symbols_prefer_their_literal_form() {
    let query = Query::parse("foo-bar C++ it's #123 @user node.js");
    assert_eq!(query.literals.len(), 6);
    assert_eq!(terms("foo-bar"), ["foo", "bar"]);
}

#[test]
fn symbols_alone_are_looked_for_as_they_are() {
    for text in ["*", ":", "->", "==="] {
        let query = Query::parse(text);
        assert!(query.terms.is_empty() && query.symbols.len() == 1, "{text}");
    }
}

#[test]
fn symbols_beside_words_are_a_preference() {
    for text in ["pump ?", "pump - controller", "\"pump controller\".", "pump & controller"] {
        let query = Query::parse(text);
        assert!(query.symbols.is_empty() && !query.terms.is_empty(), "{text}");
    }
    assert_eq!(terms("\"pump contr\"*"), ["pump contr*"]);
}

#[test]
fn a_run_of_characters_without_spaces_is_a_phrase() {
    assert_eq!(terms("検索test 🚀🚀"), ["検 索", "test", "🚀 🚀"]);
}

#[test]
fn operators_at_the_edges_of_a_query_are_words() {
    assert_eq!(terms("a AND"), ["a", "and"]);
    assert_eq!(terms("OR NEAR( NOT"), ["or", "near", "not"]);
    assert_eq!(terms("a and b or c"), ["a", "and", "b", "or", "c"], "small letters are words");
    assert_eq!(terms("a AND b"), ["a", "b"]);
}

#[test]
fn or_makes_alternatives_of_the_words_beside_it() {
    let query = Query::parse("pump oil OR \"tide gauge\" OR foo-bar leaks");
    assert_eq!(words_of(&query), ["pump", "leaks"]);
    let union: Vec<Vec<String>> = query.unions[0].iter().map(|terms| shown(terms)).collect();
    assert_eq!(union, [vec!["oil"], vec!["tide gauge"], vec!["foo", "bar"]]);
    let query = Query::parse("oil OR lea");
    let last: Vec<_> = query.unfinished().unwrap().unions[0].iter().map(|it| shown(it)).collect();
    assert_eq!(last, [["oil*"], ["lea*"]], "each alternative may go on");
    assert_eq!(Query::parse("oil OR state:open").misread.len(), 1);
}

#[test]
fn dash_and_not_leave_out_words_phrases_and_filters() {
    let excluded = |text: &str| -> Vec<Vec<String>> {
        let query = Query::parse(text);
        assert_eq!(words_of(&query), ["crash"], "{text}");
        let words = query.excluded.iter().map(|it| match it {
            Exclusion::Words(terms) => shown(terms),
            Exclusion::Filter(_) => panic!("{text} has words"),
        });
        words.collect()
    };
    assert_eq!(excluded("crash -panic"), [["panic*"]]);
    assert_eq!(
        excluded("-\"oil leak\" crash NOT foo-bar"),
        [vec!["oil leak"], vec!["foo", "bar*"]]
    );
    let query = Query::parse("crash -label:bug -author:ann -state:open -type:pr");
    assert_eq!(query.excluded.len(), 2, "every thread has a state and a type");
    assert_eq!(query.filters.states, ["closed".to_owned(), "merged".to_owned()].into());
    assert_eq!(query.filters.types.len(), 2);
    assert!(Query::parse("crash state:open -state:open").filters.is_impossible());
    assert_eq!(terms("a - b --json ->"), ["a", "b", "json"]);
}

#[test]
fn exclusions_alone_ask_for_nothing_and_say_so() {
    let query = Query::parse("-minus");
    assert!(query.is_empty());
    assert_eq!(
        query.misread,
        ["only exclusions: add a word or a filter that says what to search for"]
    );
}

#[test]
fn qualifiers_of_github_that_are_unknown_here_are_named_and_left_out() {
    let query = Query::parse("crash sort:updated-desc In:title assignee:ann std::vec foo:bar");
    assert_eq!(words_of(&query), ["crash", "std", "vec", "foo", "bar"]);
    let named: Vec<_> = query.misread.iter().map(|it| it.split(' ').next().unwrap()).collect();
    assert_eq!(named, ["sort:updated-desc", "In:title", "assignee:ann"]);
}

#[test]
fn query_and_its_exclusion_ask_for_both() {
    let both = |text: &str| {
        let query = Query::parse(text);
        query.and(&query.excluded[0])
    };
    assert_eq!(words_of(&both("a b -cc").unwrap()), ["a", "b", "cc*"]);
    assert!(both("a author:ann -author:bob").is_none(), "a text has one author");
    let named = both("a repo:pump -repo:acme/pump").unwrap().filters.repositories;
    assert_eq!(named, [Named { owner: Some("acme".into()), name: "pump".into() }].into());
}

#[test]
fn filters_are_no_words() {
    let query = Query::parse(
        "leak repo:Pump author:@Ann type:pr state:OPEN label:\"help wanted\" label:bug",
    );
    assert_eq!(words_of(&query), ["leak"]);
    let filters = query.filters;
    assert_eq!(filters.repositories, [Named { owner: None, name: "pump".into() }].into());
    assert_eq!(filters.authors, ["ann".to_owned()].into());
    assert_eq!(filters.types, [Type::Thread(Kind::PullRequest)].into());
    assert_eq!(filters.states, ["open".to_owned()].into());
    assert_eq!(terms("author:ann author:ann type:pr type:pr"), Vec::<String>::new());
    assert_eq!(filters.labels, ["bug".to_owned(), "help wanted".to_owned()].into());
}

#[test]
fn a_repository_may_be_named_with_its_owner() {
    let named = |owner: &str| Named { owner: Some(owner.into()), name: "pump".into() };
    assert_eq!(Query::parse("repo:Acme/Pump").filters.repositories, [named("acme")].into());
}

#[test]
fn what_is_no_filter_is_searched_as_text() {
    assert_eq!(
        terms("foo:bar title: type: type:banana state:odd"),
        ["foo", "bar", "title", "type", "banana", "state", "odd"]
    );
    assert_eq!(
        terms("created:soon updated:>x repo:/ repo:a/"),
        ["created", "soon", "updated", "x", "repo", "a"]
    );
    assert!(Query::parse("std::vec http://x").filters.is_empty());
}

#[test]
fn dates_have_signs_and_ranges() {
    let (from, to) = (parse_from("2025-01-01").unwrap(), parse_to("2025-01-01").unwrap());
    let created = |text: &str| Query::parse(&format!("created:{text}")).filters.created;
    assert_eq!(created("2025-01-01"), Span { from: Some(from), to: Some(to) });
    assert_eq!(created(">=2025-01-01"), Span { from: Some(from), to: None });
    assert_eq!(created(">2025-01-01"), Span { from: Some(to.plus(1)), to: None });
    assert_eq!(created("<=2025-01-01"), Span { from: None, to: Some(to) });
    assert_eq!(created("<2025-01-01"), Span { from: None, to: Some(from.minus(1)) });
    assert_eq!(created("2025-01-01..2025-01-01"), created("2025-01-01"));
    assert_eq!(created("2025-01-01..*"), created(">=2025-01-01"));
    assert_eq!(created(">=2025-01-01t01:00:00+01:00"), created(">=2025-01-01"));
}

#[test]
fn nothing_is_asked_for_by_nothing() {
    for text in ["", " ", "\"", "\u{0}", "\u{200b}"] {
        assert!(Query::parse(text).is_empty(), "{text:?}");
    }
    assert!(!Query::parse("state:open").is_empty() && !Query::parse("state:open").has_words());
}

#[test]
fn a_word_that_is_being_typed_may_go_on() {
    let unfinished = |text: &str| Query::parse(text).unfinished().map(|query| words_of(&query));
    assert_eq!(unfinished("oil lea"), Some(vec!["oil".to_owned(), "lea*".to_owned()]));
    assert_eq!(unfinished("oil state:open -tide"), Some(vec!["oil*".to_owned()]), "wherever");
    for text in ["oil ", "oil l", "oil leaks oil", "\"oil leak\"", "oil*", ""] {
        assert_eq!(unfinished(text), None, "{text}");
    }
}

#[test]
fn a_pasted_page_counts_by_its_beginning() {
    let page: Vec<_> = (0..2_000).map(|n| format!("w{n}")).collect();
    assert_eq!(Query::parse(&page.join(" ")).terms.len(), TERMS_MAX);
    assert_eq!(Query::parse(&"検".repeat(3_000)).terms[0].tokens.len(), TERMS_MAX);
}

#[test]
fn symbols_are_looked_for_in_quotes_and_between_them() {
    let symbols = |text: &str| Query::parse(text).symbols;
    for text in ["->", "\"->\"", "“->”", "->:"] {
        assert!(!symbols(text).is_empty(), "{text}");
    }
    assert_eq!(symbols("\":\" state:closed"), symbols(":"));
    assert_eq!(symbols("============"), symbols("========"));
    assert_eq!(Query::parse("tide ++").unfinished(), None, "no word is being typed");
}

#[test]
fn a_state_or_a_type_may_be_said_as_at_the_source() {
    assert_eq!(Query::parse("is:open is:PR"), Query::parse("state:open type:pr"));
}

#[test]
fn too_many_names_switch_no_other_filter_off() {
    let names: String = (0..70).map(|n| format!("author:a{n} ")).collect();
    let filters = Query::parse(&format!("{names} state:open type:issue")).filters;
    assert_eq!((filters.authors.len(), filters.states.len(), filters.types.len()), (64, 1, 1));
}

#[test]
fn what_looks_like_a_filter_and_is_none_is_told() {
    let misread = |text: &str| Query::parse(text).misread;
    assert_eq!(
        misread("leaks Type:bug"),
        ["Type:bug was taken for words: type: wants issue, pr, discussion or comment"]
    );
    for text in
        ["created:soon", "updated:2025-13-01", "state:odd", "repo:", "label:\"\"", "author:"]
    {
        assert_eq!(misread(text).len(), 1, "{text}");
    }
    for text in
        ["leaks", "title:x", "http://a", "type:issue", "created:>=2025-01-01", "\"type:bug\""]
    {
        assert_eq!(misread(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(misread(&"type:bug ".repeat(20)).len(), 3);
    assert!(misread(&format!("type:{}", "é".repeat(999)))[0].len() < 200);
}

proptest! {
    #[test]
    fn any_text_is_a_query(text in any::<String>()) {
        let query = Query::parse(&text);
        for token in query.all_terms().flat_map(|term| &term.tokens).chain(&query.literals) {
            prop_assert!(!token.is_empty() && !token.contains(['"', '\'', ' ', '\\']), "{token:?}");
        }
        query.unfinished();
    }

    #[test]
    fn a_word_is_always_looked_for(word in "[a-z]{1,9}", before in "[\"*:()@# ]{0,5}", after in "[\"*:()@# ]{0,5}") {
        let query = Query::parse(&format!("{before}{word}{after}"));
        let found = query.terms.iter().any(|term| term.tokens.contains(&word));
        prop_assert!(found, "{query:?}");
    }
}

fn terms(text: &str) -> Vec<String> {
    words_of(&Query::parse(text))
}

fn words_of(query: &Query) -> Vec<String> {
    shown(&query.terms)
}

fn shown(terms: &[Term]) -> Vec<String> {
    let star = |term: &Term| if term.is_prefix { "*" } else { "" };
    terms.iter().map(|term| format!("{}{}", term.tokens.join(" "), star(term))).collect()
}
