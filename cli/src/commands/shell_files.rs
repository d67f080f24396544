//! `dropcast completions` and `dropcast man`: what shells and readers want of a command.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output;
use clap::{Command, CommandFactory};
use dropcast_data::write_atomic;
use dropcast_pipeline::files::create_folder;
use std::io;
use std::path::Path;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dropcast", &mut text);
    output::print_text(&String::from_utf8_lossy(&text))
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    create_folder(&args.output)?;
    let mut command = Cli::command();
    command.build();
    write_pages(&command, "dropcast", &args.output)
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
