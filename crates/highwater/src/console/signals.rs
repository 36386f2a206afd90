//! What a terminal tells a process besides Ctrl-C: that its size changed, and that it is to stop for a while.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// The terminal is not as it was.
    Redraw,
    Stop,
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Signal as Sent, getpid, kill_process};
    use tokio::signal::unix::{self, SignalKind, signal};

    use super::Signal;

    pub(in super::super) struct Signals {
        resize: Option<unix::Signal>,
        stop: Option<unix::Signal>,
        go_on: Option<unix::Signal>,
    }

    impl Signals {
        /// What cannot be listened for does not come; the next frame has the new size all the same.
        pub(in super::super) fn listen() -> Self {
            let heard = |sent: Sent| signal(SignalKind::from_raw(sent.as_raw())).ok();
            Self { resize: heard(Sent::WINCH), stop: heard(Sent::TSTP), go_on: heard(Sent::CONT) }
        }

        pub(in super::super) async fn next(&mut self) -> Signal {
            tokio::select! {
                () = heard(&mut self.resize) => Signal::Redraw,
                () = heard(&mut self.stop) => Signal::Stop,
                () = heard(&mut self.go_on) => Signal::Redraw,
            }
        }

        /// Stops this process, until somebody lets it go on.
        ///
        /// Threads run on for a moment before they stop, so being let go on is what is waited for.
        pub(in super::super) async fn stop(&mut self) {
            if kill_process(getpid(), Sent::STOP).is_ok() && self.go_on.is_some() {
                heard(&mut self.go_on).await;
            }
        }
    }

    async fn heard(signal: &mut Option<unix::Signal>) {
        match signal {
            Some(signal) => signal.recv().await.unwrap_or_default(),
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
pub(super) use unix::Signals;

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> Self {
        Self
    }

    pub(super) async fn next(&mut self) -> Signal {
        std::future::pending().await
    }

    pub(super) async fn stop(&mut self) {
        std::future::ready(()).await;
    }
}
