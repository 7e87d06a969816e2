use super::position::tests::{START_HCP, START_PSFEN};
use super::*;
