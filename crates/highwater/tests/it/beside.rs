//! A pull in one process, and people who search in others.

use std::collections::BTreeSet;
use std::process::Stdio;

use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::house::{House, asked_json};
use crate::mcp::talk::Talk;
use crate::web::Face;

const KNOWN: usize = 5;

/// But for `-f`, which forgets first.
#[test]
fn results_never_vanish_never_repeat_and_include_what_is_new() {
    for args in [&[][..], &["--reconcile"]] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        let known: Vec<i64> = (0..KNOWN).map(|number| said(&house, number)).collect();
        house.pulled(home.path(), &[]);
        let mut faces = Faces::over(home.path());
        // what is held changes, and something new is said
        house.look(|github| {
            for id in &known {
                let body = "The narwhal moved again.";
                github.world_mut().edit_issue(*id, None, Some(body), MachineClock.now_ms());
            }
        });
        said(&house, KNOWN);
        let mut pull = house.pull(args);
        pull.arg("-m").arg(home.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut pull = pull.spawn().unwrap();
        let mut rounds = 0;
        while pull.try_wait().unwrap().is_none() {
            faces.hold_at_least(KNOWN, args);
            rounds += 1;
        }
        assert!(0 < rounds && pull.wait().unwrap().success(), "{args:?}");
        faces.hold_at_least(KNOWN + 1, args);
    }
}

/// Somebody says something about narwhals.
fn said(house: &House, number: usize) -> i64 {
    house.look(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let title = format!("Narwhal {number}");
        let body = "A narwhal was seen.";
        github.world_mut().create_issue(repository, &title, body, MachineClock.now_ms())
    })
}

/// The three faces, open all the time but for the command line.
struct Faces<'a> {
    home: &'a std::path::Path,
    web: Face,
    mcp: Talk,
}

impl<'a> Faces<'a> {
    fn over(home: &'a std::path::Path) -> Self {
        let web = Face::open(&["ui", "-p", "0"], home);
        let mcp = Talk::begun(&["-m", home.to_str().unwrap()]);
        Self { home, web, mcp }
    }

    /// Each finds so many threads about narwhals, or more, and none twice.
    fn hold_at_least(&mut self, count: usize, args: &[&str]) {
        let titles = |found: &[Value]| -> Vec<String> {
            found.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
        };
        let answer = self.mcp.call("search", &json!({ "query": "narwhal" }));
        let mcp = titles(answer["structuredContent"]["items"].as_array().unwrap());
        let command = titles(&asked_json(self.home, "search", &["narwhal"]));
        let page = self.web.get("/search?q=narwhal");
        let links = page.split("class=\"hit-link\" href=\"").skip(1);
        let web: Vec<_> = links.map(|it| it.split('"').next().unwrap().to_owned()).collect();
        for found in [mcp, command, web] {
            let different: BTreeSet<_> = found.iter().collect();
            assert_eq!(different.len(), found.len(), "{args:?}: {found:?}");
            assert!(count <= found.len(), "{args:?}: {found:?}");
        }
    }
}
