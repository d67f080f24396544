//! Buffer-sharing policies and AQMs, each held to a slow second implementation and to what its paper
//! claims (`docs/policies.md`).

mod abm;
mod asking;
mod credence;
mod edt;
mod fab;
mod harmonic;
mod log;
mod ndt;
mod pred;
mod red;
mod registry;
mod smartbuf;
mod traffic;
