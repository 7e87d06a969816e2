//! stub
use super::*;
pub struct UsiLogReader;
pub fn looks_like(_: &[u8]) -> bool {
    false
}
impl Reader for UsiLogReader {
    fn last_boundary(&self, _: &[u8]) -> Option<usize> {
        None
    }
    fn read_game(&self, _: &[u8], _: &mut Cursor, _: &mut Game) -> Result<bool, GameError> {
        Ok(false)
    }
}
