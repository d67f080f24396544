//! Buffer-sharing policies and AQMs, each checked against a slow second implementation and its
//! paper's claims (`docs/policies.md`).

mod abm;
mod abm_bursts;
mod asking;
mod credence;
mod edt;
mod expression;
mod fab;
mod fallback;
mod followers;
mod harmonic;
mod intelligent_buffer;
mod log;
mod ndt;
mod oracle;
mod pred;
mod push_out;
mod red;
mod registry;
mod reserve;
mod reverie;
mod smartbuf;
mod sojourn;
mod traffic;
