//! Blocks of a report as HTML.

use std::fmt::Write;

use evalcurve_figures::{Escaped, Figure};
use evalcurve_words::say;
use maud::{Markup, PreEscaped, Render, html};

use crate::report::model::{Block, Column, Fill, Grid};

/// Text of records and users, escaped so that the page is well-formed XML.
pub struct Safe<T>(pub T);

impl<T: AsRef<str>> Render for Safe<T> {
    fn render_to(&self, out: &mut String) {
        // writing to a string does not fail
        let _ = write!(out, "{}", Escaped(self.0.as_ref()));
    }
}

impl Render for Block {
    fn render(&self) -> Markup {
        match self {
            Self::Paragraph(text) => html! { p { (Safe(text)) } "\n" },
            Self::Note(text) => html! { p class="soft" { (Safe(text)) } "\n" },
            Self::Heading(text) => html! { h3 { (Safe(text)) } "\n" },
            Self::List(items) => html! {
                ul {
                    "\n"
                    @for (label, text) in items {
                        li { @if !label.is_empty() { span class="warn" { (Safe(label)) } ": " } (Safe(text)) }
                        "\n"
                    }
                }
                "\n"
            },
            Self::Table(grid) => grid.render(),
            Self::Figures(figures) => html! {
                @if !figures.is_empty() {
                    div class=(if figures.len() > 1 { "figures" } else { "one" }) {
                        @if figures.len() > 1 { "\n" }
                        @for drawn in figures { (figure(drawn)) }
                    }
                    "\n"
                }
            },
            Self::Folded { title, rest, open, body } => {
                folded(title, rest, *open, html! { @for block in body { (block) } })
            }
        }
    }
}

/// The rows of a table that are not folded.
const SHOWN_ROWS: usize = 10;

impl Render for Grid {
    fn render(&self) -> Markup {
        // a fold for one or two rows would save nothing
        let rows = self.best.len();
        let shown = if rows < SHOWN_ROWS + 3 { rows } else { SHOWN_ROWS };
        html! {
            @if shown > 0 { (self.part(0..shown, &self.caption)) }
            @if rows > shown {
                (folded(&say!(self.language, "{} more rows", rows - shown), "", false, self.part(shown..rows, "")))
            }
        }
    }
}

impl Grid {
    /// Some of the rows under the head of the table.
    fn part(&self, rows: std::ops::Range<usize>, caption: &str) -> Markup {
        let class = |column: &Column| match column.fill {
            Fill::Number => None,
            Fill::Text => Some("text"),
            Fill::Prose => Some("prose"),
        };
        // intervals stay in one line
        let cell = |column: &Column, row: usize| match column.fill {
            Fill::Number => column.cells[row].replace(", ", ",\u{a0}"),
            Fill::Text | Fill::Prose => column.cells[row].clone(),
        };
        html! {
            // keyboards scroll only what can have the focus
            div class="scroll" tabindex="0" {
                table {
                    "\n"
                    @if !caption.is_empty() { caption { (Safe(caption)) } "\n" }
                    thead {
                        tr {
                            @for column in &self.columns {
                                th scope="col" class=[class(column).map(|_| "text")] { (Safe(&column.name)) }
                            }
                        }
                    }
                    "\n"
                    tbody {
                        "\n"
                        @for row in rows {
                            tr class=[self.best[row].then_some("best")] {
                                @for column in &self.columns {
                                    td class=[class(column)] { (Safe(cell(column, row))) }
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
            "\n"
        }
    }
}

/// A figure as inline SVG whose numbers can be read off.
pub fn figure(figure: &Figure) -> Markup {
    html! { figure { (PreEscaped(figure.svg_for_page().trim_end())) } "\n" }
}

/// A collapsible part: `title`, then `rest` in a lighter colour, then the body.
pub fn folded(title: &str, rest: &str, open: bool, body: Markup) -> Markup {
    html! {
        details open=[open.then_some("open")] {
            summary { (Safe(title)) @if !rest.is_empty() { " " span { (Safe(rest)) } } }
            "\n" (body)
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{self, Table};
    use evalcurve_words::language::Language;

    #[test]
    fn texts_are_made_safe() {
        let table = |rows: Vec<&'static str>| {
            let table = Table::new(Language::English, "a < b", rows)
                .text("engine", |r| (*r).to_owned())
                .number("n", |_| "1".to_owned());
            Block::from(table).render().into_string()
        };
        assert_eq!(table(Vec::new()), "");
        let html = table(vec!["<script>"]);
        assert!(html.contains("a &lt; b") && html.contains("&lt;script&gt;") && !html.contains("<script"));
        assert!(model::folded("a&b", "", false, Vec::new()).render().into_string().contains("a&amp;b"));
    }
}
