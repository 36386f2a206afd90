//! The error of a tool call: a text for the caller.

use std::error::Error as _;

use hw_store::{OpenWorkspaceError, StoreError};

/// An error that the caller can fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ToolError(pub(crate) String);

impl From<OpenWorkspaceError> for ToolError {
    fn from(error: OpenWorkspaceError) -> Self {
        match error {
            OpenWorkspaceError::Undetermined(reason) => Self(reason),
            error @ OpenWorkspaceError::NotADatabase(_) => Self::cannot_read(&error.to_string()),
            OpenWorkspaceError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        if let StoreError::NoDatabase(location) = &error {
            return Self(format!(
                "Nothing has been pulled yet: there is no database at {location}. Run `highwater pull -o NAME` \
                 with the same --home or --database, then call again; this server does not need a restart."
            ));
        }
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            reason.push_str(&format!("; {error}"));
            cause = error.source();
        }
        Self::cannot_read(&reason)
    }
}

impl ToolError {
    fn cannot_read(reason: &str) -> Self {
        Self(format!(
            "Cannot read the workspace: {reason}. Run `highwater doctor store` to see how to fix it."
        ))
    }
}
