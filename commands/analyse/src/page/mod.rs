//! One game as a page: board with replay, win rate over the game, what moves cost, where engines disagree, time used.
//!
//! The page loads no other file. Its script moves through the positions that it holds.

mod graph;

use evalcurve_app::judge::judges::Conflicts;
use evalcurve_app::report::html::{Safe, document, folded};
use evalcurve_app::report::model::{Block, Table, soft};
use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_figures as plot;
use evalcurve_figures::{PlotError, PlotOptions, Point};
use evalcurve_fit::calibration::Score;
use evalcurve_records::record::position::PIECES;
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use self::graph::{DrawnGame, GameGraph, GameLine, game_graph};
use crate::games::{
    ASSUMED_WITHIN, BLUNDER, CHESS_ENDGAME, Cost, Dispute, KANJI, MISTAKE, OPENING, PHASES, SHOGI_ENDGAME, Scale,
    Series, WholeGame, Words, accuracy, costly, costs, disagreements, dispute,
};
use crate::review::{Phase, Review, better, file_name, no_mistake};

/// A game and what engines say of it.
#[derive(Debug)]
pub struct GamePage<'a> {
    pub game: &'a WholeGame,
    pub engines: &'a [Series],
    pub language: Language,
    /// Which of two engines was right so far where they differed.
    known: &'a [Conflicts],
    /// Of every move, and of the sides whose mistakes are shown.
    costs: Vec<Cost>,
    sides: Vec<Color>,
}

/// Moves in a table of costs, and thoughts in one of times.
const MOST_ROWS: usize = 12;

impl<'a> GamePage<'a> {
    /// A page about a game.
    pub fn new(game: &'a WholeGame, engines: &'a [Series], language: Language) -> Self {
        let sides = vec![Color::Black, Color::White];
        Self { game, engines, language, known: &[], costs: costs(game, engines), sides }
    }

    /// Shows the mistakes of these sides alone.
    pub fn of_sides(self, sides: Vec<Color>) -> Self {
        Self { sides, ..self }
    }

    /// The mistakes, the costliest first.
    fn mistakes(&self) -> Vec<&Cost> {
        costly(&self.costs).into_iter().filter(|cost| self.sides.contains(&cost.side)).collect()
    }

    /// Says whom to believe where engines disagree, by what such conflicts came to.
    pub fn with_known(self, known: &'a [Conflicts]) -> Self {
        Self { known, ..self }
    }

    fn is_chess(&self) -> bool {
        self.game.record.game.chess
    }

    fn word<'b>(&self, english: &'b str) -> &'b str {
        self.language.word(english)
    }

    fn side(&self, side: Color) -> &'static str {
        match (side, self.language) {
            // the words for the sides in shogi say who moves first
            (Color::Black, Language::Japanese) if self.is_chess() => "黒",
            (Color::White, Language::Japanese) if self.is_chess() => "白",
            (Color::Black, Language::Japanese) if self.game.is_handicap() => "下手",
            (Color::White, Language::Japanese) if self.game.is_handicap() => "上手",
            (Color::Black, language) => language.word("Black"),
            (Color::White, language) => language.word("White"),
        }
    }

    fn player(&self, side: Color) -> &str {
        let name = &self.game.record.game.names[side.index()];
        if name.is_empty() { self.side(side) } else { name }
    }

    fn name(&self, series: &Series) -> String {
        let name = if series.name.is_empty() { self.word("unnamed engine") } else { &series.name };
        match series.own {
            Some(side) => format!("{name} ({})", self.side(side)),
            None => name.to_owned(),
        }
    }

    /// A move in the words of the reader.
    fn words<'w>(&self, words: &'w Words) -> &'w str {
        words.in_language(self.language)
    }

    fn played(&self, ply: usize) -> String {
        self.game.played(ply, self.language).unwrap_or_else(|| self.word("start").to_owned())
    }

    /// The title: who played, and the result.
    pub fn title(&self) -> String {
        let sides = if self.is_chess() { [Color::White, Color::Black] } else { [Color::Black, Color::White] };
        let [first, second] = sides.map(|side| self.player(side));
        say!(self.language, "{first} – {second}")
    }

    fn result(&self) -> Option<String> {
        let winner = match self.game.record.game.black_outcome? {
            Outcome::Win => Color::Black,
            Outcome::Loss => Color::White,
            Outcome::Draw => return Some(self.word("draw").to_owned()),
        };
        let side = self.side(winner);
        Some(say!(self.language, "{side} won"))
    }

    /// The result in the words of one side, if it is one.
    fn result_of(&self, sides: Vec<Color>) -> String {
        let outcome = self.game.record.game.black_outcome;
        match (sides.as_slice(), outcome) {
            ([side], Some(outcome)) => match outcome.in_view_of(*side) {
                Outcome::Win => self.word("win").to_owned(),
                Outcome::Draw => self.word("draw").to_owned(),
                Outcome::Loss => self.word("loss").to_owned(),
            },
            _ => self.result().unwrap_or_default(),
        }
    }

    /// Whether a win rate of the page is by a constant that is not the engine's.
    fn assumes(&self) -> bool {
        self.engines.iter().any(|series| matches!(series.scale, Scale::Assumed(_)))
    }

    /// What is said of the scale of win rates.
    fn scale_note(&self) -> String {
        // one for all engines of a game
        let assumed = self.engines.iter().find_map(|series| match series.scale {
            Scale::Assumed(constant) => Some(constant),
            Scale::Calibrated(_) => None,
        });
        match assumed {
            None => self.word("bands: 95% intervals of the calibrations").to_owned(),
            Some(constant) => {
                let [low, high] = [constant / ASSUMED_WITHIN, constant * ASSUMED_WITHIN];
                say!(
                    self.language,
                    "without a calibration of every engine: a constant of {constant:.0} is assumed, and the band is \
                     what constants from {low:.0} to {high:.0} say"
                )
            }
        }
    }

    /// The graph of the win rate.
    ///
    /// # Errors
    /// No engine has a score, or options out of range.
    pub fn graph(&self, options: &PlotOptions) -> Result<DrawnGame, PlotError> {
        // in chess one move of each side is a move
        let step = if self.is_chess() { 2.0 } else { 1.0 };
        let line = |(color, series): (usize, &Series)| {
            let point = |at: usize| {
                let [win_rate, low, high] = series.known(at)?.rates;
                Some(Point { x: at as f64 / step, win_rate, low, high, count: 0 })
            };
            let points = (0..series.said.len()).filter_map(point).collect();
            let gap = if series.own.is_some() { 4.0 } else { 2.0 };
            GameLine { name: self.name(series), color, points, gap: gap / step }
        };
        let side = self.side(self.game.view());
        let graph = GameGraph {
            title: self.title(),
            caption: self.result().unwrap_or_default(),
            axes: [self.word("number of moves").to_owned(), say!(self.language, "win rate of {side}")],
            plies: self.game.length(),
            lines: self.engines.iter().enumerate().map(line).collect(),
            notes: vec![self.scale_note()],
        };
        game_graph(&graph, &PlotOptions { language: self.language, ..*options })
    }

    fn drawn(&self, class: &str, width: u32, height: u32) -> Result<Markup, PlotError> {
        let drawn = match self.graph(&PlotOptions { width, height, tolerance: 0.1, ..PlotOptions::default() }) {
            Ok(drawn) => drawn,
            Err(PlotError::Nothing { .. }) => {
                return Ok(html! { p class=(class) { (Safe(self.word("no score to draw"))) } });
            }
            Err(error) => return Err(error),
        };
        let [left, right, top, bottom] = drawn.frame;
        // the last move of chess may be White's
        let share = if self.is_chess() { 0.5 } else { 1.0 } * self.game.moves.len() as f64;
        let right = left + (right - left) * share / self.game.length().max(1) as f64;
        let frame = [left, right, top, bottom].map(|px| format!("{px:.1}")).join(" ");
        Ok(html! {
            figure class={ "graph " (class) } data-frame=(frame) { (PreEscaped(drawn.figure.svg_for_page())) } "\n"
        })
    }

    /// The positions and what engines say of them, for the script.
    fn data(&self) -> String {
        let words = |words: &Words| self.words(words).to_owned();
        let said = |series: &Series, at: usize| -> Value {
            let Some(said) = series.known(at) else { return Value::Null };
            let rates = said.rates.map(|rate| (rate * 1_000.0).round() / 10.0);
            json!([rates, self.score(&said.score), said.best.as_ref().map(words)])
        };
        let position = |(at, place): (usize, &crate::games::Place)| {
            let played = at.checked_sub(1).and_then(|at| self.game.moves.get(at));
            json!({
                "p": place.text,
                "m": self.played(at),
                "u": played.map(|played| &played.text),
                "t": played.and_then(|played| played.seconds).map(|seconds| self.seconds(seconds)),
                "e": self.engines.iter().map(|series| said(series, at)).collect::<Vec<_>>(),
            })
        };
        let letters: serde_json::Map<String, Value> = match self.is_chess() {
            true => serde_json::Map::new(),
            false => PIECES
                .iter()
                .zip(KANJI)
                .filter_map(|((_, name), (_, kanji))| Some(((*name).to_owned(), json!(plot::letter(kanji)?))))
                .collect(),
        };
        let names = [Color::Black, Color::White].map(|side| self.player(side));
        let mut mistakes: Vec<(usize, String)> = Vec::new();
        for cost in self.mistakes() {
            let (verdict, points) = (self.word(cost.verdict()), cost.points());
            let better = self.better(cost);
            mistakes.push((cost.ply, say!(self.language, "{verdict}, cost {points}; better: {better}")));
        }
        // at the worst mistake, else at the last position of which something is known
        let known = |at: &usize| self.engines.iter().any(|series| series.known(*at).is_some());
        let last = (0..self.game.positions.len()).rev().find(known);
        let open = mistakes.first().map(|(ply, _)| *ply).or(last);
        mistakes.sort_by_key(|(ply, _)| *ply);
        let document = json!({
            "open": open.unwrap_or(0),
            "mistakes": mistakes,
            "chess": self.is_chess(),
            "letters": letters,
            "players": names,
            "positions": self.game.positions.iter().enumerate().map(position).collect::<Vec<_>>(),
        });
        // nothing in the text ends the element, whatever the players are called
        document.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }

    fn score(&self, score: &Score) -> String {
        match score {
            Score::Cp(cp) => evalcurve_words::text::signed(*cp, 0),
            Score::Mate { wins, plies } => {
                let side = self.side(if *wins { self.game.view() } else { self.game.view().opponent() });
                match plies {
                    Some(plies) => say!(self.language, "mate by {side} in {plies}"),
                    None => say!(self.language, "mate by {side}"),
                }
            }
        }
    }

    fn seconds(&self, seconds: f64) -> String {
        if seconds >= 60.0 {
            let whole = seconds.round() as u64;
            return format!("{}:{:02}", whole / 60, whole % 60);
        }
        let decimals = usize::from(seconds.fract() != 0.0);
        say!(self.language, "{} s", format!("{seconds:.decimals$}"))
    }

    fn head(&self) -> Markup {
        let game = &self.game.record.game;
        let mut facts = Vec::new();
        facts.extend(self.result());
        let moves = self.game.length();
        facts.push(say!(self.language, "{moves} moves"));
        for side in [Color::Black, Color::White] {
            if let Some(rating) = game.ratings[side.index()] {
                let name = self.side(side);
                facts.push(say!(self.language, "rating of {name} {rating:.0}"));
            }
        }
        facts.extend(game.start_time.map(|time| time.to_string()));
        facts.extend(Some(game.time_control.clone()).filter(|control| !control.is_empty()));
        html! {
            h1 { (Safe(self.title())) }
            p class="soft" { (Safe(facts.join(" · "))) }
            @if let Some(illegal) = &self.game.illegal { p class="warn" { (Safe(illegal.text(self.language))) } }
        }
    }

    fn desk(&self) -> Result<Markup, PlotError> {
        let button = |id: &str, sign: &str, label: &str| {
            html! {
                button type="button" id=(id) aria-label=(self.word(label)) title=(self.word(label)) { (sign) }
            }
        };
        let mistake = |id: &str, left: &str, right: &str, label: &str| {
            button(id, &format!("{left}{}{right}", self.word(key!("mistake"))), label)
        };
        let last = self.game.positions.len().saturating_sub(1);
        let side = self.side(self.game.view());
        let words = [
            self.word("engine").to_owned(),
            say!(self.language, "win rate of {side}"),
            self.word("score").to_owned(),
            self.word("would play").to_owned(),
        ];
        let without_script = self.word("The board needs JavaScript; the tables below do not.");
        let class = |at: usize| matches!(at, 0 | 3).then_some("text");
        Ok(html! {
            div class="desk" {
                div class="play" {
                    div id="board" { noscript { (Safe(without_script)) } }
                    div class="moves" {
                        (button("first", "|◀", key!("start of the game"))) (button("back", "◀", key!("one move back")))
                        (button("on", "▶", key!("one move on"))) (button("last", "▶|", key!("end of the game")))
                        (button("turn", "⇅", key!("turn the board")))
                    }
                    @if !self.mistakes().is_empty() {
                        div class="moves" {
                            (mistake("worse", "◀ ", "", key!("previous mistake")))
                            (mistake("next", "", " ▶", key!("next mistake")))
                        }
                    }
                    input type="range" id="ply" min="0" max=(last) value=(last) aria-label=(self.word("move"));
                    p id="now" aria-live="polite" { }
                }
                div class="judged" {
                    (self.drawn("wide", 760, 400)?)
                    (self.drawn("narrow", 480, 430)?)
                    table class="said" {
                        thead {
                            tr { @for (at, word) in words.iter().enumerate() { th class=[class(at)] { (Safe(word)) } } }
                        }
                        tbody id="said" {
                            @for (at, series) in self.engines.iter().enumerate() {
                                tr {
                                    td class="text" {
                                        (self.ink(at)) (Safe(self.name(series)))
                                    }
                                    td { } td { } td class="text" { }
                                }
                            }
                        }
                    }
                    (self.costly())
                }
            }
        })
    }

    /// The line of an engine in the graph.
    fn ink(&self, at: usize) -> Markup {
        let stroke = if self.engines.len() > 1 { plot::dashed(at) } else { plot::color(at) };
        let (r, g, b) = stroke.rgb;
        html! {
            svg class="dot" viewBox="0 0 30 6" aria-hidden="true" {
                line x1="0" x2="30" y1="3" y2="3" stroke={ "rgb(" (r) "," (g) "," (b) ")" } stroke-width="3"
                    stroke-dasharray=(stroke.dash) { }
            }
        }
    }

    /// What the engines would have played.
    fn better(&self, cost: &Cost) -> String {
        better(self.engines, cost.ply).into_iter().map(|words| self.words(words)).collect::<Vec<_>>().join(", ")
    }

    fn costly(&self) -> Markup {
        let rows: Vec<&Cost> = self.mistakes().into_iter().take(MOST_ROWS).collect();
        let (mistake, blunder) = (100.0 * MISTAKE, 100.0 * BLUNDER);
        let judged = self.costs.len();
        let mut notes = vec![say!(
            self.language,
            "A move costs what the win rate of its player falls by, in points of 100, the mean over the engines: a \
             mistake from {mistake:.0} points on, a blunder from {blunder:.0} points on. {judged} moves were judged."
        )];
        if self.engines.iter().any(|series| series.own.is_some()) {
            notes.push(
                self.word(
                    "A player's own scores are from before its moves. What it lost until its next move counts, so the \
                 opponent's reply is in it.",
                )
                .to_owned(),
            );
        }
        let edges = self.engines.iter().filter_map(|series| series.deeper.first().zip(series.noise));
        notes.extend(edges.map(|((limit, _), edge)| {
            let edge = (100.0 * edge).ceil();
            say!(
                self.language,
                "Moves that look bad were searched again with {limit}, before and after, and what was left again, \
                 deeper still, after the better move, too: a position is worth no more than that. ± is the noise of \
                 that search in four of five cases ({edge:.0} points), or what the last search changed, if that is \
                 more; a cost counts where more than that is left. A move that an engine would have played itself \
                 costs nothing."
            )
        }));
        if self.assumes() {
            notes.push(self.scale_note());
        }
        let percent = |rate: f64| format!("{:.0}%", 100.0 * rate);
        html! {
            h2 id="costs" { (Safe(self.word("Moves that cost most"))) }
            @for doubt in self.engines.iter().filter_map(|series| self.game.doubt(series)) {
                p class="warn" { (Safe(doubt.text(self.language))) }
            }
            @if let Some(text) = self.accuracy() { p { (Safe(text)) } }
            @if rows.is_empty() { p { (Safe(no_mistake(judged, self.engines, self.language))) } }
            @else {
                (self.rows(
                    &[
                        key!("move"),
                        key!("player"),
                        key!("verdict"),
                        key!("cost"),
                        key!("win rate"),
                        key!("would play"),
                    ],
                    rows.iter().map(|cost| (cost.ply, vec![
                        self.player(cost.side).to_owned(),
                        self.word(cost.verdict()).to_owned(),
                        cost.points(),
                        format!("{} → {}", percent(cost.rates[0]), percent(cost.rates[1])),
                        self.better(cost),
                    ])),
                    &[],
                ))
            }
            @for note in &notes { (soft(note)) }
        }
    }

    /// How accurate the players were.
    fn accuracy(&self) -> Option<String> {
        let [black, white] = [Color::Black, Color::White].map(|side| accuracy(&self.costs, side));
        let (black, white) = black.zip(white)?;
        let [first, second] = [Color::Black, Color::White].map(|side| self.player(side));
        Some(say!(
            self.language,
            "Accuracy by lichess's formula for a move, with these win rates: {first} {black:.0}%, {second} {white:.0}%"
        ))
    }

    /// A table whose first cells show a position. `below` has a sentence for each row, or nothing.
    fn rows(&self, head: &[&str], rows: impl Iterator<Item = (usize, Vec<String>)>, below: &[String]) -> Markup {
        html! {
            div class="scroll" tabindex="0" {
                table class="jumps" {
                    thead { tr { @for word in head { th scope="col" class="text" { (Safe(self.word(word))) } } } }
                    tbody {
                        @for (row, (at, cells)) in rows.enumerate() {
                            tr class=[below.get(row).map(|_| "told")] {
                                td class="text" { a href={ "#" (at) } data-ply=(at) { (Safe(self.played(at))) } }
                                @for cell in &cells { td class="text" { (Safe(cell)) } }
                            }
                            @if let Some(below) = below.get(row) {
                                tr { td class="text below" colspan=(head.len()) { (Safe(below)) } }
                            }
                        }
                    }
                }
            }
        }
    }

    fn disagreements(&self) -> Markup {
        let found = disagreements(self.engines, self.game.positions.len());
        if self.engines.len() < 2 {
            return html! {};
        }
        // for the side to move, as all that is said of conflicts
        let cell = |at: usize, series: &Series| {
            let Some(said) = series.at(at) else { return "–".to_owned() };
            let best = said.best.as_ref().map_or_else(String::new, |best| format!(" {}", self.words(best)));
            let rate = self.game.rate_of(self.game.positions[at].side, said);
            format!("{:.0}%{best}", 100.0 * rate)
        };
        let names: Vec<String> = self.engines.iter().map(|series| self.name(series)).collect();
        let mut head = vec![key!("after move"), key!("apart")];
        head.extend(names.iter().map(String::as_str));
        let told: Vec<String> =
            found.iter().filter(|_| !self.known.is_empty()).map(|(at, _)| self.verdict(*at)).collect();
        let mistake = 100.0 * MISTAKE;
        html! {
            h2 { (Safe(self.word("Where the engines disagree"))) }
            (soft(say!(
                self.language,
                "Positions where their win rates of the side to move are furthest apart, by {mistake:.0} points or \
                 more, and their bands do not meet."
            )))
            @if found.is_empty() { p { (Safe(self.word("Nowhere in this game."))) } }
            @else {
                (self.rows(&head, found.iter().map(|(at, apart)| {
                    let cells = self.engines.iter().map(|series| cell(*at, series));
                    (*at, std::iter::once(format!("{:.0}", 100.0 * apart)).chain(cells).collect())
                }), &told))
            }
        }
    }

    /// Which engine to believe in a position, and what that rests on.
    fn verdict(&self, at: usize) -> String {
        let dispute = dispute(self.game, self.engines, at, self.known);
        dispute.map_or_else(String::new, |dispute| {
            let names = self.engines.iter().map(|series| self.name(series)).collect::<Vec<_>>();
            verdict(&dispute, &names, self.language)
        })
    }

    fn times(&self) -> Markup {
        let of = |side: Color| {
            let moves = self.game.moves.iter().zip(&self.game.positions).enumerate();
            moves
                .filter(move |(_, (_, place))| place.side == side)
                .filter_map(|(at, (played, _))| Some((at + 1, played.seconds?)))
        };
        let mut all: Vec<(usize, f64)> = [Color::Black, Color::White].into_iter().flat_map(of).collect();
        // programs that do not measure write 0
        if all.iter().all(|(_, seconds)| *seconds == 0.0) {
            return html! {};
        }
        let total = |side: Color| {
            let (count, sum) = of(side).fold((0_u32, 0.0), |(count, sum), (_, seconds)| (count + 1, sum + seconds));
            let (name, sum, mean) = (
                self.player(side),
                self.seconds(sum),
                self.seconds((10.0 * sum / f64::from(count.max(1))).round() / 10.0),
            );
            say!(self.language, "{name}: {sum} for {count} moves, {mean} each")
        };
        let lines = [Color::Black, Color::White].map(total);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let rows = all.iter().take(5).map(|(ply, seconds)| {
            let side = self.game.positions[ply - 1].side;
            let cost = self.costs.iter().find(|cost| cost.ply == *ply);
            let cost = cost.map_or_else(|| "–".to_owned(), Cost::points);
            (*ply, vec![self.player(side).to_owned(), self.seconds(*seconds), cost])
        });
        html! {
            h2 { (Safe(self.word("Time used"))) }
            ul { @for line in &lines { li { (Safe(line)) } } }
            (self.bars(&all))
            (soft(self.word("The longest thoughts:")))
            (self.rows(&[key!("move"), key!("player"), key!("time"), key!("cost")], rows, &[]))
        }
    }

    /// Seconds by move, Black's above the line.
    fn bars(&self, all: &[(usize, f64)]) -> Markup {
        let most = all.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max).max(1e-9);
        let step = 600.0 / self.game.moves.len().max(1) as f64;
        let bar = |(ply, seconds): &(usize, f64)| {
            let (height, left) = (46.0 * seconds / most, step * (*ply as f64 - 1.0));
            let black = self.game.positions[ply - 1].side == Color::Black;
            let top = if black { 50.0 - height } else { 50.0 };
            html! {
                rect class=(if black { "black" } else { "white" }) x=(format!("{left:.1}")) y=(format!("{top:.1}"))
                    width=(format!("{:.1}", (0.8 * step).max(0.6))) height=(format!("{height:.1}")) { }
            }
        };
        let [black, white] = [Color::Black, Color::White].map(|side| self.side(side));
        let words = say!(self.language, "time by move: {black} above the line, {white} below");
        html! {
            svg class="bars" viewBox="0 0 600 100" preserveAspectRatio="none" role="img" aria-label=(Safe(&words)) {
                @for one in all { (bar(one)) }
                line x1="0" x2="600" y1="50" y2="50" { }
            }
            (soft(words))
        }
    }

    fn scales(&self) -> Markup {
        let scale = |series: &Series| match &series.scale {
            Scale::Calibrated(calibration) => {
                let constant = evalcurve_app::report::text::constant(calibration);
                constant.unwrap_or_else(|| calibration.model.kind.to_string())
            }
            Scale::Assumed(constant) => say!(self.language, "{constant:.0}, assumed"),
        };
        let table = Table::new(self.language, "", self.engines)
            .text(self.word("engine"), |series: &&Series| self.name(series))
            .text(self.word("limit"), |series| series.limit.clone().unwrap_or_default())
            .number(self.word("positions"), |series| series.said.iter().flatten().count().to_string())
            .text("1/w1 [95%]", |series| scale(series))
            .prose(self.word("note"), |series| {
                series.given_up.as_ref().map_or_else(String::new, |why| why.text(self.language))
            });
        let version = env!("CARGO_PKG_VERSION");
        html! {
            h2 { (Safe(self.word("How scores became win rates"))) }
            (Block::from(table))
            @if self.assumes() {
                p class="warn" { (Safe(self.scale_note())) }
                (soft(self.word(
                    "`evalcurve constant `engine` COMMAND` measures the constant of an engine, and `evalcurve \
                     calibrate` writes its calibration; give it with `calibrations`.",
                )))
            }
            (soft(self.word(
                "The win rate is that of the side to move between equals when players like those of the calibration go \
                 on, turned to one side for the graph. It is without the ratings of the players, and without what \
                 engines think too well of the side to move.",
            )))
            (soft(say!(self.language, "{} · evalcurve {version}", file_name(&self.game.record.source))))
        }
    }

    fn moves(&self) -> Markup {
        let head: Vec<String> = [self.word("move"), self.word("time"), self.word("cost")]
            .map(str::to_owned)
            .into_iter()
            .chain(self.engines.iter().map(|series| self.name(series)))
            .collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let rows = (1..=self.game.moves.len()).map(|ply| {
            let seconds = self.game.moves[ply - 1].seconds.map_or_else(String::new, |seconds| self.seconds(seconds));
            let cost = self.costs.iter().find(|cost| cost.ply == ply);
            let cost = cost.map_or_else(String::new, Cost::points);
            let rate = |series: &Series| {
                series.known(ply).map_or_else(String::new, |said| {
                    format!("{:.0}% ({})", 100.0 * said.rates[0], self.score(&said.score))
                })
            };
            (ply, [seconds, cost].into_iter().chain(self.engines.iter().map(rate)).collect())
        });
        folded(self.word("All moves"), "", false, self.rows(&head, rows, &[]))
    }

    /// The page as HTML. The same game and scores give the same bytes.
    ///
    /// # Errors
    /// A figure that cannot be drawn.
    pub fn html(&self) -> Result<String, PlotError> {
        self.page(false)
    }

    /// The same with a link to the list of the games beside it.
    ///
    /// # Errors
    /// A figure that cannot be drawn.
    pub fn html_in_set(&self) -> Result<String, PlotError> {
        self.page(true)
    }

    fn page(&self, in_set: bool) -> Result<String, PlotError> {
        let body = html! {
            header {
                @if in_set { p { a href="index.html" { "← " (Safe(self.word("Games"))) } } }
                (self.head())
            }
            main {
                (self.desk()?)
                (self.disagreements()) (self.times()) (self.scales()) (self.moves())
            }
            script type="application/json" id="game" { (PreEscaped(self.data())) }
            script { (PreEscaped(SCRIPT)) }
        };
        Ok(document(&self.title(), GAME_STYLE, self.language, body))
    }
}

/// Whom to believe in a dispute, by what such conflicts came to.
pub fn verdict(dispute: &Dispute<'_>, names: &[String], language: Language) -> String {
    let Some(known) = dispute.known else { return say!(language, "cannot tell: no such conflict is known") };
    let [high, low] = dispute.engines.map(|engine| &names[engine]);
    let believe = match dispute.believe() {
        Some(engine) => names[engine].clone(),
        None => say!(language, "cannot tell"),
    };
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let [said_high, said_low] = known.said.map(percent);
    let ends = known
        .was_interval()
        .map_or_else(String::new, |[low, high]| format!(" [{:.0}, {:.0}]", 100.0 * low, 100.0 * high));
    let (was, nearer) = (percent(known.was.value), percent(known.first_nearer));
    let (positions, games) = (known.positions, known.games);
    say!(
        language,
        "{believe}: where {high} said {said_high} between equals and {low} {said_low}, the side to move scored \
         {was}{ends}, and {high} was nearer in {nearer} ({positions} positions, {games} games)"
    )
}

const SCRIPT: &str = include_str!("game.js");
const GAME_STYLE: &str = include_str!("game.css");

/// Mistakes on the page of a set.
const MOST_LISTED: usize = 60;

/// The page of several games: the mistakes in all of them, worst first, the games, and what they come to.
pub fn index(pages: &[(String, GamePage<'_>)], review: &Review<'_>, language: Language) -> String {
    let word = |english| language.word(english);
    let title = match review.players {
        [] => word("Games").to_owned(),
        players => say!(language, "Games of {}", players.join(word(", "))),
    };
    let all = review.mistakes();
    let (found, judged, count) = (all.len(), review.costs.iter().map(Vec::len).sum::<usize>(), pages.len());
    let engines = review.series.first().map_or(&[][..], Vec::as_slice);
    let percent = |rate: f64| format!("{:.0}%", 100.0 * rate);
    let head = |words: &[&str]| {
        html! { thead { tr { @for word in words { th scope="col" class="text" { (Safe(language.word(word))) } } } } }
    };
    let worst = html! {
        div class="scroll" tabindex="0" { table class="jumps worst" {
            (head(&[key!("move"), key!("verdict"), key!("cost"), key!("win rate"), key!("better move"),
                key!("phase of the game"), key!("game")]))
            tbody { @for (game, cost) in all.iter().take(MOST_LISTED) {
                @let (file, page) = &pages[*game];
                tr {
                    td class="text" { a href={ (file) "#" (cost.ply) } { (Safe(page.played(cost.ply))) } }
                    td class="text" { (Safe(word(cost.verdict()))) }
                    td class="text" { (Safe(cost.points())) }
                    td class="text" { (Safe(format!("{} → {}", percent(cost.rates[0]), percent(cost.rates[1])))) }
                    td class="text" { (Safe(page.better(cost))) }
                    td class="text" { (Safe(word(PHASES[page.game.phase(cost.ply)]))) }
                    td class="text" { (Safe(page.title())) }
                }
            } }
        } }
    };
    let games = html! {
        div class="scroll" tabindex="0" { table class="jumps games" {
            (head(&[key!("players"), key!("date"), key!("result"), key!("number of moves"), key!("accuracy"),
                key!("mistakes"), key!("blunders"), key!("game")]))
            tbody { @for game in review.in_time() {
                @let (file, page) = &pages[game];
                @let mistakes = page.mistakes();
                @let date = page.game.record.game.start_time.map(|t| format!("{}-{:02}-{:02}", t.year, t.month, t.day));
                tr {
                    td class="text" { a href=(file) { (Safe(page.title())) } }
                    td class="text" { (Safe(date.unwrap_or_default())) }
                    td class="text" { (Safe(page.result_of(review.sides(game)))) }
                    td { (page.game.length()) }
                    td { (Safe(review.accuracy(game).map_or_else(String::new, |percent| format!("{percent:.0}%")))) }
                    td { (mistakes.len()) }
                    td { (mistakes.iter().filter(|cost| cost.is_blunder()).count()) }
                    td class="text" { (Safe(&review.names[game])) }
                }
            } }
        } }
    };
    let phases = Table::new(language, "", review.phases())
        .text(word("phase of the game"), |phase: &Phase| word(phase.name).to_owned())
        .number(word("moves judged"), |phase| phase.moves.to_string())
        .number(word("mistakes"), |phase| phase.mistakes.to_string())
        .number(word("blunders"), |phase| phase.blunders.to_string())
        .number(word("mean cost"), |phase| format!("{:.1}", 100.0 * phase.cost));
    let ends = match pages.first().is_some_and(|(_, page)| page.is_chess()) {
        true => say!(
            language,
            "The opening ends with move {}, and the endgame begins with material of {CHESS_ENDGAME} (pawns, pieces \
             3, rooks 5, queens 9, of both sides).",
            OPENING[1] / 2
        ),
        false => {
            say!(language, "The opening ends with move {}, the middlegame with move {SHOGI_ENDGAME}.", OPENING[0])
        }
    };
    let body = html! {
        h1 { (Safe(&title)) }
        @if !review.players.is_empty() {
            p { (Safe(say!(language, "{found} mistakes in {judged} moves of {count} games"))) }
        }
        h2 { (Safe(word("Moves that cost most"))) }
        @if all.is_empty() { p { (Safe(no_mistake(judged, engines, language))) } }
        @else { (worst) }
        h2 { (Safe(word("By phase of the game"))) }
        (Block::from(phases))
        (soft(ends))
        h2 { (Safe(word("Games"))) }
        @if let Some(trend) = review.trend(language) { p { (Safe(trend)) } }
        (accuracies(review, language))
        (games)
    };
    document(&title, GAME_STYLE, language, body)
}

/// The accuracies of the games in the order of their dates, as bars.
fn accuracies(review: &Review<'_>, language: Language) -> Markup {
    let all: Vec<f64> = review.in_time().into_iter().filter_map(|game| review.accuracy(game)).collect();
    if all.len() < 3 {
        return html! {};
    }
    let step = 600.0 / all.len() as f64;
    let words = say!(language, "accuracy by game in the order of dates: the lines are 50% and 100%");
    html! {
        svg class="bars" viewBox="0 0 600 104" preserveAspectRatio="none" role="img" aria-label=(Safe(&words)) {
            @for (at, percent) in all.iter().enumerate() {
                rect class="black" x=(format!("{:.1}", step * at as f64)) y=(format!("{:.1}", 102.0 - percent))
                    width=(format!("{:.1}", 0.8 * step)) height=(format!("{percent:.1}")) { }
            }
            @for y in [2, 52] { line x1="0" x2="600" y1=(y) y2=(y) { } }
        }
        (soft(words))
    }
}
