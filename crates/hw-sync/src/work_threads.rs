//! Runs work that sends no requests beside the task that does.
//!
//! All lanes of a pull are futures of one task, so whatever one of them computes or writes keeps all others waiting. The
//! program moves such work to other threads; simulations run it in place, so that a seed replays exactly.

use std::panic;

/// The threads that work runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkThreads {
    /// The caller's own, which waits for it.
    #[default]
    Inline,
    /// Further threads of the runtime.
    Background,
}

impl WorkThreads {
    /// Runs the work and returns its result. Work that has begun is finished even if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        match self {
            Self::Inline => work(),
            Self::Background => match tokio::task::spawn_blocking(work).await {
                Ok(done) => done,
                Err(error) => match error.try_into_panic() {
                    Ok(reason) => panic::resume_unwind(reason),
                    // the runtime is shutting down, and this task with it
                    Err(_) => std::future::pending().await,
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Inline, the work would wait for ever: the message is sent after it.
    #[tokio::test]
    async fn work_in_the_background_lets_its_task_go_on() {
        let (sender, receiver) = mpsc::channel();
        let work = WorkThreads::Background.run(move || receiver.recv());
        let (received, sent) = tokio::join!(work, async { sender.send("news") });
        assert_eq!((received, sent), (Ok("news"), Ok(())));
    }

    #[tokio::test]
    async fn work_inline_is_done_on_the_thread_of_its_task() {
        let thread = WorkThreads::Inline.run(|| std::thread::current().id()).await;
        assert_eq!(thread, std::thread::current().id());
    }
}
