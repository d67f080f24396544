//! `dropcast reproduce fig14`.

use crate::args::Fig14Args;

pub(super) fn run(_args: &Fig14Args) -> anyhow::Result<()> {
    anyhow::bail!("figure 14 is being built")
}
