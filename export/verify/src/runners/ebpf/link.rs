//! Links the functions of an eBPF object file into one program, as loaders do.
//!
//! The kernel's loaders place the functions that an entry calls after it and fill in the calls.
//! This does the same, with callees after their callers: rbpf only calls forward.

use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind};
use std::collections::BTreeMap;

/// A linked program.
pub(crate) struct Linked {
    /// Its instructions, 8 bytes each.
    pub(crate) code: Vec<u8>,
    /// The functions of the trees alone, in the order of the forest.
    pub(crate) trees: Vec<Vec<u8>>,
}

/// Bytes of an instruction.
const INSTRUCTION: usize = 8;

/// `call`, with a function of the program as callee.
const CALL: [u8; 2] = [0x85, 0x10];

/// The relocation of such a call, `R_BPF_64_32`.
const CALL_RELOCATION: u32 = 10;

/// A function as compiled.
struct Function {
    name: String,
    section: usize,
    /// First byte in its section.
    start: usize,
    code: Vec<u8>,
    /// The targets of unresolved calls: offset of the call, section and first byte.
    calls: BTreeMap<usize, (usize, usize)>,
}

impl Linked {
    /// Links an object file's functions, the one called `entry` first.
    ///
    /// # Errors
    /// The fault, or what is not understood.
    pub(crate) fn new(object: &[u8], entry: &str) -> Result<Self, String> {
        let mut functions = functions(object).map_err(|error| error.to_string())??;
        // C defines functions before their callers.
        functions.reverse();
        let at = functions.iter().position(|function| function.name == entry);
        let entry = functions.remove(at.ok_or_else(|| format!("has no function {entry}"))?);
        functions.insert(0, entry);
        let mut places = BTreeMap::new();
        let mut next = 0;
        for function in &functions {
            places.insert((function.section, function.start), next);
            next += function.code.len();
        }
        let mut code = Vec::with_capacity(next);
        for function in &functions {
            let place = code.len();
            code.extend_from_slice(&function.code);
            for (&at, callee) in &function.calls {
                let target = *places.get(callee).ok_or("calls into the middle of a function")?;
                let next = place + at + INSTRUCTION;
                let distance = (target as i64 - next as i64) / INSTRUCTION as i64;
                let distance = i32::try_from(distance).map_err(|_| "is too long")?;
                code[place + at + 4..next].copy_from_slice(&distance.to_le_bytes());
            }
        }
        let mut trees: Vec<(usize, Vec<u8>)> = Vec::new();
        for function in functions {
            let number = function.name.rsplit_once("_tree_").and_then(|(_, n)| n.parse().ok());
            trees.extend(number.map(|number| (number, function.code)));
        }
        trees.sort();
        Ok(Linked { code, trees: trees.into_iter().map(|(_, code)| code).collect() })
    }
}

/// The functions of an object file, by section and offset.
fn functions(object: &[u8]) -> object::Result<Result<Vec<Function>, String>> {
    let file = object::File::parse(object)?;
    let mut functions = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let (Some(index), true) = (symbol.section_index(), symbol.size() > 0) else { continue };
        let section = file.section_by_index(index)?;
        let (start, size) = (symbol.address() as usize, symbol.size() as usize);
        let Some(code) = section.data()?.get(start..start + size) else {
            return Ok(Err("is damaged".to_owned()));
        };
        let mut calls = BTreeMap::new();
        for (offset, relocation) in section.relocations() {
            let Some(at) = (offset as usize).checked_sub(start).filter(|&at| at < size) else {
                continue;
            };
            let RelocationTarget::Symbol(callee) = relocation.target() else { continue };
            let callee = file.symbol_by_index(callee)?;
            let is_call = code[at..].starts_with(&CALL)
                && relocation.flags() == RelocationFlags::Elf { r_type: CALL_RELOCATION };
            let (Some(section), true) = (callee.section_index(), is_call) else {
                let name = symbol.name()?;
                return Ok(Err(format!("needs more than calls linked, at byte {at} of {name}")));
            };
            // The compiler's operand is relative to the symbol, minus one instruction.
            let left = i32::from_le_bytes([code[at + 4], code[at + 5], code[at + 6], code[at + 7]]);
            let beyond = (i64::from(left) + 1) * INSTRUCTION as i64;
            calls.insert(at, (section.0, (callee.address() as i64 + beyond) as usize));
        }
        let name = symbol.name()?.to_owned();
        functions.push(Function { name, section: index.0, start, code: code.to_vec(), calls });
    }
    functions.sort_by_key(|function| (function.section, function.start));
    let open = functions.iter().flat_map(|function| {
        let places = (0..function.code.len()).step_by(INSTRUCTION);
        places.filter(|&at| {
            function.code[at..].starts_with(&CALL) && !function.calls.contains_key(&at)
        })
    });
    let unknown = open.count();
    Ok(if unknown == 0 {
        Ok(functions)
    } else {
        Err(format!("has {unknown} calls of static functions"))
    })
}
