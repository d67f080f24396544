//! Descriptions of all switches of an input: one for all of them, or a list.

use super::not_modelled::refusal;
use super::spec::{SpecError, SpecText, SwitchSpec, wrong};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The switches of one input: one description for all of them, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SpecsText", into = "SpecsText")]
#[allow(clippy::large_enum_variant, reason = "there is one for each input")]
pub enum SwitchSpecs {
    /// Every switch is like this.
    Same(SwitchSpec),
    /// By switch number.
    Each(BTreeMap<u16, SwitchSpec>),
}

impl SwitchSpecs {
    /// Queues of all switches of an input together, at most. A report keeps about 2 KB for each.
    pub const MOST_QUEUES: usize = 1 << 18;

    /// The description of switch `id`, if there is one.
    pub fn get(&self, id: u16) -> Option<&SwitchSpec> {
        match self {
            SwitchSpecs::Same(spec) => Some(spec),
            SwitchSpecs::Each(specs) => specs.get(&id),
        }
    }

    /// Every description, in order of switch number.
    pub fn all(&self) -> impl Iterator<Item = &SwitchSpec> {
        let (same, each) = match self {
            SwitchSpecs::Same(spec) => (Some(spec), None),
            SwitchSpecs::Each(specs) => (None, Some(specs.values())),
        };
        same.into_iter().chain(each.into_iter().flatten())
    }

    /// Says that there are too many queues.
    pub(crate) fn too_many(queues: usize) -> String {
        let most = SwitchSpecs::MOST_QUEUES;
        format!(
            "makes {queues} queues in all, at most {most} are kept at once; give fewer switches at a time"
        )
    }

    /// Parses a switch description file.
    ///
    /// # Errors
    /// The TOML parser's message, which names the line and what is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The description as a TOML file.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a switch description has only TOML's types")
    }
}

/// Several switches as they are written: `[[switch]]` tables with an `id`.
#[derive(Clone, Debug, Serialize)]
struct ListText {
    switch: Vec<NumberedText>,
}

#[derive(Clone, Debug, Serialize)]
struct NumberedText {
    id: u16,
    #[serde(flatten)]
    spec: SpecText,
}

/// Either form. It is a list when a `switch` key is present, so that a mistake in a single description is
/// reported as what it is.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "there is one for each input")]
enum SpecsText {
    Each(ListText),
    Same(SpecText),
}

impl<'de> Deserialize<'de> for SpecsText {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut table = toml::Table::deserialize(input)?;
        refuse_known(&table).map_err(D::Error::custom)?;
        let Some(switches) = table.remove("switch") else {
            return table.try_into().map(SpecsText::Same).map_err(D::Error::custom);
        };
        if let Some(key) = table.keys().next() {
            let problem = format!("unknown field `{key}` beside [[switch]], expected it in each");
            return Err(D::Error::custom(problem));
        }
        let toml::Value::Array(switches) = switches else {
            return Err(D::Error::custom("switch: expected a list of tables, [[switch]]"));
        };
        let numbered = |(place, switch)| {
            NumberedText::read(switch)
                .map_err(|why| D::Error::custom(format!("[[switch]] number {}{why}", place + 1)))
        };
        let switch = switches.into_iter().enumerate().map(numbered).collect::<Result<_, _>>()?;
        Ok(SpecsText::Each(ListText { switch }))
    }
}

impl NumberedText {
    /// Reads a table. Serde's `flatten` would pass over unknown fields.
    ///
    /// # Errors
    /// What is wrong, after its id.
    fn read(switch: toml::Value) -> Result<Self, String> {
        let toml::Value::Table(mut table) = switch else {
            return Err(": expected a table".to_owned());
        };
        let Some(id) = table.remove("id") else { return Err(": missing field `id`".to_owned()) };
        let place = format!(" (id = {id})");
        let id = id.try_into().map_err(|_| format!("{place}: id: expected 0 to 65535"))?;
        refuse_known(&table).map_err(|why| format!("{place}: {why}"))?;
        let spec = table.try_into();
        let spec = spec.map_err(|why: toml::de::Error| format!("{place}: {}", why.message()))?;
        Ok(NumberedText { id, spec })
    }
}

/// Refuses what is known and not modelled, with the reason.
fn refuse_known(table: &toml::Table) -> Result<(), String> {
    table.keys().find_map(|key| refusal(key)).map_or(Ok(()), Err)
}

impl TryFrom<SpecsText> for SwitchSpecs {
    type Error = SpecError;

    fn try_from(text: SpecsText) -> Result<Self, SpecError> {
        let list = match text {
            SpecsText::Same(spec) => return Ok(SwitchSpecs::Same(spec.try_into()?)),
            SpecsText::Each(list) => list.switch,
        };
        let mut specs = BTreeMap::new();
        let of = |NumberedText { spec, .. }: &NumberedText| {
            usize::from(spec.ports) * usize::from(spec.queues_per_port)
        };
        let queues: usize = list.iter().map(of).sum();
        if queues > SwitchSpecs::MOST_QUEUES {
            return Err(wrong("switch", SwitchSpecs::too_many(queues)));
        }
        for NumberedText { id, spec } in list {
            let spec = SwitchSpec::try_from(spec).map_err(|SpecError { field, problem }| {
                wrong(field, format!("{problem} (switch {id})"))
            })?;
            if specs.insert(id, spec).is_some() {
                return Err(wrong("switch.id", format!("{id} is described twice")));
            }
        }
        if specs.is_empty() {
            return Err(wrong("switch", "is an empty list"));
        }
        Ok(SwitchSpecs::Each(specs))
    }
}

impl From<SwitchSpecs> for SpecsText {
    fn from(specs: SwitchSpecs) -> Self {
        match specs {
            SwitchSpecs::Same(spec) => SpecsText::Same(spec.into()),
            SwitchSpecs::Each(specs) => {
                let numbered = |(id, spec): (_, SwitchSpec)| NumberedText { id, spec: spec.into() };
                SpecsText::Each(ListText { switch: specs.into_iter().map(numbered).collect() })
            }
        }
    }
}
