//! Buffer-sharing policies and AQMs, each held to a slow second implementation and to what its paper
//! claims (`docs/policies.md`).

mod abm;
mod log;
mod traffic;
