//! (to come)
use crate::types::Outcome;
#[doc(hidden)]
pub struct Ratings { pub elo: Vec<f64>, pub components: Vec<usize> }
#[doc(hidden)]
pub fn bradley_terry(_n: usize, _g: &[(usize, usize, Outcome)]) -> Result<Ratings, String> { Err("to come".into()) }
