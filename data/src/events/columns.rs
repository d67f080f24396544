//! Which column of an input holds which field.

use crate::{DataError, nearly};
use serde::Serialize;

/// Column names, by field. A field whose column is not in the input is 0 (`kind`: arrival) in every
/// event, unless it is one of `time_ns`, `port` and `size_bytes`, or its column was named by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventColumns {
    /// Time, nanoseconds. Required.
    pub time_ns: String,
    /// Switch number.
    pub switch_id: String,
    /// Output port. Required.
    pub port: String,
    /// Queue within the port.
    pub queue: String,
    /// Bytes in the buffer. Required.
    pub size_bytes: String,
    /// Arrival, departure or drop.
    pub kind: String,
    /// Why the real switch dropped the packet.
    pub drop_reason: String,
    /// Hash of the flow.
    pub flow_hash: String,
    /// Flags.
    pub flags: String,
    /// Whether the real switch marked the packet (ECN).
    pub ecn_mark: String,
    /// Columns of the user's own, by their names. Required.
    pub own: Vec<String>,
}

/// The fields, in the order in which a row's faults are looked for.
const FIELDS: [&str; 10] = [
    "time_ns",
    "switch_id",
    "port",
    "queue",
    "size_bytes",
    "kind",
    "drop_reason",
    "flow_hash",
    "flags",
    "ecn_mark",
];

/// Places of the columns in an input.
#[derive(Clone, Debug)]
pub(crate) struct EventPlaces {
    pub(crate) time_ns: usize,
    pub(crate) switch_id: Option<usize>,
    pub(crate) port: usize,
    pub(crate) queue: Option<usize>,
    pub(crate) size_bytes: usize,
    pub(crate) kind: Option<usize>,
    pub(crate) drop_reason: Option<usize>,
    pub(crate) flow_hash: Option<usize>,
    pub(crate) flags: Option<usize>,
    pub(crate) ecn_mark: Option<usize>,
    /// Names and places of the user's own columns.
    pub(crate) own: Vec<(String, usize)>,
    /// Names of the other columns.
    pub(crate) unread: Vec<String>,
}

/// Every column has the name of its field.
impl Default for EventColumns {
    fn default() -> Self {
        EventColumns {
            time_ns: "time_ns".to_owned(),
            switch_id: "switch_id".to_owned(),
            port: "port".to_owned(),
            queue: "queue".to_owned(),
            size_bytes: "size_bytes".to_owned(),
            kind: "kind".to_owned(),
            drop_reason: "drop_reason".to_owned(),
            flow_hash: "flow_hash".to_owned(),
            flags: "flags".to_owned(),
            ecn_mark: "ecn_mark".to_owned(),
            own: Vec::new(),
        }
    }
}

impl EventColumns {
    /// Reads pairs such as `time_ns=ts`; fields without a pair keep their own name.
    ///
    /// # Errors
    /// If a pair has no `=`, or names an unknown field, no column, a field for the second time, or the
    /// column of another field.
    pub fn parse(pairs: &[String]) -> Result<Self, DataError> {
        let mut columns = EventColumns::default();
        let mut named: Vec<&str> = Vec::new();
        for pair in pairs {
            let wrong = |problem: String| DataError::ColumnPair { pair: pair.clone(), problem };
            let (field, column) = pair
                .split_once('=')
                .ok_or_else(|| wrong("expected FIELD=COLUMN, such as time_ns=ts".to_owned()))?;
            let slot = columns.slot(field).ok_or_else(|| {
                wrong(format!(
                    "{field:?} is not a field of an event, which has {}",
                    FIELDS.join(", ")
                ))
            })?;
            if column.is_empty() {
                return Err(wrong(format!("names no column for {field}")));
            }
            if named.contains(&field) {
                return Err(wrong(format!("names a column for {field} for the second time")));
            }
            named.push(field);
            column.clone_into(slot);
        }
        for pair in pairs {
            let Some((field, column)) = pair.split_once('=') else { continue };
            let mut others = FIELDS.into_iter().filter(|other| *other != field);
            let same = others.find(|other| columns.slot(other).is_some_and(|name| name == column));
            if let Some(other) = same {
                let problem = format!("names the column of {other}; rename one of them");
                return Err(DataError::ColumnPair { pair: pair.clone(), problem });
            }
        }
        Ok(columns)
    }

    /// Finds the columns among those that an input has.
    pub(crate) fn locate(&self, file: &str, has: &[String]) -> Result<EventPlaces, DataError> {
        let place = |column: &str| has.iter().position(|name| name == column);
        let missing = |column: &str| DataError::MissingColumn {
            file: file.to_owned(),
            column: column.to_owned(),
            has: has.to_vec(),
            hint: "map the field to its column, as FIELD=COLUMN (--column)",
        };
        let required = |column: &str| place(column).ok_or_else(|| missing(column));
        let optional = |column: &str, field: &str| match place(column) {
            None if column != field => Err(missing(column)),
            place => Ok(place),
        };
        let own = |name: &String| {
            let missing = || DataError::MissingColumn {
                file: file.to_owned(),
                column: name.clone(),
                has: has.to_vec(),
                hint: "a feature of your own is a column of the events",
            };
            Ok((name.clone(), place(name).ok_or_else(missing)?))
        };
        let mut places = EventPlaces {
            time_ns: required(&self.time_ns)?,
            switch_id: optional(&self.switch_id, "switch_id")?,
            port: required(&self.port)?,
            queue: optional(&self.queue, "queue")?,
            size_bytes: required(&self.size_bytes)?,
            kind: optional(&self.kind, "kind")?,
            drop_reason: optional(&self.drop_reason, "drop_reason")?,
            flow_hash: optional(&self.flow_hash, "flow_hash")?,
            flags: optional(&self.flags, "flags")?,
            ecn_mark: optional(&self.ecn_mark, "ecn_mark")?,
            own: self.own.iter().map(own).collect::<Result<_, _>>()?,
            unread: Vec::new(),
        };
        let read = places.all();
        let unread = has.iter().enumerate().filter(|(place, _)| !read.contains(place));
        places.unread = unread.map(|(_, name)| name.clone()).collect();
        match places.unread.iter().find_map(|name| Some((name, nearly(name, &FIELDS)?))) {
            None => Ok(places),
            Some((name, field)) => {
                let problem = format!("has a column {name:?}, which is not read as {field}");
                let hint = format!("rename it, or map it: --column '{field}={name}'");
                Err(DataError::file(file, problem, hint))
            }
        }
    }

    /// Whether a table with these columns has those of events, or why not. If they were named by hand, it must.
    pub(crate) fn are_in(
        &self,
        file: &str,
        has: &[String],
    ) -> Result<Result<(), String>, DataError> {
        match self.locate(file, has) {
            Ok(_) => Ok(Ok(())),
            Err(DataError::MissingColumn { column, hint, .. })
                if *self == EventColumns::default() =>
            {
                Ok(Err(format!("has no column {column:?}, it has {}; {hint}", has.join(", "))))
            }
            Err(error) => Err(error),
        }
    }

    fn slot(&mut self, field: &str) -> Option<&mut String> {
        match field {
            "time_ns" => Some(&mut self.time_ns),
            "switch_id" => Some(&mut self.switch_id),
            "port" => Some(&mut self.port),
            "queue" => Some(&mut self.queue),
            "size_bytes" => Some(&mut self.size_bytes),
            "kind" => Some(&mut self.kind),
            "drop_reason" => Some(&mut self.drop_reason),
            "flow_hash" => Some(&mut self.flow_hash),
            "flags" => Some(&mut self.flags),
            "ecn_mark" => Some(&mut self.ecn_mark),
            _ => None,
        }
    }
}

impl EventPlaces {
    /// Every place there is.
    pub(crate) fn all(&self) -> Vec<usize> {
        let required = [self.time_ns, self.port, self.size_bytes];
        let optional = [
            self.switch_id,
            self.queue,
            self.kind,
            self.drop_reason,
            self.flow_hash,
            self.flags,
            self.ecn_mark,
        ];
        let own = self.own.iter().map(|(_, place)| *place);
        required.into_iter().chain(optional.into_iter().flatten()).chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pairs_rename_columns() {
        let columns = EventColumns::parse(&strings(&["time_ns=ts", "queue=prio=1"])).unwrap();
        assert_eq!((columns.time_ns.as_str(), columns.queue.as_str()), ("ts", "prio=1"));
        assert_eq!(EventColumns::parse(&[]).unwrap(), EventColumns::default());
        for field in FIELDS {
            assert!(EventColumns::parse(&strings(&[&format!("{field}=x")])).is_ok());
        }
    }

    #[test]
    fn bad_pairs_are_named() {
        let check = |pairs: &[&str], says: &str| {
            let error = EventColumns::parse(&strings(pairs)).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        };
        check(&["ts"], "column mapping \"ts\": expected FIELD=COLUMN");
        check(&["time=ts"], "\"time\" is not a field of an event, which has time_ns");
        check(&["port="], "names no column for port");
        check(&["port=a", "port=b"], "for the second time");
        check(&["port=a", "queue=a"], "\"port=a\": names the column of queue; rename");
        check(&["port=queue"], "\"port=queue\": names the column of queue; rename");
        assert!(EventColumns::parse(&strings(&["port=queue", "queue=port"])).is_ok());
    }

    #[test]
    fn a_column_that_is_nearly_a_field_is_not_passed_over() {
        let locate = |column: &str, pairs: &[&str]| {
            let has = strings(&["time_ns", "port", "size_bytes", column]);
            EventColumns::parse(&strings(pairs)).unwrap().locate("x", &has)
        };
        for column in ["Kind", " kind", "KIND", "kind_"] {
            let error = locate(column, &[]).unwrap_err().to_string();
            assert!(error.contains(&format!("a column {column:?}, which is not read as kind; ")));
            assert_eq!(locate(column, &[&format!("kind={column}")]).unwrap().kind, Some(3));
        }
        assert!(locate("switchId", &[]).is_err() && locate("Drop Reason", &[]).is_err());
        assert_eq!(locate("kinds", &[]).unwrap().unread, ["kinds"]);
        assert_eq!(locate("kind", &[]).unwrap().unread, [""; 0]);
    }

    #[test]
    fn a_column_named_by_hand_must_be_there() {
        let has = strings(&["size_bytes", "port", "time_ns"]);
        let places = EventColumns::default().locate("x", &has).unwrap();
        assert_eq!((places.time_ns, places.port, places.size_bytes), (2, 1, 0));
        assert_eq!((places.queue, places.all()), (None, vec![2, 1, 0]));
        let columns = EventColumns::parse(&strings(&["queue=prio"])).unwrap();
        let error = columns.locate("x", &has).unwrap_err().to_string();
        assert_eq!(
            error,
            "x: has no column \"prio\", it has size_bytes, port, time_ns; \
             map the field to its column, as FIELD=COLUMN (--column)"
        );
    }
}
