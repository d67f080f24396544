//! Names and parameters of policies and AQMs.

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use toml::Value;

/// Why a policy or an AQM cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A parameter is out of range.
    #[error("{parameter}: {problem}")]
    Parameter {
        /// Which.
        parameter: &'static str,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// It needs a trained model.
    #[error("{policy}: no model is given, expected the name of a file with a {expected}")]
    NoModel {
        /// The policy.
        policy: &'static str,
        /// The expected content of the file.
        expected: &'static str,
    },
}

impl BuildError {
    pub(crate) fn parameter(parameter: &'static str, problem: impl Into<String>) -> Self {
        BuildError::Parameter { parameter, problem: problem.into() }
    }
}

/// Why a text is not a policy or AQM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {problem}")]
pub struct NameError {
    text: String,
    problem: String,
}

/// A text is not longer, bytes: it is the name of a row or column wherever the policy is.
const MOST_BYTES: usize = 4096;

/// Reads `name` or `name:key=value,key=value`, values as in TOML; text needs no quotes.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, NameError> {
    if text.len() > MOST_BYTES {
        let problem = format!("is {} bytes long, expected at most {MOST_BYTES}", text.len());
        return Err(NameError { text: text.chars().take(40).collect::<String>() + "...", problem });
    }
    let read = || -> Result<T, toml::de::Error> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let mut table = toml::Table::new();
        for setting in split_outside_brackets(settings) {
            let (key, value) = setting
                .split_once('=')
                .ok_or_else(|| toml::de::Error::custom(format!("{setting:?} is not key=value")))?;
            if key.trim() == "name" {
                // The name stands before the colon.
                return Err(toml::de::Error::custom("name is no parameter"));
            }
            let value = value.trim();
            let value = value.parse().unwrap_or_else(|_| toml::Value::String(value.to_owned()));
            if table.insert(key.trim().to_owned(), value).is_some() {
                return Err(toml::de::Error::custom(format!("{} is given twice", key.trim())));
            }
        }
        table.insert("name".to_owned(), toml::Value::String(name.trim().to_owned()));
        table.try_into()
    };
    read().map_err(|error| NameError {
        text: text.to_owned(),
        problem: dropcast_features::with_suggestion(error.message()),
    })
}

/// Parameters that are written even with their defaults: nobody speaks of these policies without.
const ALWAYS_WRITTEN: [(&str, &str); 2] = [("dt", "alpha"), ("oracle", "base")];

/// The text that [`parse`] reads as this: the name, the parameters that differ from their defaults, and those of
/// [`ALWAYS_WRITTEN`].
pub(crate) fn spelled<T: Serialize + DeserializeOwned>(spec: &T) -> Option<String> {
    let mut own = toml::Table::try_from(spec).ok()?;
    let Some(Value::String(name)) = own.remove("name") else { return None };
    let defaults = toml::Table::try_from(parse::<T>(&name).ok()?).ok()?;
    own.retain(|key, value| {
        ALWAYS_WRITTEN.contains(&(&name, key)) || defaults.get(key) != Some(value)
    });
    let setting = |(key, value): (String, Value)| {
        let value = match value {
            Value::Table(_) => {
                let other: T = value.clone().try_into().ok()?;
                // A comma would end the setting.
                spelled(&other).filter(|text| split_outside_brackets(text).count() == 1)
            }
            _ => None,
        }
        .unwrap_or_else(|| value_text(&value));
        Some(format!("{key}={value}"))
    };
    let settings: Vec<String> = own.into_iter().map(setting).collect::<Option<_>>()?;
    Some(if settings.is_empty() { name } else { format!("{name}:{}", settings.join(",")) })
}

/// A value as users write it: text without quotes, whole numbers without a point.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(value_text).collect();
            format!("[{}]", values.join(","))
        }
        other => other.to_string(),
    }
}

/// The parts between commas outside brackets; none for an empty text.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |letter| {
        depth += match letter {
            '[' | '{' | '(' => 1,
            ']' | '}' | ')' => -1,
            _ => 0,
        };
        letter == ',' && depth == 0
    })
    .filter(|part| !part.is_empty())
}

/// An enum with one variant for each kind, which holds its parameters: a text or a table with
/// `name` for serde, `name:key=value,...` for `FromStr`. Each line says how one is built. `served by S` makes
/// `build` generic over a service `S` of virtual queues. `of dyn T` gives the parameters of any kind as a `T`.
macro_rules! registry {
    (@parameters $spec:ident [] $($variant:ident)+) => {};
    (@parameters $spec:ident [$parameters:ty] $($variant:ident)+) => {
        impl $spec {
            pub(crate) fn parameters(&self) -> &$parameters {
                match self {
                    $($spec::$variant(own) => own,)+
                }
            }

            pub(crate) fn parameters_mut(&mut self) -> &mut $parameters {
                match self {
                    $($spec::$variant(own) => own,)+
                }
            }
        }
    };
    (
        $(#[$doc:meta])*
        $spec:ident $(of $any:ty,)? builds $built:ty, from $own:ident and $site:ident: $context:ty
            $(, served by $service:ident)? {
            $(
                $(#[$variant_doc:meta])*
                $name:literal => $variant:ident($parameters:ty): $build:expr,
            )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = "name")]
        pub enum $spec {
            $($(#[$variant_doc])* #[serde(rename = $name)] $variant($parameters),)+
        }

        $crate::registry::registry!(@parameters $spec [$($any)?] $($variant)+);

        impl $spec {
            /// Every name.
            pub const NAMES: &[&str] = &[$($name),+];

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $($spec::$variant(_) => $name,)+
                }
            }

            /// Builds it for a switch.
            ///
            /// # Errors
            /// If a parameter is out of range, or a trained model is missing.
            pub fn build$(<$service: $crate::TimeModel + Clone + Send + 'static>)?(
                &self,
                $site: $context,
            ) -> Result<Box<$built>, $crate::BuildError> {
                Ok(match self {
                    $($spec::$variant($own) => {
                        let _ = $own;
                        Box::new($build)
                    })+
                })
            }
        }

        impl<'de> serde::Deserialize<'de> for $spec {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(tag = "name")]
                enum Table {
                    $(#[serde(rename = $name)] $variant($parameters),)+
                }

                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $spec;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a name, or a table with a name and parameters")
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$spec, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_map<M: serde::de::MapAccess<'de>>(
                        self,
                        map: M,
                    ) -> Result<$spec, M::Error> {
                        let table = serde::de::value::MapAccessDeserializer::new(map);
                        Ok(match <Table as serde::Deserialize>::deserialize(table)? {
                            $(Table::$variant(parameters) => $spec::$variant(parameters),)+
                        })
                    }
                }

                input.deserialize_any(Visitor)
            }
        }

        /// As users write it; parameters with their defaults are left out, but for the alpha of `dt` and the base of `oracle`.
        impl std::fmt::Display for $spec {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$crate::registry::spelled(self).ok_or(std::fmt::Error)?)
            }
        }

        impl std::str::FromStr for $spec {
            type Err = $crate::NameError;

            fn from_str(text: &str) -> Result<Self, $crate::NameError> {
                $crate::registry::parse(text)
            }
        }
    };
}

pub(crate) use registry;
