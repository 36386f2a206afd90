//! The pull console on this process's terminal, which there is one of.
//!
//! While it is open, everything that would be written to stderr becomes part of it. However the process
//! ends, by itself, by a signal or by a panic, the terminal is given back as it was found.

pub(crate) mod logs;
mod screen;

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

use hw_rules::lane::Surface;
use hw_rules::news::News;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_tui::console::{Ending, NARROWEST, Paint, State, Tone};

use crate::config::Settings;
use screen::{Screen, size};

/// The shortest time between two frames.
const BETWEEN_FRAMES_MS: i64 = 200;

static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);

/// The console, until it is closed or dropped.
pub(crate) struct Console(());

impl Console {
    /// Opens it where there is a terminal that can show it.
    pub(crate) fn open(items: &BTreeSet<Surface>, settings: &Settings) -> Option<Self> {
        let now_ms = MachineClock.now_ms();
        let state = State::new(items, now_ms);
        if !can_show(&state, settings.terminal.as_deref()) {
            return None;
        }
        put_away_on_panic();
        let paint = if settings.no_color { Paint::NoColours } else { Paint::Colours };
        *screen() = Some(Screen::open(state, paint, now_ms));
        tokio::spawn(keep_drawing());
        Some(Self(()))
    }

    /// Leaves the last frame on the terminal, with what follows below it.
    pub(crate) fn close(self, ending: &Ending) {
        close(ending);
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        put_away();
    }
}

/// Takes in what a pull tells.
pub(crate) fn hear(news: News) {
    if let Some(screen) = screen().as_mut() {
        screen.state.hear(news, MachineClock.now_ms());
    }
}

/// Gives the terminal back, if the console still has it.
pub(crate) fn put_away() {
    close(&Ending::Stopped);
}

fn close(ending: &Ending) {
    if let Some(screen) = screen().take() {
        screen.close(ending, MachineClock.now_ms());
    }
}

fn log(tone: Tone, text: &str) {
    if let Some(screen) = screen().as_mut() {
        screen.state.log(tone, text, MachineClock.now_ms());
    }
}

fn is_open() -> bool {
    screen().is_some()
}

fn can_show(state: &State, terminal: Option<&str>) -> bool {
    let is_able = terminal.is_some_and(|name| name != "dumb");
    let fits = |(columns, rows)| NARROWEST <= columns && state.height() <= rows;
    cfg!(unix) && is_able && std::io::stderr().is_terminal() && size().is_some_and(fits)
}

/// Draws whatever changed, until the console is closed; after a resize as soon as it may.
async fn keep_drawing() {
    let mut resizes = Resizes::listen();
    loop {
        tokio::select! {
            () = MachineClock.sleep_until(MachineClock.now_ms() + BETWEEN_FRAMES_MS) => {}
            () = resizes.next() => {}
        }
        let Some(shown_ms) = screen().as_ref().map(Screen::shown_ms) else { return };
        MachineClock.sleep_until(shown_ms + BETWEEN_FRAMES_MS).await;
        match screen().as_mut() {
            Some(screen) => screen.show(MachineClock.now_ms()),
            None => return,
        }
    }
}

/// A panic's message belongs on the terminal that people look at.
fn put_away_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let screen = match SCREEN.try_lock() {
                Ok(mut screen) => screen.take(),
                Err(TryLockError::Poisoned(screen)) => screen.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            };
            match screen {
                Some(screen) => screen.close(&Ending::Stopped, MachineClock.now_ms()),
                None => screen::give_back(),
            }
            others(panic);
        }));
    });
}

/// A poisoned lock means that somebody panicked; what is known is still known.
fn screen() -> MutexGuard<'static, Option<Screen>> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
struct Resizes(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Resizes {
    /// Where the signal cannot be listened for, the next frame shows the new size.
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self(signal(SignalKind::window_change()).ok())
    }

    async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => signal.recv().await.unwrap_or_default(),
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
struct Resizes;

#[cfg(not(unix))]
impl Resizes {
    fn listen() -> Self {
        Self
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
