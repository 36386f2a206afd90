//! Copies the histories of threads and comments out of the world.

use std::collections::BTreeMap;

use super::comment_story::{CommentStory, CommentVersion};
use super::thread_story::{ThreadFacts, ThreadStory};
use super::watch::EventWatch;
use super::{CommentKind, ThreadKey};
use crate::oracle::snapshot::SnapshotBuilder;
use crate::world::{SimThread, ThreadKind, World};

type CommentStories = BTreeMap<(CommentKind, i64), (ThreadKey, CommentStory)>;

pub(super) fn collect_stories(
    world: &World,
    watches: &[EventWatch],
) -> (BTreeMap<ThreadKey, ThreadStory>, CommentStories) {
    let transferred = world.transferred_threads();
    let (mut threads, mut comments) = (BTreeMap::new(), CommentStories::new());
    for index in world.thread_indexes() {
        let Some(thread) = world.last_thread_state(index) else { continue };
        let Some(repository) = world.repository_id_at(thread.repository) else { continue };
        let is_watched = watches.iter().any(|watch| watch.repository_id == repository);
        if !is_watched || thread.kind == ThreadKind::Discussion {
            continue;
        }
        let key = (repository, thread.number);
        let mut story = thread_story(world, repository, thread);
        story.came_late |= transferred.contains(&index);
        threads.insert(key, story);
        for comment in world.comment_indexes(index) {
            // a comment that moved along belongs to its last thread
            if let Some(story) = comment_story(world, comment, index) {
                comments.insert((story.kind, story.id), (key, story));
            }
        }
    }
    (threads, comments)
}

fn thread_story(world: &World, repository_id: i64, thread: &SimThread) -> ThreadStory {
    let versions = world.thread_versions(thread.index);
    let facts = versions.iter().filter_map(|version| {
        let state = version.state.as_ref()?;
        let mut labels: Vec<String> = state.labels.iter().map(ToString::to_string).collect();
        labels.sort();
        Some(ThreadFacts {
            at_ms: version.at_ms,
            updated_ms: state.updated_ms,
            state: state.state(),
            closed_ms: state.closed_ms,
            head: state.head_oid(),
            labels,
        })
    });
    let view = world.view_at(i64::MAX);
    let came_late = view.was_thread_hidden(thread) || !world.was_always_visible(repository_id);
    ThreadStory {
        repository_id,
        number: thread.number,
        kind: thread.kind,
        created_ms: thread.created_ms,
        facts: facts.collect(),
        is_visible: view.thread(thread.index).is_some(),
        came_late,
    }
}

/// Returns the story of a comment if it was last on this thread.
fn comment_story(world: &World, index: usize, thread: usize) -> Option<CommentStory> {
    let versions = world.comment_versions(index);
    let last = versions.last_state_at(i64::MAX).filter(|last| last.thread == thread)?;
    let view = world.view_at(i64::MAX);
    let versions = versions.iter().map(|version| {
        let builder = SnapshotBuilder::including_hidden(world, version.at_ms);
        let state = version.state.as_ref().and_then(|state| {
            let thread = world.last_thread_state(state.thread)?;
            Some(builder.build_comment(state, thread))
        });
        CommentVersion {
            at_ms: version.at_ms,
            listed_ms: version.listed_ms,
            updated_ms: version.state.as_ref().map_or(0, |state| state.updated_ms),
            state,
        }
    });
    Some(CommentStory {
        kind: last.kind,
        id: last.id,
        versions: versions.collect(),
        unlisted_until_ms: world.comment_unlisted_until(index),
        is_visible: view.comment(index).is_some(),
        came_late: view.was_comment_hidden(last) || view.was_transferred(last),
    })
}
