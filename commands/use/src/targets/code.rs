//! A calibration as source code: the formulas of its model in another language.

use evalcurve_calibration::model::Formula;
use evalcurve_calibration::write::nine_digits;
use evalcurve_calibration::{Calibration, Model, PawnValue, StageUnit};

use super::quote::{comment, quoted};

/// A language that the formulas can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    C,
    JavaScript,
}

impl Language {
    fn comment(self) -> &'static str {
        match self {
            Self::Rust | Self::C | Self::JavaScript => "//",
            Self::Python => "#",
        }
    }

    /// The first line. Python reads a file in the encoding that a comment of its first two lines names, and the name of
    /// an engine could be `coding: unicode_escape`; the first such comment counts.
    fn first(self) -> &'static str {
        if self == Self::Python { "# -*- coding: utf-8 -*-\n" } else { "" }
    }

    /// A function of the formulas in this language.
    fn function(self, name: &str) -> Option<&'static str> {
        let at = ["exp", "log1p", "min", "max"].iter().position(|f| *f == name)?;
        let all = match self {
            Self::Rust => ["f64::exp", "f64::ln_1p", "f64::min", "f64::max"],
            Self::Python => ["math.exp", "math.log1p", "min", "max"],
            Self::C => ["exp", "log1p", "fmin", "fmax"],
            Self::JavaScript => ["Math.exp", "Math.log1p", "Math.min", "Math.max"],
        };
        Some(all[at])
    }

    /// An expression with the functions of this language.
    fn expression(self, text: &str) -> String {
        let (mut out, mut word) = (String::new(), String::new());
        for c in text.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            out += self.function(&word).unwrap_or(&word);
            word.clear();
            out.push(c);
        }
        out.trim_end().to_owned()
    }

    fn constant(self, name: &str, values: &[f64]) -> String {
        let list = numbers(values);
        match (self, values.len()) {
            (Self::Rust, 1) => format!("const {name}: f64 = {list};"),
            (Self::Rust, n) => format!("const {name}: [f64; {n}] = [{list}];"),
            (Self::Python, 1) => format!("{name} = {list}"),
            (Self::Python, _) => format!("{name} = [{list}]"),
            (Self::C, 1) => format!("const double {name} = {list};"),
            (Self::C, _) => format!("const double {name}[] = {{{list}}};"),
            (Self::JavaScript, 1) => format!("const {name} = {list};"),
            (Self::JavaScript, _) => format!("const {name} = [{list}];"),
        }
    }

    fn step(self, name: &str, expression: &str) -> String {
        let expression = self.expression(expression);
        match self {
            Self::Rust => format!("let {name} = {expression};"),
            Self::Python => format!("{name} = {expression}"),
            Self::C => format!("const double {name} = {expression};"),
            Self::JavaScript => format!("const {name} = {expression};"),
        }
    }

    fn before(self) -> &'static str {
        match self {
            Self::Rust | Self::JavaScript => "",
            Self::Python => "\nimport math\n",
            Self::C => "\n#ifndef EVALCURVE_WIN_RATE_H\n#define EVALCURVE_WIN_RATE_H\n\n#include <math.h>\n",
        }
    }

    fn after(self) -> &'static str {
        if self == Self::C { "\n#endif\n" } else { "" }
    }

    /// A function with its documentation; the body is indented here.
    fn whole(self, about: &str, name: &str, arguments: &[&str], results: &[&str], body: &[String]) -> String {
        let lines: String = body.iter().map(|line| format!("    {line}\n")).collect();
        let each = |form: &dyn Fn(&str) -> String, names: &[&str]| {
            names.iter().map(|n| form(n)).collect::<Vec<_>>().join(", ")
        };
        let typed = each(&|n| format!("{n}: f64"), arguments);
        let doubles = each(&|n| format!("double {n}"), arguments);
        match (self, results) {
            (Self::Rust, [_]) => format!("\n/// {about}\npub fn {name}({typed}) -> f64 {{\n{lines}}}\n"),
            (Self::Rust, _) => {
                let types = vec!["f64"; results.len()].join(", ");
                format!("\n/// {about}\npub fn {name}({typed}) -> ({types}) {{\n{lines}}}\n")
            }
            (Self::Python, _) => {
                let arguments = arguments.join(", ");
                format!("\n\ndef {name}({arguments}):\n    \"\"\"{about}\"\"\"\n{lines}")
            }
            (Self::JavaScript, _) => {
                format!("\n/** {about} */\nexport function {name}({}) {{\n{lines}}}\n", arguments.join(", "))
            }
            (Self::C, [_]) => format!("\n// {about}\nstatic inline double {name}({doubles}) {{\n{lines}}}\n"),
            (Self::C, _) => {
                let results = each(&|n| format!("double *{n}_out"), results);
                format!("\n// {about}\nstatic inline void {name}({doubles}, {results}) {{\n{lines}}}\n")
            }
        }
    }

    /// The end of a function with one result.
    fn result(self, expression: &str) -> String {
        let expression = self.expression(expression);
        match self {
            Self::Rust => expression,
            Self::Python => format!("return {expression}"),
            Self::C | Self::JavaScript => format!("return {expression};"),
        }
    }

    /// The end of a function with several results.
    fn results(self, names: &[&str]) -> Vec<String> {
        match self {
            Self::Rust => vec![format!("({})", names.join(", "))],
            Self::Python => vec![format!("return {}", names.join(", "))],
            Self::JavaScript => vec![format!("return [{}];", names.join(", "))],
            Self::C => names.iter().map(|name| format!("*{name}_out = {name};")).collect(),
        }
    }
}

fn exact(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(", ")
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|v| format!("{:?}", nine_digits(*v))).collect::<Vec<_>>().join(", ")
}

/// What the constants are and where they come from.
fn preamble(calibration: &Calibration, remarks: &[String], mark: &str) -> String {
    let model = calibration.model.kind;
    let fit = calibration.models.get(&model);
    let from = match fit.and_then(|f| f.samples.zip(f.games)) {
        Some((samples, games)) => format!(", fitted to {samples} samples of {games} games"),
        None => String::new(),
    };
    let name = quoted(&calibration.engine.name);
    let tool = &calibration.tool;
    let first = format!("Win rates of {name}: model {model}{from} ({} {})", tool.name, tool.version);
    [first].iter().chain(remarks).map(|line| comment(mark, line)).collect()
}

/// The pawn value as a sentence and a whole number.
fn pawn_remark(pawn: &PawnValue) -> String {
    let ends = pawn.a.interval.map_or_else(String::new, |[low, high]| format!(" [{low:.1}, {high:.1}]"));
    format!("A score of {:.1}{ends} wins 50% of the games at {} {}", pawn.a.value, pawn.unit.as_str(), pawn.stage)
}

/// The source code of a calibration with these remarks; `None` if the model is no formula.
pub(super) fn code(calibration: &Calibration, language: Language, remarks: &[String]) -> Option<String> {
    let Formula { arguments, constants, steps } = calibration.model.model.formula()?;
    let pawn = calibration.pawn_value();
    let mut remarks = remarks.to_vec();
    remarks.push("Scores are in the view of the side to move.".to_owned());
    remarks.push(match calibration.wdl_model() {
        None => "The rates are those between players of equal strength.".to_owned(),
        Some(_) => {
            "The rates are those of these games: the model does not know how strong the players were.".to_owned()
        }
    });
    remarks.push("An announced mate wins or loses, and is not to be passed.".to_owned());
    remarks.extend(pawn.as_ref().map(pawn_remark));
    if arguments.contains(&"rating") {
        remarks
            .push("rating: that of both players, or the mean; seconds: the base and 40 increments of a player.".into());
        remarks.push("Outside FROM_ and TO_ the nearest counts, and win rates are not known.".into());
    }
    let arguments: Vec<&str> = ["score_cp"].into_iter().chain(arguments).collect();
    let mut text =
        language.first().to_owned() + &preamble(calibration, &remarks, language.comment()) + language.before();
    let mut body: Vec<String> = constants.iter().map(|(name, values)| language.constant(name, values)).collect();
    let (last, steps) = steps.split_last()?;
    body.extend(steps.iter().map(|(name, expression)| language.step(name, expression)));
    if steps.iter().any(|(name, _)| *name == "draw") {
        let results = ["win", "draw", "loss"];
        body.extend(language.results(&results));
        let about = "The shares of wins, draws and losses.";
        text += &language.whole(about, "win_draw_loss", &arguments, &results, &body);
        let pass = arguments.join(", ");
        body = match language {
            Language::Rust => vec![format!("let (win, draw, _) = win_draw_loss({pass});")],
            Language::Python => vec![format!("win, draw, _ = win_draw_loss({pass})")],
            Language::JavaScript => vec![format!("const [win, draw] = win_draw_loss({pass});")],
            Language::C => {
                vec!["double win, draw, loss;".to_owned(), format!("win_draw_loss({pass}, &win, &draw, &loss);")]
            }
        };
    }
    body.push(language.result(last.1));
    text += &language.whole("The win rate, a draw as half a win.", "win_rate", &arguments, &["win_rate"], &body);
    Some(text + language.after())
}

/// Constants and functions in the form of Stockfish's source; `None` unless the model separates draws.
pub(super) fn stockfish(calibration: &Calibration, remarks: &[String]) -> Option<String> {
    let wdl = calibration.wdl_constants()?;
    let stage = wdl.stage.target();
    let (a, b) = calibration.a_and_b(stage)?;
    let pawn = PawnValue { unit: wdl.stage, stage, a, b };
    let mut remarks = remarks.to_vec();
    remarks.push(match calibration.wdl_model() {
        Some(_) => pawn_remark(&pawn),
        None => format!("Between players of equal strength a score of {:.1} wins 50% of the games", pawn.a.value),
    });
    // a share of the games of the joint model follows no score
    let wins = match &calibration.model.model {
        Model::Joint(joint) if joint.lapse > 0.0 => {
            let (at_any_score, rest) = (joint.lapse - 0.5 * joint.drawn, 1.0 - 2.0 * joint.lapse);
            remarks.push(format!("{:.3}% of the games are won at any score", 100.0 * at_any_score));
            format!("{at_any_score:?} + {rest:?} / ")
        }
        _ => "1.0 / ".to_owned(),
    };
    let argument = match wdl.stage {
        StageUnit::Material => {
            "    // pawns and pieces of both sides\n    const int stage = pos.count<PAWN>() + 3 * pos.count<KNIGHT>()\n\
             \x20                   + 3 * pos.count<BISHOP>() + 5 * pos.count<ROOK>()\n\
             \x20                   + 9 * pos.count<QUEEN>();\n"
        }
        StageUnit::Ply => "    const int stage = pos.game_ply();\n",
    };
    let (low, high, target) = (wdl.from_stage, wdl.to_stage, pawn.stage);
    Some(format!(
        "{preamble}\nconstexpr int NormalizeToPawnValue = {pawn:.0};\n\n\
         struct WinRateParams {{\n    double a;\n    double b;\n}};\n\n\
         WinRateParams win_rate_params(const Position& pos) {{\n{argument}\
         \x20   const double m = std::clamp(stage, {low}, {high}) / {target:.1};\n\n\
         \x20   constexpr double as[] = {{{a}}};\n\
         \x20   constexpr double bs[] = {{{b}}};\n\n\
         \x20   return {{((as[0] * m + as[1]) * m + as[2]) * m + as[3],\n\
         \x20           ((bs[0] * m + bs[1]) * m + bs[2]) * m + bs[3]}};\n\
         }}\n\n\
         // the share of wins; that of losses is win_rate(-v, pos), the rest are draws\n\
         double win_rate(double v, const Position& pos) {{\n\
         \x20   const auto [a, b] = win_rate_params(pos);\n\
         \x20   return {wins}(1.0 + std::exp((a - v) / b));\n\
         }}\n\n\
         // the score to print, 100 for the pawn value of this position\n\
         int to_cp(double v, const Position& pos) {{\n\
         \x20   return int(std::round(100.0 * v / win_rate_params(pos).a));\n\
         }}\n\n\
         // wins, draws and losses in permille, as UCI_ShowWDL prints them\n\
         std::string wdl(double v, const Position& pos) {{\n\
         \x20   const int win = int(std::lround(1000.0 * win_rate(v, pos)));\n\
         \x20   const int loss = std::min(int(std::lround(1000.0 * win_rate(-v, pos))), 1000 - win);\n\
         \x20   const int draw = 1000 - win - loss;\n\
         \x20   return std::to_string(win) + \" \" + std::to_string(draw) + \" \" + std::to_string(loss);\n\
         }}\n",
        preamble = preamble(calibration, &remarks, "//"),
        pawn = pawn.a.value,
        a = exact(&wdl.a),
        b = exact(&wdl.b),
    ))
}
