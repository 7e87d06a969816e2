//! The text report of learned weights.

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{columns, printable, shown_or, thousands};
use evalcurve_fit::curve::Z_95;
use evalcurve_rules::replay::{Against, Regret};
use evalcurve_rules::weights::MemberWeight;
use evalcurve_words::language::Language;
use evalcurve_words::say;

use crate::learn::{Learned, LearnedMember, LearnedRule};

/// Columns of a name.
const NAME: usize = 20;

/// The report that `evalcurve replay --learn` prints; `written` is the file of the weights.
pub fn text(found: &Learned, written: Option<&str>, language: Language) -> String {
    let weights = &found.weights;
    let count = |n: usize| thousands(n as u64);
    let [games, decisions, pairs] = [weights.votes.games, weights.votes.decisions, weights.votes.pairs].map(count);
    let teacher = printable(&weights.teacher);
    let mut out =
        say!(language, "teacher {teacher}: {pairs} pairs of moves, in {decisions} decisions of {games} games\n");
    out += &match weights.shrinkage {
        Some(strength) => {
            say!(language, "drawn towards equal weights with strength {strength:.2}, by cross-validation\n")
        }
        None => say!(language, "the votes do not tell the weights from equal ones\n"),
    };
    out.push('\n');
    out += &members(found, language);
    out.push('\n');
    out += &rules(found, language);
    let best = percent(&found.best_vote);
    out += &say!(language, "the best of the votes: {best}\n");
    if let Some(file) = written {
        out += &say!(language, "\nwritten {file}; a council reads it by weights = \"{file}\"\n");
    }
    out
}

fn members(found: &Learned, language: Language) -> String {
    let word = |english| language.word(english);
    let rows: Vec<(&MemberWeight, &LearnedMember)> = found.weights.members.iter().zip(&found.members).collect();
    let interval = |of: &MemberWeight| shown_or("-", of.interval, |[low, high]| format!("[{low:.2}, {high:.2}]"));
    let mut table = Columns::new()
        .gap(2)
        .name(word("member"), NAME, |(of, _): &(&MemberWeight, &LearnedMember)| of.name.clone())
        .right(word("weight"), columns(word("weight")).max(6), |(of, _)| format!("{:.2}", of.weight))
        .right(word("95% interval"), 14, move |(of, _)| interval(of));
    for (place, phase) in found.weights.members.iter().flat_map(|of| &of.phases).enumerate() {
        if place == found.weights.members[0].phases.len() {
            break;
        }
        let weight =
            move |of: &MemberWeight| shown_or("-", of.phases.get(place), |phase| format!("{:.2}", phase.weight));
        table = table.right(say!(language, "from ply {}", phase.from_ply), 12, move |(of, _)| weight(of));
    }
    let table = table.right(word("alone"), 6, |(_, member)| percent(&member.alone.regret)).when(
        found.members.iter().any(|member| member.without.is_some()),
        |table| {
            table.right(word("without it"), 14, |(_, member)| difference(member.without.as_ref())).left(
                "",
                0,
                |(_, member)| worth(member.without.as_ref(), language),
            )
        },
    );
    table.table(rows)
}

fn rules(found: &Learned, language: Language) -> String {
    let word = |english| language.word(english);
    let best = found.rules.iter().find_map(|rule| rule.against_best.as_ref());
    let best = best.map_or_else(String::new, |best| say!(language, "against {}", printable(&best.voter)));
    Columns::new()
        .gap(2)
        .name(word("regret of the rule"), NAME, |rule: &&LearnedRule| rule.rule.to_string())
        .right(word("equal"), 6, |rule| percent(&rule.equal))
        .right(word("learned"), columns(word("learned")), |rule| percent(&rule.learned))
        .right(word("difference"), 14, |rule| difference(rule.against_equal.as_ref()))
        .left("", columns(word("cannot tell")), |rule| verdict(rule.against_equal.as_ref(), language))
        .right(best.clone(), columns(&best).max(14), |rule| difference(rule.against_best.as_ref()))
        .left("", 0, |rule| verdict(rule.against_best.as_ref(), language))
        .table(&found.rules)
}

fn percent(regret: &Regret) -> String {
    shown_or("-", regret.mean, |mean| format!("{:.2}%", 100.0 * mean))
}

/// The difference in points of win rate with half of its 95% interval.
fn difference(of: Option<&Against>) -> String {
    shown_or("-", of, |of| {
        let half = of.standard_error.map_or_else(String::new, |error| format!(" ±{:.2}", 100.0 * Z_95 * error));
        format!("{:+.2}{half}", 100.0 * of.mean)
    })
}

/// -1, 0 or 1: whether the 95% interval is below 0, holds it, or is above it.
fn side(of: Option<&Against>) -> Option<i32> {
    let of = of?;
    let half = Z_95 * of.standard_error?;
    Some(if of.mean + half < 0.0 { -1 } else { i32::from(of.mean - half > 0.0) })
}

fn verdict(of: Option<&Against>, language: Language) -> String {
    let word = match side(of) {
        Some(-1) => language.word("better"),
        Some(1) => language.word("worse"),
        Some(_) => language.word("cannot tell"),
        None => "",
    };
    word.to_owned()
}

/// What the council without a member says of it.
fn worth(without: Option<&Against>, language: Language) -> String {
    let word = match side(without) {
        Some(1) => language.word("adds"),
        Some(-1) => language.word("harms"),
        Some(_) => language.word("cannot tell that it adds"),
        None => "",
    };
    word.to_owned()
}
