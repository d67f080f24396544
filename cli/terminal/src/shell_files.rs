//! The subcommands `completions` and `man`: what shells and readers want of a command.

use crate::failure::Failure;
use crate::output;
use clap::{Args, Command, CommandFactory};
use dropcast_data::write_atomic;
use dropcast_pipeline::files::create_folder;
use std::io;
use std::path::{Path, PathBuf};

/// Print a shell's completions of this command.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Write the man pages of this command and its subcommands.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for a page of the command and of each subcommand.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Prints the completions of `C`.
pub fn completions<C: CommandFactory>(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = C::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    output::print_text(&String::from_utf8_lossy(&text))
}

/// Writes the man pages of `C`.
pub fn man<C: CommandFactory>(args: &ManArgs) -> Result<(), Failure> {
    create_folder(&args.output)?;
    let mut command = C::command();
    command.build();
    let name = command.get_name().to_owned();
    write_pages(&command, &name, &args.output)
}

/// Writes the page of a command, whose full name is `name`, and those of its subcommands.
fn write_pages(command: &Command, name: &str, folder: &Path) -> Result<(), Failure> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
    man.render(&mut page).map_err(|error: io::Error| Failure::Output(error))?;
    write_atomic(&folder.join(format!("{name}.1")), &page)?;
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        write_pages(part, &format!("{name}-{}", part.get_name()), folder)?;
    }
    Ok(())
}
