//! Runs the pull console on the terminal of this process.
//!
//! While the console is open, everything that would go to stderr becomes part of it. However the process ends, normally,
//! by a signal or by a panic, the terminal is restored.

pub(crate) mod log_layer;
mod renderer;
mod signal_listener;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

use hw_rules::lane::PullItem;
use hw_rules::progress_event::ProgressEvent;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_tui::pull_screen::{ColorMode, MIN_COLUMNS, MessageTone, PullEnding, ScreenState};

use crate::config::AppSettings;
use crate::terminal;
use renderer::{FrameRenderer, TerminalSize, stderr_size};
use signal_listener::{ScreenSignal, ScreenSignalListener};

/// The shortest time between two frames.
const FRAME_INTERVAL_MS: i64 = 200;

/// The open console. Never locked during a write, because a terminal can be slow.
static RENDERER: Mutex<Option<FrameRenderer>> = Mutex::new(None);
/// Locked during each write, so that no two writes overlap.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

/// The console; it closes when dropped.
pub(crate) struct PullScreen(());

impl PullScreen {
    /// Opens the console, if stderr is a terminal that can display it.
    pub(crate) fn open(items: &BTreeSet<PullItem>, settings: &AppSettings) -> Option<Self> {
        let now_ms = MachineClock.now_ms();
        let state = ScreenState::new(items, now_ms);
        if !can_show_screen(&state, settings.terminal.term.as_deref()) {
            return None;
        }
        release_terminal_on_panic();
        let signals = ScreenSignalListener::listen();
        let color_mode =
            if settings.terminal.no_color { ColorMode::NoColors } else { ColorMode::Colors };
        let mut renderer = FrameRenderer::new(state, color_mode, now_ms);
        let frame = renderer.full_frame(now_ms);
        *lock_renderer() = Some(renderer);
        write_if_open(&frame);
        tokio::spawn(redraw_until_closed(signals));
        Some(Self(()))
    }

    /// Closes the console and leaves its last frame on the terminal.
    pub(crate) fn close(self, ending: &PullEnding) {
        close_screen(ending);
    }
}

impl Drop for PullScreen {
    fn drop(&mut self) {
        release_terminal();
    }
}

/// Applies a progress event of the pull to the console.
pub(crate) fn apply_event(event: ProgressEvent) {
    if let Some(renderer) = lock_renderer().as_mut() {
        renderer.state.apply(mask_event(event), MachineClock.now_ms());
    }
}

/// Cleans and masks the texts in an event that come from outside.
fn mask_event(mut event: ProgressEvent) -> ProgressEvent {
    if let ProgressEvent::RetryScheduled { reason: text, .. }
    | ProgressEvent::RequestsPaused { reason: text, .. }
    | ProgressEvent::FollowingPull { worker: text }
    | ProgressEvent::WaitingForPull { worker: text }
    | ProgressEvent::WaitingForPoll { worker: text }
    | ProgressEvent::TakingOverPull { worker: text }
    | ProgressEvent::LaneFailed { message: text, .. } = &mut event
    {
        *text = terminal::clean_line(text);
    }
    event
}

/// Restores the terminal, if the console is still open.
pub(crate) fn release_terminal() {
    close_screen(&PullEnding::Stopped);
}

fn close_screen(ending: &PullEnding) {
    let _write_guard = lock_writes();
    let renderer = lock_renderer().take();
    if let Some(renderer) = renderer {
        write_stderr(&renderer.render_closing(ending, MachineClock.now_ms()));
    }
}

/// Writes a frame, unless the console was closed meanwhile.
fn write_if_open(frame: &str) {
    let _write_guard = lock_writes();
    if is_open() {
        write_stderr(frame);
    }
}

/// Writes to stderr; ignores errors, because a closed stderr has no reader.
fn write_stderr(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}

/// Writes a frame on a blocking thread, so that a slow terminal only delays the next frame.
async fn write_frame(frame: String) {
    // a panic of that thread reports itself
    tokio::task::spawn_blocking(move || write_if_open(&frame)).await.ok();
}

fn add_log_line(tone: MessageTone, text: &str) {
    if let Some(renderer) = lock_renderer().as_mut() {
        renderer.state.add_log_line(tone, &terminal::clean_line(text), MachineClock.now_ms());
    }
}

/// Runs another write to the terminal, unless the console is open.
pub(crate) fn run_unless_open(write: impl FnOnce()) {
    let _write_guard = lock_writes();
    if !is_open() {
        write();
    }
}

fn is_open() -> bool {
    lock_renderer().is_some()
}

fn can_show_screen(state: &ScreenState, term: Option<&str>) -> bool {
    cfg!(unix)
        && term.is_some_and(|name| name != "dumb")
        && std::io::stderr().is_terminal()
        && stderr_size().is_some_and(|TerminalSize { columns, rows }| {
            columns >= MIN_COLUMNS && rows >= state.frame_height()
        })
}

/// Redraws changes until the console is closed, at most once per frame interval; a resize does not wait for the next
/// tick.
async fn redraw_until_closed(mut signals: ScreenSignalListener) {
    loop {
        let should_suspend = tokio::select! {
            () = MachineClock.sleep_until(MachineClock.now_ms() + FRAME_INTERVAL_MS) => false,
            signal = signals.next() => signal == ScreenSignal::Stop,
        };
        if should_suspend {
            suspend_screen(&mut signals).await;
        }
        let last_frame_ms = lock_renderer().as_ref().map(FrameRenderer::last_frame_ms);
        let Some(last_frame_ms) = last_frame_ms else { return };
        MachineClock.sleep_until(last_frame_ms + FRAME_INTERVAL_MS).await;
        let frame = lock_renderer()
            .as_mut()
            .and_then(|renderer| renderer.next_frame(MachineClock.now_ms()));
        if let Some(frame) = frame {
            write_frame(frame).await;
        }
    }
}

/// Restores the terminal, stops the process, and draws the console again once the process continues.
async fn suspend_screen(signals: &mut ScreenSignalListener) {
    write_frame(renderer::RELEASE_TERMINAL.concat()).await;
    signals.stop().await;
    let frame = lock_renderer().as_mut().map(|renderer| renderer.full_frame(MachineClock.now_ms()));
    write_frame(frame.unwrap_or_default()).await;
}

/// Installs a panic hook that restores the terminal first, so that the message is visible.
fn release_terminal_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let renderer = match RENDERER.try_lock() {
                Ok(mut renderer) => renderer.take(),
                Err(TryLockError::Poisoned(renderer)) => renderer.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            };
            match renderer {
                Some(renderer) => write_stderr(
                    &renderer.render_closing(&PullEnding::Stopped, MachineClock.now_ms()),
                ),
                None => write_stderr(&renderer::RELEASE_TERMINAL.concat()),
            }
            previous_hook(panic);
        }));
    });
}

fn lock_writes() -> MutexGuard<'static, ()> {
    WRITE_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the renderer. Its state is still usable after a panic of another thread, so a poisoned lock is ignored.
fn lock_renderer() -> MutexGuard<'static, Option<FrameRenderer>> {
    RENDERER.lock().unwrap_or_else(PoisonError::into_inner)
}
