//! `evalcurve-lab serve` and `evalcurve-lab join`: the two ends of the council protocol over TCP.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;

use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand};
use evalcurve_engine::Game;
use evalcurve_engine::usi::{Launch, Protocol};
use evalcurve_words::language::Text;
use evalcurve_words::whole_file::read_text;
use evalcurve_words::{key, text};

use crate::protocol::{self, JoinOptions, ServeOptions};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab serve --listen 127.0.0.1:4081 --name gps
      a USI engine whose moves come from the program that logs in as gps
  evalcurve-lab serve --listen 0.0.0.0:4081 --password-file secret.txt
      the program may run on another machine and needs a password
To make it a member of a council, use command = \"evalcurve-lab\", args = [\"serve\", \"--listen\", \"127.0.0.1:4081\"]. \
commands/lab/protocol.md describes the protocol.")]
pub struct ServeArgs {
    /// Address and port; addresses that other machines can reach require a password
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4081")]
    listen: String,

    /// The game of `position startpos`: shogi, minishogi, or other-usi, whose moves are not checked
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// The only login name to accept [default: any]
    #[arg(long)]
    name: Option<String>,

    /// A file with the password in its first line
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// How long isready waits for a login
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    login_ms: u64,

    /// Time for an answer if go gives none (infinite, depth, nodes)
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    answer_ms: u64,

    /// How late an answer may be before the program is dropped
    #[arg(long, value_name = "MS", default_value_t = 2_000)]
    grace_ms: u64,

    /// Let the program use its book
    #[arg(long)]
    book: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab join 127.0.0.1:4081 --name gps -- ./fairy-stockfish
      the engine answers the server's questions until the server sends LOGOUT
  evalcurve-lab join server:4081 --name zshogi --go \"depth 8\" -- node zshogi-usi.mjs
      an engine that does not support movetime")]
pub struct JoinArgs {
    /// The server
    #[arg(value_name = "ADDRESS:PORT")]
    server: String,

    /// The login name
    #[arg(long)]
    name: String,

    /// A file with the password in its first line
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// An option of the engine; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    option: Vec<(String, String)>,

    /// Limits to send after go instead of movetime
    #[arg(long, value_name = "LIMIT")]
    go: Option<String>,

    /// Time to subtract from what the server gives
    #[arg(long, value_name = "MS", default_value_t = 100)]
    margin_ms: u64,

    /// The engine and its arguments, after --
    #[arg(required = true, last = true, value_name = "ENGINE")]
    engine: Vec<OsString>,
}

fn game(name: &str) -> Result<Game, Text> {
    let game: Option<Game> = name.parse().ok();
    game.filter(|game| game.protocol() == Protocol::Usi).ok_or_else(|| text!("write shogi, minishogi or other-usi"))
}

fn option(text: &str) -> Result<(String, String), Text> {
    let (name, value) = text.split_once('=').ok_or_else(|| text!("write NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn password(file: Option<&PathBuf>) -> anyhow::Result<Option<String>> {
    file.map(|file| {
        let text = read_text(file).about(|| text!("{}: cannot read the password", file.display()))?;
        let word = text.lines().next().unwrap_or_default().trim().to_owned();
        anyhow::ensure!(
            !word.is_empty(),
            text!("{}: the first line is empty; write the password there", file.display())
        );
        anyhow::ensure!(
            !word.contains(char::is_whitespace),
            text!("{}: a password must not contain blanks", file.display())
        );
        Ok(word)
    })
    .transpose()
}

impl Subcommand for ServeArgs {
    const NAME: &'static str = "serve";
    const ABOUT: &'static str = key!("Serve the council protocol of Hanawa & Ito 2009");
    const HEADING: Heading = Heading::Play;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        serve(self)
    }
}

fn serve(args: &ServeArgs) -> anyhow::Result<Done> {
    let options = ServeOptions {
        listen: args.listen.clone(),
        game: args.game,
        name: args.name.clone(),
        password: password(args.password_file.as_ref())?,
        login_ms: args.login_ms,
        answer_ms: args.answer_ms,
        grace_ms: args.grace_ms,
        book: args.book,
    };
    protocol::serve(&options, BufReader::new(std::io::stdin()), std::io::stdout())?;
    Ok(Done::Yes)
}

impl Subcommand for JoinArgs {
    const NAME: &'static str = "join";
    const ABOUT: &'static str = key!("Connect a USI engine to a council server (Hanawa & Ito 2009)");
    const HEADING: Heading = Heading::Play;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        join(self)
    }
}

fn join(args: &JoinArgs) -> anyhow::Result<Done> {
    let Some((command, arguments)) = args.engine.split_first() else {
        anyhow::bail!(text!("name the engine after --"))
    };
    evalcurve_engine::usi::stop_engines_on_signals()?;
    protocol::join(&JoinOptions {
        server: args.server.clone(),
        name: args.name.clone(),
        password: password(args.password_file.as_ref())?.unwrap_or_default(),
        engine: Launch { command: command.clone(), args: arguments.to_vec(), directory: None, environment: Vec::new() },
        options: args.option.clone(),
        go: args.go.clone(),
        margin_ms: args.margin_ms,
    })?;
    Ok(Done::Yes)
}
