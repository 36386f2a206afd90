//! `highwater show`: one thread with everything that is said in it.

use hw_sim::{ThreadKind, TrueComment, TrueThread, Truth};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::house::{
    House, asked, asked_json, documented_fields, failed, fields, succeeded, talking, warned,
};

#[test]
fn every_thread_is_shown_with_all_that_is_said_in_it() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    assert!(truth.comments.len() > truth.threads.len() / 2, "there is something to show");
    for thread in truth.threads.values() {
        let name = format!("acme/{}#{}", thread.repository, thread.number);
        let output = asked(home.path(), "show", &[&name]);
        let told = succeeded(&output);
        assert_eq!(warned(&output), "", "nothing is missing");
        assert!(told.starts_with(&format!("# {}\n\n- ", thread.title)), "{told}");
        assert!(told.contains(&format!(" {name}: {}", thread.state.to_lowercase())), "{told}");
        for text in [&thread.body, &thread.created_at, &thread.url] {
            assert!(told.contains(text.trim_end()), "{text}: {told}");
        }
        for said in said_in(&truth, thread) {
            let author = said.author.as_deref().unwrap_or("ghost");
            let date = &said.created_at;
            let heading = told.lines().find(|line| line.starts_with("##") && line.contains(date));
            assert!(heading.is_some_and(|line| line.contains(author)), "{date}: {told}");
            assert!(told.contains(said.body.trim_end()) && told.contains(&said.url), "{told}");
        }
        for other in [thread.url.clone(), format!("{}#{}", thread.repository, thread.number)] {
            assert_eq!(succeeded(&asked(home.path(), "show", &[&other])), told, "{other}");
        }
    }
}

#[test]
fn replies_stand_below_what_they_answer_and_lines_have_their_place() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let (pull, talk) = house.look(|github| {
        let now_ms = MachineClock.now_ms() - 10_000;
        let world = github.world_mut();
        let repository = *world.truth().repositories.keys().next().unwrap();
        let pull = world.create_pull_request(repository, "Widen it", "By a foot.", now_ms);
        let review = world.add_review(pull, "Two things.", now_ms + 1_000);
        world.add_comment(ThreadKind::PullRequest, pull, "Meanwhile, elsewhere.", now_ms + 2_000);
        world.add_review_comment(review, "Too wide here.", now_ms + 3_000);
        let talk = world.create_discussion(repository, "How wide?", "Who knows?", now_ms);
        let answer = world.add_comment(ThreadKind::Discussion, talk, "A yard.", now_ms + 1_000);
        world.add_comment(ThreadKind::Discussion, talk, "Two.", now_ms + 2_000);
        world.add_reply(answer, "Surely not.", now_ms + 3_000);
        let truth = world.truth();
        let url = |kind, id| truth.threads[&(kind, id)].url.clone();
        (url(ThreadKind::PullRequest, pull), url(ThreadKind::Discussion, talk))
    });
    house.pulled(home.path(), &["-i", "repositories,discussions,pull-requests,comments"]);
    let told = succeeded(&asked(home.path(), "show", &[&pull]));
    in_order(&told, &["By a foot.", "\n## ", "Two things.", "\n### ", "Too wide here.", "\n## "]);
    let of_line = told.lines().find(|line| line.starts_with("### ")).unwrap();
    assert!(of_line.contains(" commented on src/main.rs, "), "{of_line}");
    let told = succeeded(&asked(home.path(), "show", &[&talk]));
    in_order(&told, &["Who knows?", "A yard.", "\n### ", " replied, ", "Surely not.", "Two."]);
}

#[test]
fn the_object_of_a_thread_has_the_fields_of_its_list_and_its_comments() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    for (list, kind) in [
        ("issues", ThreadKind::Issue),
        ("prs", ThreadKind::PullRequest),
        ("discussions", ThreadKind::Discussion),
    ] {
        let rows = asked_json(home.path(), "list", &[list]);
        for thread in truth.of_kind(kind) {
            let told = asked_json(home.path(), "show", &[&thread.url]).remove(0);
            let row = rows.iter().find(|row| row["url"] == thread.url.as_str()).unwrap();
            for (field, value) in row.as_object().unwrap() {
                assert_eq!(told[field], *value, "{field}");
            }
            let mut documented = documented_fields("`highwater show --json`");
            documented.extend(documented_fields(&format!("`highwater list {list} --json`")));
            documented.sort_unstable();
            assert_eq!(fields(&told), documented);
            let said = told["comments"].as_array().unwrap();
            assert_eq!(said.len(), said_in(&truth, thread).count(), "{}", thread.url);
            let comments = documented_fields("`highwater list comments --json`");
            assert!(said.iter().all(|comment| fields(comment) == comments));
        }
    }
}

#[test]
fn what_is_not_held_is_told_with_what_may_be_the_reason() {
    let (_house, home) = talking();
    let (code, told) = failed(&asked(home.path(), "show", &["acme/pump#99999"]));
    assert_eq!(code, Some(1));
    assert!(told.starts_with("Error: acme/pump#99999 is not in this workspace\nhint: "), "{told}");
    assert!(told.contains("--window-days"), "{told}");
    let (code, told) = failed(&asked(home.path(), "show", &["nobody/pump#1"]));
    assert_eq!(code, Some(1));
    assert!(
        told.starts_with("Error: no repository named nobody/pump is in this workspace\nhint: ")
    );
    let elsewhere = "https://ghe.example/acme/pump/issues/1";
    let (code, told) = failed(&asked(home.path(), "show", &[elsewhere]));
    assert_eq!(code, Some(1));
    let sentence = "no repository named acme/pump at ghe.example is in this workspace";
    assert!(told.starts_with(&format!("Error: {sentence}\nhint: ")), "{told}");
    let (code, told) = failed(&asked(home.path(), "show", &["pump"]));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("not a thread"), "{told}");
}

#[test]
fn comments_that_were_never_pulled_are_missed() {
    let (house, home) = crate::house::pulled();
    let url =
        house.look(|github| github.world().truth()).threads.values().next().unwrap().url.clone();
    let output = asked(home.path(), "show", &[&url]);
    succeeded(&output);
    assert!(warned(&output).contains("no comments were ever pulled"), "{output:?}");
}

fn said_in<'a>(truth: &'a Truth, thread: &'a TrueThread) -> impl Iterator<Item = &'a TrueComment> {
    let here = (thread.kind, thread.id);
    truth.comments.values().filter(move |it| (it.thread_kind, it.thread_id) == here)
}

/// Each of the texts is there, behind the one before it.
fn in_order(told: &str, texts: &[&str]) {
    let mut rest = told;
    for text in texts {
        let (_, behind) = rest.split_once(text).unwrap_or_else(|| panic!("{text:?} in {told}"));
        rest = behind;
    }
}
