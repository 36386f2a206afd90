//! Measures what is asked of a workspace with a million posts.

use std::ops::ControlFlow;
use std::path::Path;

use hw_rules::source_time::SourceInstant;
use hw_store::{
    DatabaseLocation, PostCursor, PostFilter, PostRow, ReplySelection, RepostSelection,
    SearchEngine, SearchRequest, StoreReader, Workspace,
};

use crate::corpus::COMMON_WORDS;
use crate::post_corpus::{ACCOUNTS, NOW_MS, handle, open_or_create};
use crate::result_table::ResultTable;
use crate::search_times::SearchTimes;

const RUNS: usize = 60;
const POSTS_PER_PAGE: u64 = 100;
const LINKS_PER_LIST: u64 = 20;
const HOUR_MS: i64 = 3_600_000;

/// A question, asked once with a seeded source of its details.
struct Question {
    name: &'static str,
    ask: fn(&PostBench, &mut fastrand::Rng),
}

const QUESTIONS: &[Question] = &[
    Question { name: "list posts", ask: |bench, _| bench.list(PostFilter::default()) },
    Question {
        name: "list posts, a later page",
        ask: |bench, rng| {
            let sort_ms = NOW_MS - rng.i64(0..60 * 24 * HOUR_MS);
            let after = Some(PostCursor { sort_ms, host: "bsky.app".to_owned(), id: 0 });
            bench.list(PostFilter { after, ..PostFilter::default() });
        },
    },
    Question {
        name: "list posts of an account",
        ask: |bench, rng| bench.list(filter_accounts(1, rng)),
    },
    Question {
        name: "list posts of an account that posts once in 20 days",
        ask: |bench, rng| {
            let accounts = vec![handle(ACCOUNTS - 1 - rng.usize(..3))];
            bench.list(PostFilter { accounts, ..PostFilter::default() });
        },
    },
    Question {
        name: "list posts of an account, no reposts, no replies",
        ask: |bench, rng| {
            bench.list(PostFilter {
                reposts: RepostSelection::Excluded,
                replies: ReplySelection::Excluded,
                ..filter_accounts(1, rng)
            });
        },
    },
    Question {
        name: "list posts of five accounts",
        ask: |bench, rng| bench.list(filter_accounts(5, rng)),
    },
    Question {
        name: "count the posts of an account",
        ask: |bench, rng| {
            bench.reader.count_posts(&filter_accounts(1, rng)).unwrap();
        },
    },
    Question { name: "links of 24 hours", ask: |bench, _| bench.list_links(24) },
    Question {
        name: "a post by its URI, and its reposts",
        ask: |bench, rng| {
            let row = &bench.samples[rng.usize(..bench.samples.len())];
            assert!(bench.reader.post_by_uri(&row.post.uri).unwrap().is_some());
            bench.reader.reposts_of(row.post.text_uri()).unwrap();
        },
    },
    Question { name: "search: a word in 30 %", ask: |bench, rng| bench.search(&common_word(rng)) },
    Question {
        name: "search: 30 %, type:post",
        ask: |bench, rng| bench.search(&format!("{} type:post", common_word(rng))),
    },
    Question {
        name: "search: 30 %, type:post, author:",
        ask: |bench, rng| {
            let author = handle(rng.usize(..ACCOUNTS));
            bench.search(&format!("{} type:post author:{author}", common_word(rng)));
        },
    },
    Question {
        name: "search: two in 30 %, type:post, created: of a week",
        ask: |bench, rng| {
            let words = format!("{} {}", common_word(rng), common_word(rng));
            bench.search(&format!("{words} type:post created:2025-12-01..2025-12-07"));
        },
    },
];

/// What takes longer the more there is: without a promise.
const LARGE_QUESTIONS: &[Question] = &[
    Question {
        name: "count all posts",
        ask: |bench, _| {
            bench.reader.count_posts(&PostFilter::default()).unwrap();
        },
    },
    Question { name: "links of 7 days", ask: |bench, _| bench.list_links(7 * 24) },
];

/// Measures all questions, or those with these words in their names.
pub(crate) fn measure_posts(table: &mut ResultTable, path: &Path, posts: usize, only: &str) {
    open_or_create(path, posts);
    let bench = PostBench::open(path);
    let selected = |questions: &'static [Question]| {
        questions.iter().filter(|question| question.name.contains(only))
    };
    for Question { name, ask } in selected(QUESTIONS) {
        let measured = bench.measure(*ask);
        let is_kept = measured.cpu_quantile(0.95) <= 50.0;
        table.print_row(name, &measured, Some(("p95 ≤ 50 ms", is_kept)));
    }
    for Question { name, ask } in selected(LARGE_QUESTIONS) {
        table.print_row(name, &bench.measure(*ask), None);
    }
}

struct PostBench {
    reader: StoreReader,
    engine: SearchEngine,
    /// Some stored posts.
    samples: Vec<PostRow>,
}

impl PostBench {
    fn open(path: &Path) -> Self {
        let reader = StoreReader::open(&DatabaseLocation::File(path.to_owned())).unwrap();
        let engine = SearchEngine::new(Workspace::from_store(reader.clone()));
        let samples =
            read_posts(&reader, &PostFilter { limit: Some(1_000), ..PostFilter::default() });
        Self { reader, engine, samples }
    }

    fn measure(&self, ask: fn(&Self, &mut fastrand::Rng)) -> SearchTimes {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut measured = SearchTimes::default();
        // fills the caches
        ask(self, &mut rng);
        for _ in 0..RUNS {
            measured.measure(|| ask(self, &mut rng));
        }
        measured
    }

    /// Reads a page, and what may be missing from it, as all frontends do.
    fn list(&self, filter: PostFilter) {
        let filter = PostFilter { limit: Some(POSTS_PER_PAGE), ..filter };
        assert!(!read_posts(&self.reader, &filter).is_empty(), "{filter:?}");
        self.reader.post_completeness(&filter.accounts).unwrap();
    }

    fn list_links(&self, hours: i64) {
        let since = SourceInstant(NOW_MS - hours * HOUR_MS);
        let links = self.reader.trending_links(since, LINKS_PER_LIST).unwrap();
        assert!(links[0].sharer_count > 1, "{hours}");
    }

    fn search(&self, query: &str) {
        let found = self.engine.search(&SearchRequest::new(query)).unwrap();
        assert!(!found.hits.is_empty(), "{query}");
    }
}

fn read_posts(reader: &StoreReader, filter: &PostFilter) -> Vec<PostRow> {
    let mut rows = Vec::new();
    let skipped = reader.each_post(filter, &mut |row| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    assert_eq!(skipped.unwrap().0, 0);
    rows
}

fn filter_accounts(count: usize, rng: &mut fastrand::Rng) -> PostFilter {
    let accounts = (0..count).map(|_| handle(rng.usize(..ACCOUNTS))).collect();
    PostFilter { accounts, ..PostFilter::default() }
}

fn common_word(rng: &mut fastrand::Rng) -> String {
    format!("common{}", rng.usize(..COMMON_WORDS))
}
