//! `list_pull_requests`

use hw_rules::lane::Surface;

use super::{Definition, of_a_list};
use crate::arguments::Parameter;
use crate::form::Form;
use crate::listing::{AUTHORS, CURSOR, LIMIT, Listing, REPOSITORY};
use crate::sheet::Words;

pub(super) static DEFINITION: Definition = Definition {
    name: "list_pull_requests",
    title: "List pull requests",
    about: "Lists pull requests with optional filtering. Pull requests are separated by ---.",
    parameters: &[
        REPOSITORY,
        Parameter::text(
            "created_from",
            "Filter by created_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        Parameter::text(
            "created_to",
            "Filter by created_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        Parameter::text(
            "merged_from",
            "Filter by merged_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        Parameter::text(
            "merged_to",
            "Filter by merged_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        Parameter::text(
            "closed_from",
            "Filter by closed_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        Parameter::text(
            "closed_to",
            "Filter by closed_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        AUTHORS,
        Parameter::texts(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"merged_at\", \"closed_at\", \"author\", \"status\", \"body\"]. Defaults to all fields.",
        ),
        LIMIT,
        CURSOR,
    ],
    output: of_a_list,
    answer: |desk, arguments| LISTING.answer(desk, arguments),
};

pub(super) static LISTING: Listing = Listing {
    surface: Surface::PullRequests,
    form: Form {
        fields: &[
            "title",
            "url",
            "repository",
            "created_at",
            "merged_at",
            "closed_at",
            "author",
            "status",
            "body",
        ],
        lines: &[
            ("url", "URL"),
            ("repository", "Repository"),
            ("created_at", "Created at"),
            ("merged_at", "Merged at"),
            ("closed_at", "Closed at"),
            ("author", "Author"),
            ("status", "Status"),
        ],
    },
    words: Words { plural: "pull requests", tells_total: true, advice: "" },
};
