//! Expressions over named numbers, compiled once to a flat program.
//!
//! No crate fits: evalexpr is AGPL from version 12 on, fasteval has had no release since 2020, and exmex gives no place of a mistake, takes
//! every unknown name for a variable, and finds out only as it runs whether a value is a number. So this is a parser by precedence (Pratt,
//! "Top down operator precedence", POPL 1973).

use dropcast_features::nearest;
use std::fmt;

/// So deep may an expression be nested.
const MOST_NESTED: usize = 64;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Truth,
}

/// What a name stands for.
pub(super) enum Named<V> {
    Number(f64),
    Variable(V, Kind),
}

/// Where a text is no expression, in characters from 1, and why.
#[derive(Debug)]
pub(super) struct Mistake {
    column: usize,
    problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.problem)
    }
}

/// An expression that is true or false, for a stack machine. Truth is 1, falsehood 0.
#[derive(Clone, Debug)]
pub(super) struct Program<V> {
    steps: Vec<Step<V>>,
    most_held: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step<V> {
    Number(f64),
    Variable(V),
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    /// The second of three values if the first is true, otherwise the third.
    Choose,
}

impl<V: Copy> Program<V> {
    /// Compiles a text. `name` says what a name stands for, or why it is none.
    pub(super) fn compile(
        text: &str,
        name: impl FnMut(&str) -> Result<Named<V>, String>,
    ) -> Result<Self, Mistake> {
        let steps = Vec::new();
        let mut parser = Parser { text, token: "", start: 0, nested: 0, steps, name };
        parser.next();
        let kind = parser.expression(0)?;
        if !parser.token.is_empty() {
            return Err(parser.mistake(format!("{:?} is not expected here", parser.token)));
        }
        parser.expect(kind, Kind::Truth, 0, "what accepts")?;
        let mut held = 0_usize;
        let mut most_held = 0;
        for step in &parser.steps {
            match step {
                Step::Number(_) | Step::Variable(_) => held += 1,
                Step::One(_) => {}
                Step::Two(_) => held -= 1,
                Step::Choose => held -= 2,
            }
            most_held = most_held.max(held);
        }
        Ok(Program { steps: parser.steps, most_held })
    }

    /// How many values a run holds at once.
    pub(super) fn most_held(&self) -> usize {
        self.most_held
    }

    /// Whether it is true with these values of variables; `stack` is room to work in.
    pub(super) fn holds(&self, value: impl Fn(V) -> f64, stack: &mut Vec<f64>) -> bool {
        stack.clear();
        // Compiled programs pop only what they pushed.
        let pop = |stack: &mut Vec<f64>| stack.pop().unwrap_or(f64::NAN);
        for step in &self.steps {
            let result = match *step {
                Step::Number(number) => number,
                Step::Variable(variable) => value(variable),
                Step::One(function) => function(pop(stack)),
                Step::Two(function) => {
                    let right = pop(stack);
                    function(pop(stack), right)
                }
                Step::Choose => {
                    let (otherwise, chosen) = (pop(stack), pop(stack));
                    if pop(stack) == 0.0 { otherwise } else { chosen }
                }
            };
            stack.push(result);
        }
        stack.last() == Some(&1.0)
    }
}

/// An operator between two values: how strongly it binds, what it takes and gives.
type Operator = (&'static str, u8, Kind, Kind, fn(f64, f64) -> f64);

const OPERATORS: [Operator; 13] = [
    ("or", 1, Kind::Truth, Kind::Truth, f64::max),
    ("and", 2, Kind::Truth, Kind::Truth, f64::min),
    ("<", 4, Kind::Number, Kind::Truth, |left, right| truth(left < right)),
    ("<=", 4, Kind::Number, Kind::Truth, |left, right| truth(left <= right)),
    (">", 4, Kind::Number, Kind::Truth, |left, right| truth(left > right)),
    (">=", 4, Kind::Number, Kind::Truth, |left, right| truth(left >= right)),
    ("==", 4, Kind::Number, Kind::Truth, |left, right| truth(left == right)),
    ("!=", 4, Kind::Number, Kind::Truth, |left, right| truth(left != right)),
    ("+", 5, Kind::Number, Kind::Number, |left, right| left + right),
    ("-", 5, Kind::Number, Kind::Number, |left, right| left - right),
    ("*", 6, Kind::Number, Kind::Number, |left, right| left * right),
    ("/", 6, Kind::Number, Kind::Number, |left, right| left / right),
    ("%", 6, Kind::Number, Kind::Number, |left, right| left % right),
];
/// How strongly `not` and a sign bind.
const NOT: u8 = 3;
const SIGN: u8 = 7;

/// A function, by the values that it takes.
#[derive(Clone, Copy)]
enum Function {
    One(fn(f64) -> f64),
    /// Two or more.
    Several(fn(f64, f64) -> f64),
    /// A condition, a value if it holds, and another.
    If,
}

const FUNCTIONS: [(&str, Function); 6] = [
    ("sqrt", Function::One(f64::sqrt)),
    ("min", Function::Several(least)),
    ("max", Function::Several(most)),
    ("abs", Function::One(f64::abs)),
    ("floor", Function::One(f64::floor)),
    ("if", Function::If),
];

fn function(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|&(_, function)| function)
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// `f64::min` may give either of 0 and -0.
fn least(left: f64, right: f64) -> f64 {
    if left < right { left } else { right }
}

fn most(left: f64, right: f64) -> f64 {
    if left > right { left } else { right }
}

/// Whether a text can be the name of a constant.
pub(super) fn is_name(text: &str) -> bool {
    let is_taken = function(text).is_some() || ["and", "or", "not"].contains(&text);
    text.starts_with(is_letter) && text.chars().all(is_of_name) && !is_taken
}

/// What is meant by an unknown name, if a known one is near.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let functions = FUNCTIONS.map(|(known, _)| known);
    nearest(name, known.chain(functions)).map(|known| format!("did you mean {known}?"))
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn is_of_name(letter: char) -> bool {
    is_letter(letter) || letter.is_ascii_digit()
}

struct Parser<'a, V, F> {
    text: &'a str,
    /// The next token, empty at the end, and the byte that it starts at.
    token: &'a str,
    start: usize,
    nested: usize,
    steps: Vec<Step<V>>,
    name: F,
}

impl<V: Copy, F: FnMut(&str) -> Result<Named<V>, String>> Parser<'_, V, F> {
    /// Moves to the next token.
    fn next(&mut self) {
        let rest = &self.text[self.start + self.token.len()..];
        let trimmed = rest.trim_start();
        self.start = self.text.len() - trimmed.len();
        let first = trimmed.chars().next();
        let bytes = match first {
            None => 0,
            Some(first) if is_letter(first) => {
                trimmed.find(|letter| !is_of_name(letter)).unwrap_or(trimmed.len())
            }
            Some(first) if first.is_ascii_digit() || first == '.' => number_bytes(trimmed),
            Some(_) if ["<=", ">=", "==", "!="].iter().any(|two| trimmed.starts_with(two)) => 2,
            Some(first) => first.len_utf8(),
        };
        self.token = &trimmed[..bytes];
    }

    fn mistake(&self, problem: impl Into<String>) -> Mistake {
        self.mistake_at(self.start, problem)
    }

    fn mistake_at(&self, start: usize, problem: impl Into<String>) -> Mistake {
        Mistake { column: self.text[..start].chars().count() + 1, problem: problem.into() }
    }

    /// Refuses a value of the other kind, which starts at `start`.
    fn expect(&self, is: Kind, expected: Kind, start: usize, what: &str) -> Result<(), Mistake> {
        let problem = match expected {
            _ if is == expected => return Ok(()),
            Kind::Number => format!("{what} is true or false, expected a number"),
            Kind::Truth => {
                format!("{what} is a number, expected a comparison, such as queue < free")
            }
        };
        Err(self.mistake_at(start, problem))
    }

    /// Compiles as long as operators bind more strongly than `than`.
    fn expression(&mut self, than: u8) -> Result<Kind, Mistake> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(self.mistake(format!("is nested deeper than {MOST_NESTED}")));
        }
        let start = self.start;
        let mut kind = self.operand()?;
        while let Some(operator) = OPERATORS.iter().find(|operator| operator.0 == self.token) {
            let &(symbol, binds, takes, gives, function) = operator;
            if binds <= than {
                break;
            }
            self.expect(kind, takes, start, &format!("the left of {symbol}"))?;
            self.next();
            let start = self.start;
            let right = self.expression(binds)?;
            self.expect(right, takes, start, &format!("the right of {symbol}"))?;
            self.steps.push(Step::Two(function));
            kind = gives;
        }
        self.nested -= 1;
        Ok(kind)
    }

    fn operand(&mut self) -> Result<Kind, Mistake> {
        let (token, start) = (self.token, self.start);
        self.next();
        match token {
            "" => Err(self.mistake_at(start, "a value is expected, the text ends")),
            "(" => {
                let kind = self.expression(0)?;
                self.close(")", start)?;
                Ok(kind)
            }
            "-" => self.prefixed(SIGN, Kind::Number, token, |value| -value),
            "not" => self.prefixed(NOT, Kind::Truth, token, |value| 1.0 - value),
            _ if token.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
                let number = token.parse().ok().filter(|number: &f64| number.is_finite());
                let problem = || self.mistake_at(start, format!("{token:?} is no number"));
                self.steps.push(Step::Number(number.ok_or_else(problem)?));
                Ok(Kind::Number)
            }
            _ if self.token == "(" && token.starts_with(is_letter) => self.call(token, start),
            _ if function(token).is_some() => {
                Err(self.mistake(format!("( is expected, {token} is a function")))
            }
            _ if is_name(token) => match (self.name)(token) {
                Ok(Named::Number(number)) => {
                    self.steps.push(Step::Number(number));
                    Ok(Kind::Number)
                }
                Ok(Named::Variable(variable, kind)) => {
                    self.steps.push(Step::Variable(variable));
                    Ok(kind)
                }
                Err(hint) => Err(self.mistake_at(start, format!("unknown name {token:?}; {hint}"))),
            },
            _ => Err(self.mistake_at(start, format!("a value is expected, not {token:?}"))),
        }
    }

    fn prefixed(
        &mut self,
        binds: u8,
        takes: Kind,
        what: &str,
        function: fn(f64) -> f64,
    ) -> Result<Kind, Mistake> {
        let start = self.start;
        let kind = self.expression(binds)?;
        self.expect(kind, takes, start, &format!("what follows {what}"))?;
        self.steps.push(Step::One(function));
        Ok(takes)
    }

    /// A function and its values, from the bracket on.
    fn call(&mut self, name: &str, start: usize) -> Result<Kind, Mistake> {
        let Some(function) = function(name) else {
            let hint = unknown(name, std::iter::empty()).unwrap_or_else(|| {
                format!("known are {}", FUNCTIONS.map(|(known, _)| known).join(", "))
            });
            return Err(self.mistake_at(start, format!("unknown function {name:?}; {hint}")));
        };
        let mut values = 0;
        let mut given = Kind::Number;
        while values == 0 || self.token == "," {
            self.next();
            let start = self.start;
            let kind = self.expression(0)?;
            values += 1;
            match (function, values) {
                (Function::If, 1) => {
                    self.expect(kind, Kind::Truth, start, "the condition of if")?
                }
                (Function::If, 2) => given = kind,
                (Function::If, _) => self.expect(kind, given, start, "the last value of if")?,
                (Function::One(_) | Function::Several(_), _) => {
                    self.expect(kind, Kind::Number, start, &format!("a value of {name}"))?;
                }
            }
            if let (Function::Several(function), 2..) = (function, values) {
                self.steps.push(Step::Two(function));
            }
        }
        self.close(")", start)?;
        let expected = match (function, values) {
            (Function::Several(_), 2..) => return Ok(Kind::Number),
            (Function::Several(_), _) => "two values or more",
            (Function::If, 3) => {
                self.steps.push(Step::Choose);
                return Ok(given);
            }
            (Function::If, _) => "three values: a condition, a value if it holds, and another",
            (Function::One(function), 1) => {
                self.steps.push(Step::One(function));
                return Ok(Kind::Number);
            }
            (Function::One(_), _) => "one value",
        };
        Err(self.mistake_at(start, format!("{name} has {values} values, expected {expected}")))
    }

    /// Passes a closing bracket of what began at `start`.
    fn close(&mut self, bracket: &str, start: usize) -> Result<(), Mistake> {
        if self.token != bracket {
            let column = self.text[..start].chars().count() + 1;
            return Err(self.mistake(match self.token {
                "" => format!("{bracket} is expected for column {column}, the text ends"),
                token => format!("{bracket} is expected for column {column}, not {token:?}"),
            }));
        }
        self.next();
        Ok(())
    }
}

/// The bytes of a number at the beginning of a text: digits, a point, an exponent.
fn number_bytes(text: &str) -> usize {
    let after = |from: usize, is_of: fn(char) -> bool| {
        text[from..].find(|letter| !is_of(letter)).map_or(text.len(), |bytes| from + bytes)
    };
    let mantissa = after(0, |letter| letter.is_ascii_digit() || letter == '.');
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else {
        return after(mantissa, is_of_name);
    };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    after(mantissa + 1 + sign, is_of_name)
}
