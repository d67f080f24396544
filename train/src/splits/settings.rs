//! The settings of a split, checked in one place.

use super::choice::{Candidate, SplitChoice};
use super::split::Split;
use super::split_by::SplitBy;
use crate::share::{NotAShare, Share};
use serde::{Deserialize, Serialize};

/// How a user divides rows into training, validation and test rows.
///
/// By default 60% of the rows train, 20% validate and 20% test, and every part has drops
/// ([`SplitBy::Auto`]). A setting that the split would ignore is an error.
///
/// ```
/// use dropcast_train::{Part, SplitBy, SplitSettings};
///
/// let by_time = SplitSettings { by: SplitBy::Time, ..SplitSettings::default() };
/// let choice = by_time.check()?;
/// assert!(choice.stated().is_some_and(|split| split.keeps(Part::Validation)));
/// // By default the rows decide.
/// assert!(SplitSettings::default().check()?.stated().is_none());
/// # Ok::<(), dropcast_train::SplitError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields, default)]
pub struct SplitSettings {
    /// How rows are divided.
    #[cfg_attr(
        feature = "clap",
        arg(id = "split", long = "split", value_enum, default_value_t, value_name = "SPLIT")
    )]
    pub by: SplitBy,
    /// Share of training rows, for the splits auto, time and random; of drops for episodes. The default
    /// is 0.6.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_share: Option<f64>,
    /// Share of validation rows: vote thresholds and forests are chosen on them, and they do not
    /// train. The default is 0.2, or half of the rows that do not train if that is less. With 0,
    /// training rows are used for choosing.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_share: Option<f64>,
    /// Rows that arrive within this time after a cut are left out, nanoseconds, for the splits in time.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NS", default_value_t))]
    pub guard_ns: u64,
    /// The test switches, for the split switches.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID,...", value_delimiter = ','))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_switches: Vec<u16>,
    /// The validation switches, for the split switches.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID,...", value_delimiter = ','))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_switches: Vec<u16>,
}

/// Why settings are not a valid split. Each message begins with the wrong field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The share of training rows is not a share.
    #[error("train_share: {0}")]
    TrainShare(NotAShare),
    /// The share of validation rows is not a share.
    #[error("validation_share: {0}")]
    ValidationShare(NotAShare),
    /// No row can train.
    #[error("train_share: expected more than 0, or no rows train")]
    NothingTrains,
    /// The shares of training and validation rows add up to more than 1.
    #[error(
        "validation_share: {validation} and train_share = {train} add up to more than 1; lower one \
        of them"
    )]
    MoreThanAll {
        /// The share of training rows.
        train: f64,
        /// The share of validation rows.
        validation: f64,
    },
    /// Validation would take every time block that does not test.
    #[error(
        "validation_share: half of the time blocks test, so {0} leaves none to train on; expected \
        less than 0.5"
    )]
    AllBlocksValidate(f64),
    /// The split would ignore a setting.
    #[error("{field}: the split {by} does not use it; leave it out, or split by {used_by}")]
    Unused {
        /// The setting.
        field: &'static str,
        /// The split.
        by: SplitBy,
        /// The splits that use the setting.
        used_by: &'static str,
    },
    /// A split by switch without a test switch.
    #[error("test_switches: the split switches needs at least one test switch")]
    NoTestSwitches,
    /// A switch is in two parts.
    #[error("validation_switches: switch {0} cannot both test and validate")]
    TwoParts(u16),
}

/// Share of the rows that train, as in the Credence paper.
const TRAIN_SHARE: f64 = 0.6;
/// Share of the rows that validate.
const VALIDATION_SHARE: f64 = 0.2;

impl SplitSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// If a share is invalid, the shares do not fit together, or the split would ignore a setting.
    pub fn check(&self) -> Result<SplitChoice, SplitError> {
        self.refuse_unused()?;
        let (train_share, validation_share) = match self.by {
            SplitBy::None => return Ok(Split::None.into()),
            SplitBy::Switches => return Ok(self.by_switch()?.into()),
            SplitBy::TimeBlocks => return Ok(self.by_time_blocks(VALIDATION_SHARE)?.into()),
            SplitBy::Auto | SplitBy::Time | SplitBy::Episodes | SplitBy::Random => self.shares()?,
        };
        let guard_ns = self.guard_ns;
        let time = Split::Time { train_share, validation_share, guard_ns };
        let episodes = Candidate::Episodes { train_share, validation_share, guard_ns };
        Ok(match self.by {
            SplitBy::Time => time.into(),
            SplitBy::Random => Split::Random { train_share, validation_share }.into(),
            SplitBy::Episodes => SplitChoice::of(vec![(SplitBy::Episodes, episodes)]),
            _ => {
                let mut candidates = vec![(SplitBy::Time, time.into())];
                // Half of the blocks test.
                if let Ok(blocks) = self.by_time_blocks(validation_share.get()) {
                    candidates.push((SplitBy::TimeBlocks, blocks.into()));
                }
                candidates.push((SplitBy::Episodes, episodes));
                SplitChoice::of(candidates)
            }
        })
    }

    /// The same settings with the shares that the split uses written out.
    ///
    /// # Errors
    /// Those of [`SplitSettings::check`].
    pub fn with_shares(mut self) -> Result<Self, SplitError> {
        self.check()?;
        match self.by {
            SplitBy::Auto | SplitBy::Time | SplitBy::Episodes | SplitBy::Random => {
                let (train, validation) = self.shares()?;
                self.train_share = Some(train.get());
                self.validation_share = Some(validation.get());
            }
            SplitBy::TimeBlocks => {
                self.validation_share.get_or_insert(VALIDATION_SHARE);
            }
            SplitBy::Switches | SplitBy::None => {}
        }
        Ok(self)
    }

    /// Whether any setting differs from its default.
    pub fn is_default(&self) -> bool {
        *self == SplitSettings::default()
    }

    fn refuse_unused(&self) -> Result<(), SplitError> {
        use SplitBy::{Auto, Episodes, Random, Switches, Time, TimeBlocks};
        let settings: [(&str, bool, &[SplitBy], &str); 5] = [
            (
                "train_share",
                self.train_share.is_some(),
                &[Auto, Time, Episodes, Random],
                "auto, time, episodes or random",
            ),
            (
                "validation_share",
                self.validation_share.is_some(),
                &[Auto, Time, TimeBlocks, Episodes, Random],
                "auto, time, time-blocks, episodes or random",
            ),
            (
                "guard_ns",
                self.guard_ns > 0,
                &[Auto, Time, TimeBlocks, Episodes],
                "auto, time, time-blocks or episodes",
            ),
            ("test_switches", !self.test_switches.is_empty(), &[Switches], "switches"),
            ("validation_switches", !self.validation_switches.is_empty(), &[Switches], "switches"),
        ];
        for (field, is_given, used, used_by) in settings {
            if is_given && !used.contains(&self.by) {
                return Err(SplitError::Unused { field, by: self.by, used_by });
            }
        }
        Ok(())
    }

    /// The shares of training and validation rows.
    fn shares(&self) -> Result<(Share, Share), SplitError> {
        let train = self.train_share.unwrap_or(TRAIN_SHARE);
        let train_share = Share::new(train).map_err(SplitError::TrainShare)?;
        if train_share.is_zero() {
            return Err(SplitError::NothingTrains);
        }
        let rest = 1.0 - train;
        let validation = self.validation_share.unwrap_or(VALIDATION_SHARE.min(rest / 2.0));
        let validation_share = Share::new(validation).map_err(SplitError::ValidationShare)?;
        if train + validation > 1.0 {
            return Err(SplitError::MoreThanAll { train, validation });
        }
        Ok((train_share, validation_share))
    }

    fn by_time_blocks(&self, default: f64) -> Result<Split, SplitError> {
        let validation = self.validation_share.unwrap_or(default);
        let validation_share = Share::new(validation).map_err(SplitError::ValidationShare)?;
        if validation >= 0.5 {
            return Err(SplitError::AllBlocksValidate(validation));
        }
        Ok(Split::TimeBlocks { blocks: Split::BLOCKS, validation_share, guard_ns: self.guard_ns })
    }

    fn by_switch(&self) -> Result<Split, SplitError> {
        let (test, validation) = (self.test_switches.clone(), self.validation_switches.clone());
        if test.is_empty() {
            return Err(SplitError::NoTestSwitches);
        }
        if let Some(&id) = test.iter().find(|id| validation.contains(id)) {
            return Err(SplitError::TwoParts(id));
        }
        Ok(Split::Switches { test, validation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(by: SplitBy) -> SplitSettings {
        SplitSettings { by, ..SplitSettings::default() }
    }

    fn stated(settings: SplitSettings) -> Split {
        settings.check().unwrap().stated().unwrap().clone()
    }

    fn fault(settings: SplitSettings) -> String {
        settings.check().unwrap_err().to_string()
    }

    fn share(value: f64) -> Share {
        Share::new(value).unwrap()
    }

    #[test]
    fn a_fifth_of_the_rows_validates_by_default() {
        let (train_share, validation_share) = (share(0.6), share(0.2));
        let time = Split::Time { train_share, validation_share, guard_ns: 0 };
        assert_eq!(stated(settings(SplitBy::Time)), time);
        let random = Split::Random { train_share, validation_share };
        assert_eq!(stated(settings(SplitBy::Random)), random);
        let blocks = Split::TimeBlocks { blocks: Split::BLOCKS, validation_share, guard_ns: 0 };
        assert_eq!(stated(settings(SplitBy::TimeBlocks)), blocks);
        let written = SplitSettings::default().with_shares().unwrap();
        assert_eq!((written.train_share, written.validation_share), (Some(0.6), Some(0.2)));
        assert_eq!(written.check(), SplitSettings::default().check());
    }

    #[test]
    fn without_a_validation_share_the_rest_tests() {
        let none = |by| stated(SplitSettings { validation_share: Some(0.0), ..settings(by) });
        assert_eq!(none(SplitBy::Time), Split::time());
        assert_eq!(none(SplitBy::TimeBlocks), Split::time_blocks());
        assert_eq!(none(SplitBy::Random), Split::random());
    }

    #[test]
    fn a_large_train_share_leaves_as_much_to_test_as_to_validate() {
        let split = stated(SplitSettings { train_share: Some(0.75), ..settings(SplitBy::Time) });
        let (train_share, validation_share) = (share(0.75), share(0.125));
        assert_eq!(split, Split::Time { train_share, validation_share, guard_ns: 0 });
    }

    #[test]
    fn what_a_split_does_not_use_is_refused() {
        let all = SplitSettings {
            by: SplitBy::None,
            train_share: Some(0.6),
            validation_share: Some(0.2),
            guard_ns: 1,
            test_switches: vec![1],
            validation_switches: vec![2],
        };
        assert_eq!(
            fault(all.clone()),
            "train_share: the split none does not use it; leave it out, or split by auto, time, \
             episodes or random"
        );
        let unused = |by| {
            let mut rest = SplitSettings { by, ..all.clone() };
            let mut fields = Vec::new();
            while let Err(SplitError::Unused { field, .. }) = rest.check() {
                fields.push(field);
                match field {
                    "train_share" => rest.train_share = None,
                    "validation_share" => rest.validation_share = None,
                    "guard_ns" => rest.guard_ns = 0,
                    "test_switches" => rest.test_switches.clear(),
                    _ => rest.validation_switches.clear(),
                }
            }
            fields.join(" ")
        };
        assert_eq!(unused(SplitBy::Time), "test_switches validation_switches");
        assert_eq!(unused(SplitBy::TimeBlocks), "train_share test_switches validation_switches");
        assert_eq!(unused(SplitBy::Random), "guard_ns test_switches validation_switches");
        assert_eq!(unused(SplitBy::Switches), "train_share validation_share guard_ns");
    }

    #[test]
    fn parts_must_fit_together() {
        let faults = [
            SplitSettings { train_share: Some(1.0), ..SplitSettings::default() },
            SplitSettings { train_share: Some(0.0), ..SplitSettings::default() },
            SplitSettings { validation_share: Some(f64::NAN), ..SplitSettings::default() },
            SplitSettings { validation_share: Some(0.5), ..SplitSettings::default() },
            SplitSettings { validation_share: Some(0.5), ..settings(SplitBy::TimeBlocks) },
            settings(SplitBy::Switches),
            SplitSettings {
                test_switches: vec![1, 2],
                validation_switches: vec![2],
                ..settings(SplitBy::Switches)
            },
        ]
        .map(fault);
        let fields = faults.each_ref().map(|fault| fault.split(':').next().unwrap());
        assert_eq!(
            fields,
            [
                "train_share",
                "train_share",
                "validation_share",
                "validation_share",
                "validation_share",
                "test_switches",
                "validation_switches"
            ]
        );
    }

    #[test]
    fn settings_are_read_as_they_are_written() {
        let read: SplitSettings =
            serde_json::from_str(r#"{"by": "time-blocks", "validation_share": 0.1}"#).unwrap();
        assert_eq!(read.validation_share, Some(0.1));
        let text = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<SplitSettings>(&text).unwrap(), read);
        assert!(serde_json::from_str::<SplitSettings>(r#"{"share": 0.1}"#).is_err());
    }

    #[cfg(feature = "clap")]
    #[test]
    fn arguments_are_settings() {
        use clap::{Args, FromArgMatches};
        let command = SplitSettings::augment_args(clap::Command::new("test"));
        let parse = |typed: &str| {
            let matches = command.clone().try_get_matches_from(typed.split(' ')).unwrap();
            SplitSettings::from_arg_matches(&matches).unwrap()
        };
        assert_eq!(parse("test"), SplitSettings::default());
        let typed = "test --split switches --test-switches 1,2 --validation-switches 3";
        let by_switch = SplitSettings {
            test_switches: vec![1, 2],
            validation_switches: vec![3],
            ..settings(SplitBy::Switches)
        };
        assert_eq!(parse(typed), by_switch);
        let typed = "test --train-share 0.5 --validation-share 0.1 --guard-ns 7";
        let by_time = SplitSettings {
            train_share: Some(0.5),
            validation_share: Some(0.1),
            guard_ns: 7,
            ..SplitSettings::default()
        };
        assert_eq!(parse(typed), by_time);
    }
}
