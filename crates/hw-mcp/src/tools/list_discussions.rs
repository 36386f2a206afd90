//! `list_discussions`

use hw_rules::lane::Surface;

use super::{Definition, of_a_list};
use crate::arguments::Parameter;
use crate::form::Form;
use crate::listing::{AUTHORS, CURSOR, LIMIT, Listing, REPOSITORY};
use crate::sheet::Words;

pub(super) static DEFINITION: Definition = Definition {
    name: "list_discussions",
    title: "List discussions",
    about: "Lists discussions with optional filtering. Discussions are separated by ---.",
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
        AUTHORS,
        Parameter::texts(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"author\", \"body\"]. Defaults to all fields.",
        ),
        LIMIT,
        CURSOR,
    ],
    output: of_a_list,
    answer: |desk, arguments| LISTING.answer(desk, arguments),
};

pub(super) static LISTING: Listing = Listing {
    surface: Surface::Discussions,
    form: Form {
        fields: &["title", "url", "repository", "created_at", "author", "body"],
        lines: &[
            ("url", "URL"),
            ("repository", "Repository"),
            ("created_at", "Created at"),
            ("author", "Author"),
        ],
    },
    words: Words {
        plural: "discussions",
        tells_total: false,
        advice: " Use `created_from` and `created_to` parameters\nto narrow the results.",
    },
};
