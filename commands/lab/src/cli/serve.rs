//! `evalcurve-lab serve` and `evalcurve-lab join`: the two ends of the council protocol over TCP.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;

use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand};
use evalcurve_engine::usi::Launch;
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
To make it a member of a council, use command = \"evalcurve-lab\", args = [\"serve\", \"--listen\", \
\"127.0.0.1:4081\"]. commands/lab/protocol.md describes the protocol.")]
pub struct ServeArgs {
    #[command(flatten)]
    options: ServeOptions,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab join 127.0.0.1:4081 --name gps -- ./fairy-stockfish
      the engine answers the server's questions until the server sends LOGOUT
  evalcurve-lab join server:4081 --name zshogi --go \"depth 8\" -- node zshogi-usi.mjs
      an engine that does not support movetime")]
pub struct JoinArgs {
    #[command(flatten)]
    options: JoinOptions,

    /// The engine and its arguments, after --
    #[arg(required = true, last = true, value_name = "ENGINE")]
    engine: Vec<OsString>,
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
        let password = password(self.options.password_file.as_ref())?;
        let options = ServeOptions { password, ..self.options.clone() };
        protocol::serve(&options, BufReader::new(std::io::stdin()), std::io::stdout())?;
        Ok(Done::Yes)
    }
}

impl Subcommand for JoinArgs {
    const NAME: &'static str = "join";
    const ABOUT: &'static str = key!("Connect a USI engine to a council server (Hanawa & Ito 2009)");
    const HEADING: Heading = Heading::Play;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let Some((command, arguments)) = self.engine.split_first() else {
            anyhow::bail!(text!("name the engine after --"))
        };
        evalcurve_engine::usi::stop_engines_on_signals()?;
        protocol::join(&JoinOptions {
            password: password(self.options.password_file.as_ref())?.unwrap_or_default(),
            engine: Launch { command: command.clone(), args: arguments.to_vec(), ..Launch::default() },
            ..self.options.clone()
        })?;
        Ok(Done::Yes)
    }
}
