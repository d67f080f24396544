//! XGBoost's text dump, as `Booster.dump_model("m.txt")` writes it: a line for each node.
//!
//! ```text
//! booster[0]:
//! 0:[queue_length<1000] yes=1,no=2,missing=2,gain=9.5,cover=12
//!     1:leaf=-0.25,cover=5
//! ```

use super::xgboost_node::NodeText;

/// The nodes of every tree, each tree's first one its root. An error is a line and what is wrong.
pub(super) fn read(file: &[u8]) -> Result<Vec<Vec<NodeText>>, (String, String)> {
    let text = std::str::from_utf8(file).map_err(|error| {
        ("the file".to_owned(), format!("is not text from byte {} on", error.valid_up_to()))
    })?;
    let mut trees: Vec<Vec<NodeText>> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        let wrong = |problem: &str| (format!("line {line}"), problem.to_owned());
        if text.is_empty() {
            continue;
        }
        if text.starts_with("booster[") && text.ends_with("]:") {
            trees.push(Vec::new());
            continue;
        }
        let tree = trees.last_mut().ok_or_else(|| wrong("a tree begins with booster[...]:"))?;
        tree.push(node(text).map_err(wrong)?);
    }
    match trees.iter().position(Vec::is_empty) {
        Some(at) => Err((format!("tree {at}"), "has no nodes".to_owned())),
        None => Ok(trees),
    }
}

/// A node from its line.
fn node(text: &str) -> Result<NodeText, &'static str> {
    let (number, rest) = text.split_once(':').ok_or("a node begins with its number and a colon")?;
    let nodeid = number.parse().map_err(|_| "a node begins with its number and a colon")?;
    let mut node = NodeText { nodeid, ..NodeText::default() };
    let Some(rest) = rest.strip_prefix('[') else {
        let value = field(rest, "leaf").ok_or("has neither a leaf nor a split in brackets")?;
        node.leaf = Some(value.parse().map_err(|_| "the leaf is not a number")?);
        return Ok(node);
    };
    let (split, fields) = rest.split_once(']').ok_or("the split's bracket is not closed")?;
    // Without a threshold it splits on whether a feature is there, or on categories.
    let (name, threshold) = split
        .rsplit_once('<')
        .ok_or("does not compare a feature with a number, which all that integer trees do is")?;
    let threshold: f64 = threshold.parse().map_err(|_| "the threshold is not a number")?;
    node.split = Some(name.to_owned());
    node.split_condition = serde_json::Number::from_f64(threshold).map(Into::into);
    let child = |key| field(fields, key).and_then(|number| number.parse().ok());
    (node.yes, node.no, node.missing) = (child("yes"), child("no"), child("missing"));
    Ok(node)
}

/// The value of `key` among `key=value` pairs with commas between them.
fn field<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = fields.trim().split(',').filter_map(|pair| pair.split_once('='));
    pairs.find(|&(found, _)| found == key).map(|(_, value)| value)
}
