//! Paths in messages.

use std::path::Path;

/// A path in messages, the same on all systems.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
