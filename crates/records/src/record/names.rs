//! The names that engines of a log gave, for the games below.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::encoding;

/// Engines that can take part in one game, and whose names are kept.
pub(super) const MOST_ENGINES: usize = 64;

/// Bytes of an engine's name that are kept.
const LONGEST_NAME: usize = 200;

/// The names that engines gave themselves (`id name`), by their keys in the log; the last at the end. Every block has
/// them, so that a clone shares them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineNames(Arc<VecDeque<(Vec<u8>, Vec<u8>)>>);

impl EngineNames {
    pub(super) fn set(&mut self, key: &[u8], name: &[u8]) {
        let names = Arc::make_mut(&mut self.0);
        match names.iter().position(|(known, _)| known == key) {
            Some(at) => drop(names.remove(at)),
            None if names.len() == MOST_ENGINES => drop(names.pop_front()),
            None => {}
        }
        names.push_back((key.to_vec(), beginning(name).into_owned()));
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, name)| &name[..])
    }
}

/// The part of a name that is kept. It ends where a character does.
fn beginning(name: &[u8]) -> Cow<'_, [u8]> {
    let Some(head) = name.get(..LONGEST_NAME).filter(|_| name.len() > LONGEST_NAME) else { return name.into() };
    match std::str::from_utf8(head) {
        Ok(_) => head.into(),
        Err(error) if error.error_len().is_none() => head[..error.valid_up_to()].into(),
        // the last character may be cut
        Err(_) => encoding::decode(head, None, head).trim_end_matches('\u{fffd}').as_bytes().to_vec().into(),
    }
}
