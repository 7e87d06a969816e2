//! Figures of the lab: boards, and maps of where a claim holds.

mod boards;
mod heat;

pub(crate) use boards::{BoardPanel, Mark, SmallBoard, board_graph, board_rates};
pub(crate) use heat::{HeatMap, heat_map};
