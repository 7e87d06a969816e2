//! Whether a judge of moves orders the members of a council as games between them do.

use std::path::Path;

use evalcurve_app::cli::terminal;
use evalcurve_rules::replay::Alone;
use evalcurve_words::language::Language;
use evalcurve_words::say;

use crate::match_stats::results_csv::read_tables;
use crate::match_stats::{Entry, Match, Matches, compare, strength};

/// A difference beyond this many standard errors decides (95%).
const DECIDES: f64 = 1.96;

/// Whether games say that the first of two players is the stronger one: those against each other, or else those
/// against a common opponent. `None` if they do not decide.
fn first_is_stronger(first: &str, second: &str, games: &[Match]) -> Option<bool> {
    let [of_first, of_second] = [first, second].map(|player| games.iter().filter(move |m| m.player == player));
    let direct = of_first.clone().find(|m| m.opponent == second);
    let direct = direct.and_then(|m| strength(&Entry::from(m).points())?.los);
    if let Some(los) = direct {
        return (!(0.025..=0.975).contains(&los)).then_some(los > 0.5);
    }
    of_first.clone().find_map(|a| {
        let b = of_second.clone().find(|b| b.opponent == a.opponent)?;
        let test = compare(a.games, b.games);
        (test.p() < 0.05).then_some(test.difference? > 0.0)
    })
}

/// Whether the order of the members by a judge, from the regret of their own moves, is that of games. The second part
/// names pairs of which it is the reverse; empty if there are none.
fn order(alone: &[Alone], games: &Matches, language: Language) -> (String, String) {
    let (games, mut reversed) = (games.both_views(), String::new());
    let (mut same, mut unknown, mut contradicted) = (0, 0, 0);
    for own in alone {
        for against in &own.against {
            let Some(stronger) = first_is_stronger(&own.voter, &against.voter, &games) else { continue };
            let decided = against.standard_error.is_some_and(|error| against.mean.abs() > DECIDES * error);
            let (better, worse) =
                if against.mean < 0.0 { (&own.voter, &against.voter) } else { (&against.voter, &own.voter) };
            match decided {
                false => unknown += 1,
                true if (against.mean < 0.0) == stronger => same += 1,
                true => {
                    contradicted += 1;
                    let (judge, points) = (&own.regret.reference, 100.0 * against.mean.abs());
                    reversed += &say!(
                        language,
                        "the order of {judge} is not that of games: by {judge}, {better} loses {points:.2} points of \
                         win rate a move less than {worse}; in games {worse} is the stronger one\n"
                    );
                }
            }
        }
    }
    let text = match same + unknown + contradicted {
        0 => language.word("the judge is not tested: games decide no pair of the members\n").to_owned(),
        pairs => say!(
            language,
            "pairs of members that games decide: {pairs}; in the same order by the judge {same}, reversed \
             {contradicted}, not decided by it {unknown}\n"
        ),
    };
    (text, reversed)
}

/// What [`Services::judged_as_games`](evalcurve_app::cli::Services::judged_as_games) does.
///
/// # Errors
/// A table that cannot be read.
pub fn judged_as_games(alone: &[Alone], games: &Path, language: Language) -> anyhow::Result<()> {
    let (text, reversed) = order(alone, &read_tables(&[games.to_owned()])?, language);
    terminal::print(&text)?;
    reversed.lines().for_each(terminal::warning);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_rules::replay::{Against, Regret};

    use crate::match_stats::Wdl;

    fn judged(voter: &str, against: &[(&str, f64)]) -> Alone {
        let against = against.iter().map(|&(voter, mean)| Against {
            voter: voter.to_owned(),
            mean,
            standard_error: Some(0.001),
            judged: 1_000,
        });
        let regret = Regret { reference: "J".into(), mean: None, standard_error: None, judged: 1_000, missing: 0 };
        Alone { voter: voter.to_owned(), regret, against: against.collect() }
    }

    fn games(list: &[(&str, &str, [u64; 3])]) -> Matches {
        let list = list.iter().map(|&(player, opponent, [wins, draws, losses])| Match {
            player: player.into(),
            opponent: opponent.into(),
            games: Wdl::new(wins, draws, losses),
            unpaired: wins + draws + losses,
            ..Match::default()
        });
        Matches { list: list.collect(), ..Matches::default() }
    }

    #[test]
    fn a_judge_is_compared_with_games_that_decide() {
        // by the judge, A is better than B and C, and nothing is known of B and C, which games against A decide
        let alone = [judged("A", &[("B", -0.01), ("C", -0.01)]), judged("B", &[("C", 0.001)]), judged("C", &[])];
        let english = Language::English;
        let (text, reversed) = order(&alone, &games(&[("A", "B", [20, 0, 80]), ("C", "A", [10, 0, 90])]), english);
        assert_eq!(
            text,
            "pairs of members that games decide: 3; in the same order by the judge 1, reversed 1, not decided by it 1\n"
        );
        assert!(reversed.starts_with("the order of J is not that of games: by J, A loses 1.00 points"), "{reversed}");
        assert!(reversed.contains("less than B; in games B is the stronger one\n"), "{reversed}");
        // by a common opponent, and games that do not decide
        let common = [("A", "X", [40, 0, 60]), ("B", "X", [70, 0, 30]), ("C", "X", [68, 0, 32])];
        let (text, reversed) = order(&alone, &games(&common), english);
        assert!(text.contains("games decide: 2;") && text.contains("reversed 2,"), "{text}");
        assert_eq!(reversed.lines().count(), 2);
        let (text, reversed) = order(&alone, &games(&[("B", "C", [80, 0, 20])]), english);
        assert!(text.contains("not decided by it 1") && reversed.is_empty(), "{text}");
        let (text, _) = order(&alone, &games(&[("A", "B", [5, 0, 5])]), english);
        assert!(text.starts_with("the judge is not tested"), "{text}");
    }
}
