//! Listens for the signals of a terminal other than Ctrl-C: resize, stop and continue.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenSignal {
    /// The terminal was resized, or the process continues.
    Redraw,
    /// The user pressed Ctrl-Z.
    Stop,
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Signal, getpid, kill_process};
    use tokio::signal::unix::{self, SignalKind, signal};

    use super::ScreenSignal;

    pub(in super::super) struct ScreenSignalListener {
        resize: Option<unix::Signal>,
        stop: Option<unix::Signal>,
        resume: Option<unix::Signal>,
    }

    impl ScreenSignalListener {
        /// Starts listening. A signal that cannot be listened for never arrives; without a resize signal, the next frame
        /// still has the new size.
        pub(in super::super) fn listen() -> Self {
            Self {
                resize: listen_for(Signal::WINCH),
                stop: listen_for(Signal::TSTP),
                resume: listen_for(Signal::CONT),
            }
        }

        pub(in super::super) async fn next(&mut self) -> ScreenSignal {
            tokio::select! {
                () = wait_for_signal(&mut self.resize) => ScreenSignal::Redraw,
                () = wait_for_signal(&mut self.stop) => ScreenSignal::Stop,
                () = wait_for_signal(&mut self.resume) => ScreenSignal::Redraw,
            }
        }

        /// Stops this process, and returns once it continues.
        ///
        /// Threads run for a moment before they stop, so this waits for the signal to continue.
        pub(in super::super) async fn stop(&mut self) {
            if kill_process(getpid(), Signal::STOP).is_ok() && self.resume.is_some() {
                wait_for_signal(&mut self.resume).await;
            }
        }
    }

    fn listen_for(kind: Signal) -> Option<unix::Signal> {
        signal(SignalKind::from_raw(kind.as_raw())).ok()
    }

    async fn wait_for_signal(signal: &mut Option<unix::Signal>) {
        match signal {
            Some(signal) => signal.recv().await.unwrap_or_default(),
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
pub(super) use unix::ScreenSignalListener;

#[cfg(not(unix))]
pub(super) struct ScreenSignalListener;

#[cfg(not(unix))]
impl ScreenSignalListener {
    pub(super) fn listen() -> Self {
        Self
    }

    pub(super) async fn next(&mut self) -> ScreenSignal {
        std::future::pending().await
    }

    pub(super) async fn stop(&mut self) {
        std::future::ready(()).await;
    }
}
