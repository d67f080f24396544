//! The protocol of programs on standard input and output.
//!
//! Input: only the values of the rows, row by row, as little-endian `u32`. Output: for each row two
//! little-endian `u32`, its score and its decision (1: a drop is predicted).

use crate::error::io_error;
use crate::tool::checked;
use crate::{Answers, VerifyError};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Sends `rows` to a program and reads its answers.
///
/// # Errors
/// If it cannot be run, fails, or gives the wrong number of answers.
pub(crate) fn ask(command: &mut Command, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
    let output = fed(command, &encode(rows))?;
    let bytes = checked(output, command, "predicting")?;
    decode(&bytes, rows.len()).map_err(|problem| VerifyError::BadAnswer {
        program: command.get_program().to_string_lossy().into_owned(),
        problem,
    })
}

/// The output of a command, given `input` on standard input.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Result<Output, VerifyError> {
    let program = Path::new(command.get_program()).to_owned();
    feed(command, input).map_err(io_error(&program, "be run"))
}

fn feed(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // It may exit before reading everything; then its status says why.
        let write = move || stdin.map(|mut stdin| stdin.write_all(input));
        let thread = std::thread::Builder::new().spawn_scoped(scope, write);
        let output = child.wait_with_output();
        thread.and(output)
    })
}

/// Rows in the programs' input format.
pub(crate) fn encode(rows: &[Vec<u32>]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

/// The answers to a number of rows, or the fault in them.
fn decode(bytes: &[u8], rows: usize) -> Result<Answers, String> {
    let (answers, rest) = bytes.as_chunks::<8>();
    if answers.len() != rows || !rest.is_empty() {
        return Err(format!("answered {rows} rows with {} bytes, not 8 for each", bytes.len()));
    }
    let (mut scores, mut drops) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (row, &[a, b, c, d, e, f, g, h]) in answers.iter().enumerate() {
        scores.push(u32::from_le_bytes([a, b, c, d]));
        drops.push(match u32::from_le_bytes([e, f, g, h]) {
            0 => false,
            1 => true,
            other => return Err(format!("decided {other} for row {row}, neither 0 nor 1")),
        });
    }
    Ok(Answers { scores: Some(scores), drops: Some(drops) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_little_endian_values() {
        let bytes = encode(&[vec![1, 0x0102_0304], vec![u32::MAX, 0]]);
        assert_eq!(bytes, [1, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255, 0, 0, 0, 0]);
    }

    #[test]
    fn answers_are_checked() {
        let good = [7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let answers = Answers { scores: Some(vec![263, 0]), drops: Some(vec![true, false]) };
        assert_eq!(decode(&good, 2), Ok(answers));
        assert!(decode(&good, 1).is_err());
        assert!(decode(&good[..15], 2).is_err());
        assert!(
            decode(&[0, 0, 0, 0, 2, 0, 0, 0], 1).is_err_and(|problem| problem.contains("row 0"))
        );
    }
}
