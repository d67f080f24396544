//! Buffer-sharing policies and AQMs, each held to a slow second implementation and to what its paper
//! claims (`docs/policies.md`).

mod abm;
mod edt;
mod fab;
mod log;
mod smartbuf;
mod traffic;
