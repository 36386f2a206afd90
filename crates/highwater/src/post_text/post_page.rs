//! Renders one post for `show`: its facts, its text, its links.

use hw_rules::bluesky::post::Post;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::safe_text::sanitize_terminal_line;
use hw_store::PostRow;

use super::post_excerpt;

/// The number of reposts that a page lists.
const MAX_REPOSTS: usize = 10;

/// A post with everything that is stored around it.
pub(crate) struct PostView {
    pub(crate) row: PostRow,
    /// The stored reposts of the text, newest first.
    pub(crate) reposts: Vec<PostRow>,
    pub(crate) context: PostContext,
}

/// The posts that a post refers to, if they are stored.
pub(crate) struct PostContext {
    pub(crate) parent: Option<PostRow>,
    pub(crate) quoted: Option<PostRow>,
}

impl PostView {
    /// Returns the page that `show` prints. The text is copied as it is, and `show` then removes control characters.
    pub(crate) fn to_page(&self) -> String {
        let title = format!("Post by {}", self.row.author_name());
        let facts = self.list_facts();
        let facts = facts.iter().map(|fact| format!("- {}\n", sanitize_terminal_line(fact)));
        let facts = facts.collect::<String>();
        let text = &self.row.post.text;
        let text = if text.is_empty() { String::new() } else { format!("\n{text}\n") };
        format!("# {}\n\n{facts}{text}{}", sanitize_terminal_line(&title), self.list_links())
    }

    fn list_facts(&self) -> Vec<String> {
        let post = &self.row.post;
        let mut facts = vec![describe_author(&self.row)];
        if let Some(reply) = &post.reply {
            facts.push(describe_reference("reply to", &reply.parent, self.context.parent.as_ref()));
            if reply.root != reply.parent {
                facts.push(format!("thread: {}", address_text(&reply.root)));
            }
        }
        if let Some(quote) = &post.quote {
            facts.push(describe_reference("quotes", quote, self.context.quoted.as_ref()));
        }
        facts.extend(self.reposts.iter().take(MAX_REPOSTS).map(|row| {
            format!(
                "reposted by {}, {}",
                account_text(row.sharer_name(), row.post.sharer().as_str()),
                row.post.sort_at
            )
        }));
        let others = self.reposts.len().saturating_sub(MAX_REPOSTS);
        facts.extend((others > 0).then(|| format!("reposted {others} more times")));
        if !post.langs.is_empty() {
            facts.push(format!("languages: {}", post.langs.join(", ")));
        }
        facts.push(format!("<{}>", post.web_url()));
        facts.push(post.text_uri().to_string());
        facts
    }

    fn list_links(&self) -> String {
        let links = self.row.post.distinct_urls().into_iter();
        let links = links.map(|url| format!("- <{}>\n", sanitize_terminal_line(url)));
        let links = links.collect::<String>();
        if links.is_empty() { links } else { format!("\n## Links\n\n{links}") }
    }
}

fn describe_author(row: &PostRow) -> String {
    let post = &row.post;
    let author = account_text(row.author_name(), post.did.as_str());
    format!("by {author}, {}", written_at(post))
}

/// Returns the time of the text: by its author's clock, and by the server's if they differ.
fn written_at(post: &Post) -> String {
    match &post.created_at {
        Some(created_at) if created_at.instant() != post.indexed_at.instant() => {
            format!("{created_at} (first seen by the server at {})", post.indexed_at)
        }
        Some(_) | None => post.indexed_at.to_string(),
    }
}

/// Returns the handle with the DID behind it, or the DID alone if the handle is unknown.
fn account_text(name: &str, did: &str) -> String {
    if name == did { did.to_owned() } else { format!("{name} ({did})") }
}

/// Names the post that another one refers to, and the beginning of its text if it is stored.
fn describe_reference(relation: &str, uri: &RecordUri, stored: Option<&PostRow>) -> String {
    let address = address_text(uri);
    match stored {
        Some(row) => {
            let excerpt = post_excerpt(&row.post.text);
            format!("{relation} {address} by {}: {excerpt}", row.author_name())
        }
        None => format!("{relation} {address}"),
    }
}

/// Returns the URL of a post's page; the URI of a record that has none.
fn address_text(uri: &RecordUri) -> String {
    uri.web_url().map_or_else(|| uri.to_string(), |url| format!("<{url}>"))
}
