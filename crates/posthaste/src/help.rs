//! What every command has of help: `-?`, as MQ's commands have it, and how the texts behind the options are laid out in
//! `--help`.
//!
//! Invariants: what is indented in the source (examples) stays as it is, under a heading; what is not
//! are paragraphs, whose lines the parser breaks where the terminal ends.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// Whether a text begins with what can be typed.
fn is_example(text: &str) -> bool {
    ["posthaste ", "echo "]
        .iter()
        .any(|word| text.starts_with(word))
}

/// A text with its paragraphs in one line each, and a heading if it begins with examples.
fn laid_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    // A literal that begins with a line continuation has lost the blanks of its first line.
    let text = text.trim_start();
    if is_example(text) {
        out.push_str("Examples:\n  ");
    }
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        let flows = |line: &str| {
            !(line.is_empty() || line.starts_with(' ') || line.ends_with(':') || is_example(line))
        };
        match lines.peek() {
            Some(next) if flows(line) && !next.is_empty() && !next.starts_with(' ') => {
                out.push(' ')
            }
            Some(_) => out.push('\n'),
            None => {}
        }
    }
    out
}

/// The command with `-?` and all its texts laid out, and so its subcommands.
pub(crate) fn lay_out(command: Command) -> Command {
    // To the parser it is an option like others, so that it is none where a value stands.
    let asked = Arg::new("-?")
        .short('?')
        .action(ArgAction::HelpLong)
        .hide(true);
    let command = command.arg(asked);
    let text = command.get_after_help().map(StyledStr::to_string);
    let command = match text {
        Some(text) => command.after_help(laid_out(&text)),
        None => command,
    };
    command.mut_subcommands(lay_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn examples_stay_and_paragraphs_flow() {
        let text = "posthaste x      so\n  echo a\n\nLong lines\nare one.\nAs here:\n  again";
        assert_eq!(
            laid_out(text),
            "Examples:\n  posthaste x      so\n  echo a\n\nLong lines are one. As here:\n  again"
        );
        assert_eq!(laid_out(&format!("  {text}")), laid_out(text));
        assert_eq!(laid_out("Try it:\n  a"), "Try it:\n  a");
    }

    /// Everything that is shown fits a usual terminal, and examples line up.
    #[test]
    fn every_help_fits_and_lines_up() {
        fn look(command: &mut Command, seen: &mut usize) {
            let help = command.clone().term_width(100).render_help().to_string();
            for line in help.lines() {
                assert!(
                    line.chars().count() <= 100,
                    "{}: {line}",
                    command.get_name()
                );
                assert!(!is_example(line), "{}: {line}", command.get_name());
            }
            *seen += 1;
            let names: Vec<String> = command
                .get_subcommands()
                .map(|c| c.get_name().to_owned())
                .collect();
            for name in names {
                if let Some(inner) = command.find_subcommand_mut(&name) {
                    look(inner, seen);
                }
            }
        }
        let mut command = lay_out(crate::cli::Cli::command());
        command.build();
        let mut seen = 0;
        look(&mut command, &mut seen);
        assert!(seen > 15, "{seen}");
    }
}
