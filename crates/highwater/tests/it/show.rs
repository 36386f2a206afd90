//! `highwater show`: one thread with all its comments.

use hw_sim::{GroundTruth, ThreadKind, TrueComment, TrueThread};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::fixture::{
    GitHubFixture, documented_fields, failure_output, field_names, pull_with_comments, run_command,
    run_command_json, stderr_text, success_stdout,
};

#[test]
fn show_prints_every_thread_with_all_comments() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    assert!(truth.comments.len() > truth.threads.len() / 2, "the world has too few comments");
    for thread in truth.threads.values() {
        let name = format!("acme/{}#{}", thread.repository, thread.number);
        let output = run_command(home.path(), "show", &[&name]);
        let stdout = success_stdout(&output);
        assert_eq!(stderr_text(&output), "", "nothing is missing");
        assert!(stdout.starts_with(&format!("# {}\n\n- ", thread.title)), "{stdout}");
        assert!(stdout.contains(&format!(" {name}: {}", thread.state.to_lowercase())), "{stdout}");
        for text in [&thread.body, &thread.created_at, &thread.url] {
            assert!(stdout.contains(text.trim_end()), "{text}: {stdout}");
        }
        for comment in thread_comments(&truth, thread) {
            let author = comment.author.as_deref().unwrap_or("ghost");
            let date = &comment.created_at;
            let heading = stdout.lines().find(|line| line.starts_with("##") && line.contains(date));
            assert!(heading.is_some_and(|line| line.contains(author)), "{date}: {stdout}");
            assert!(stdout.contains(comment.body.trim_end()), "{stdout}");
            assert!(stdout.contains(&comment.url), "{stdout}");
        }
        for other in [thread.url.clone(), format!("{}#{}", thread.repository, thread.number)] {
            assert_eq!(
                success_stdout(&run_command(home.path(), "show", &[&other])),
                stdout,
                "{other}"
            );
        }
    }
}

#[test]
fn show_nests_replies_and_names_the_lines_of_review_comments() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (pull, discussion) = fixture.with_github(|github| {
        let now_ms = MachineClock.now_ms() - 10_000;
        let world = github.world_mut();
        let repository = *world.truth().repositories.keys().next().unwrap();
        let pull = world.create_pull_request(repository, "Widen it", "By a foot.", now_ms);
        let review = world.add_review(pull, "Two things.", now_ms + 1_000);
        world.add_comment(ThreadKind::PullRequest, pull, "Meanwhile, elsewhere.", now_ms + 2_000);
        world.add_review_comment(review, "Too wide here.", now_ms + 3_000);
        let discussion = world.create_discussion(repository, "How wide?", "Who knows?", now_ms);
        let answer =
            world.add_comment(ThreadKind::Discussion, discussion, "A yard.", now_ms + 1_000);
        world.add_comment(ThreadKind::Discussion, discussion, "Two.", now_ms + 2_000);
        world.add_reply(answer, "Surely not.", now_ms + 3_000);
        let truth = world.truth();
        let url = |kind, id| truth.threads[&(kind, id)].url.clone();
        (url(ThreadKind::PullRequest, pull), url(ThreadKind::Discussion, discussion))
    });
    fixture.pull_json(home.path(), &["-i", "repositories,discussions,pull-requests,comments"]);
    let stdout = success_stdout(&run_command(home.path(), "show", &[&pull]));
    assert_in_order(
        &stdout,
        &["By a foot.", "\n## ", "Two things.", "\n### ", "Too wide here.", "\n## "],
    );
    let heading = stdout.lines().find(|line| line.starts_with("### ")).unwrap();
    assert!(heading.contains(" commented on src/main.rs, "), "{heading}");
    let stdout = success_stdout(&run_command(home.path(), "show", &[&discussion]));
    assert_in_order(
        &stdout,
        &["Who knows?", "A yard.", "\n### ", " replied, ", "Surely not.", "Two."],
    );
}

#[test]
fn show_json_has_the_fields_of_the_list_and_the_comments() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    for (list, kind) in [
        ("issues", ThreadKind::Issue),
        ("prs", ThreadKind::PullRequest),
        ("discussions", ThreadKind::Discussion),
    ] {
        let rows = run_command_json(home.path(), "list", &[list]);
        for thread in truth.threads_of_kind(kind) {
            let printed = run_command_json(home.path(), "show", &[&thread.url]).remove(0);
            let row = rows.iter().find(|row| row["url"] == thread.url.as_str()).unwrap();
            for (field, value) in row.as_object().unwrap() {
                assert_eq!(printed[field], *value, "{field}");
            }
            let mut documented = documented_fields("`highwater show --json`");
            documented.extend(documented_fields(&format!("`highwater list {list} --json`")));
            documented.sort_unstable();
            assert_eq!(field_names(&printed), documented);
            let rows = printed["comments"].as_array().unwrap();
            assert_eq!(rows.len(), thread_comments(&truth, thread).count(), "{}", thread.url);
            let comments = documented_fields("`highwater list comments --json`");
            assert!(rows.iter().all(|comment| field_names(comment) == comments));
        }
    }
}

#[test]
fn show_reports_a_missing_thread_with_possible_reasons() {
    let (_fixture, home) = pull_with_comments();
    let (code, stderr) = failure_output(&run_command(home.path(), "show", &["acme/pump#99999"]));
    assert_eq!(code, Some(1));
    assert!(
        stderr.starts_with("Error: acme/pump#99999 is not in this workspace\nhint: "),
        "{stderr}"
    );
    assert!(stderr.contains("--window-days"), "{stderr}");
    let (code, stderr) = failure_output(&run_command(home.path(), "show", &["nobody/pump#1"]));
    assert_eq!(code, Some(1));
    assert!(
        stderr.starts_with("Error: this workspace has no repository named nobody/pump\nhint: ")
    );
    let elsewhere = "https://ghe.example/acme/pump/issues/1";
    let (code, stderr) = failure_output(&run_command(home.path(), "show", &[elsewhere]));
    assert_eq!(code, Some(1));
    let sentence = "this workspace has no repository named acme/pump at ghe.example";
    assert!(stderr.starts_with(&format!("Error: {sentence}\nhint: ")), "{stderr}");
    let (code, stderr) = failure_output(&run_command(home.path(), "show", &["pump"]));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("not a thread"), "{stderr}");
}

#[test]
fn show_warns_when_comments_were_never_pulled() {
    let (fixture, home) = crate::fixture::pull_small_world();
    let url = fixture
        .with_github(|github| github.world().truth())
        .threads
        .values()
        .next()
        .unwrap()
        .url
        .clone();
    let output = run_command(home.path(), "show", &[&url]);
    success_stdout(&output);
    assert!(
        stderr_text(&output).contains("no comments have been pulled into this workspace"),
        "{output:?}"
    );
}

fn thread_comments<'a>(
    truth: &'a GroundTruth,
    thread: &'a TrueThread,
) -> impl Iterator<Item = &'a TrueComment> {
    let key = (thread.kind, thread.id);
    truth.comments.values().filter(move |comment| (comment.thread_kind, comment.thread_id) == key)
}

/// Checks that the texts occur in this order.
fn assert_in_order(output: &str, texts: &[&str]) {
    let mut rest = output;
    for text in texts {
        let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("{text:?} in {output}"));
        rest = after;
    }
}
