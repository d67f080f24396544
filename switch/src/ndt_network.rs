//! NDT's network, in integers.

use serde::{Deserialize, Serialize};

/// Numbers that describe a port at one decision (NDT, section III).
pub const ATTRIBUTES: usize = 5;

/// Number of actions for a port: `alpha` from 2^-2 to 2^5 (NDT, section V-A).
pub const ACTIONS: u8 = 8;

/// The value 1 in fixed-point activations.
pub const ONE: i32 = 1024;

/// The value 1 in fixed-point weights and biases.
pub const WEIGHT_ONE: i16 = 1 << WEIGHT_BITS;

const WEIGHT_BITS: u32 = 8;

/// Largest activation of a hidden unit.
const MOST: i64 = 8 * ONE as i64;

const FORMAT: &str = "dropcast-ndt";
const VERSION: u32 = 1;

/// Sizes of a [`NdtNetwork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkShape {
    /// Number of decisions whose observations it sees, including the present one; 8 in the paper.
    pub history: usize,
    /// Numbers in the embedding of a port; 64 in the paper's code.
    pub embedding: usize,
    /// Numbers in the summary of a port; 32 in the paper.
    pub summary: usize,
}

/// Small enough for an evolution strategy: 305 parameters.
impl Default for NetworkShape {
    fn default() -> Self {
        NetworkShape { history: 2, embedding: 8, summary: 8 }
    }
}

impl NetworkShape {
    /// Number of inputs per port.
    pub fn inputs(&self) -> usize {
        ATTRIBUTES * self.history
    }

    /// Inputs and outputs of its layers: two make `phi`, then `f`, then `g`.
    fn layers(&self) -> [(usize, usize); 4] {
        let NetworkShape { embedding, summary, .. } = *self;
        [(self.inputs(), embedding), (embedding, embedding), (2 * embedding, summary), (summary, 1)]
    }

    /// Weights and biases of a network of this shape.
    pub fn parameters(&self) -> usize {
        self.layers().iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }

    fn check(&self) -> Result<(), NetworkError> {
        for (field, size) in
            [("history", self.history), ("embedding", self.embedding), ("summary", self.summary)]
        {
            if size == 0 || size > 256 {
                return Err(NetworkError::Size { field, size });
            }
        }
        Ok(())
    }
}

/// A permutation-equivariant network (NDT, section IV-A, equation 4): its decisions do not depend
/// on the order of ports, and one network serves switches of any number of ports.
///
/// ```text
/// e_i = phi(x_i)                    embedding of port i: two layers
/// ebar = floor(sum of e_i / N)      embedding of the switch
/// z_i = f([e_i, ebar])              summary of port i: one layer
/// a_i = g(z_i)                      one layer of one unit, without ReLU
/// action_i = floor((a_i + ONE) * 8 / (2 ONE)), from 0 to 7
/// ```
///
/// A unit's activation is `floor((sum of weight * input + bias * ONE) / WEIGHT_ONE)`, hidden units
/// clamped to 0 (ReLU) and 8 [`ONE`]. The last step replaces the paper's tanh, whose range it maps
/// to the same eight actions.
///
/// The parameters are one vector, layer after layer: for each unit its weights, then its bias.
/// Serialised, it is a JSON object with `format`, `version`, `shape` and `parameters`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct NdtNetwork {
    shape: NetworkShape,
    parameters: Vec<i16>,
}

/// Buffers for a network's activations, so that deciding allocates nothing.
#[derive(Clone, Debug)]
pub struct Activations {
    hidden: Vec<i32>,
    /// Embedding of each port, and of the switch behind it.
    embeddings: Vec<i32>,
    summary: Vec<i32>,
    actions: Vec<u8>,
}

impl Activations {
    /// Buffers for networks of this shape and this many ports.
    pub fn new(shape: NetworkShape, ports: usize) -> Self {
        Activations {
            hidden: vec![0; shape.embedding],
            embeddings: vec![0; ports * 2 * shape.embedding],
            summary: vec![0; shape.summary],
            actions: vec![0; ports],
        }
    }
}

impl NdtNetwork {
    /// A network with these parameters.
    ///
    /// # Errors
    /// If a size is 0 or above 256, or their number is not [`NetworkShape::parameters`].
    pub fn new(shape: NetworkShape, parameters: Vec<i16>) -> Result<Self, NetworkError> {
        shape.check()?;
        if parameters.len() != shape.parameters() {
            let (expected, found) = (shape.parameters(), parameters.len());
            return Err(NetworkError::Parameters { expected, found });
        }
        Ok(NdtNetwork { shape, parameters })
    }

    /// The network that always answers `alpha = 1`, the start of training.
    ///
    /// # Errors
    /// If a size is 0 or above 256.
    pub fn neutral(shape: NetworkShape) -> Result<Self, NetworkError> {
        shape.check()?;
        let mut parameters = vec![0; shape.parameters()];
        if let Some(last_bias) = parameters.last_mut() {
            // The middle of action 2's range, which is 5/16 of the way from -1 to 1.
            *last_bias = WEIGHT_ONE * 5 / 8 - WEIGHT_ONE;
        }
        NdtNetwork::new(shape, parameters)
    }

    /// Its sizes.
    pub fn shape(&self) -> NetworkShape {
        self.shape
    }

    /// All weights and biases.
    pub fn parameters(&self) -> &[i16] {
        &self.parameters
    }

    /// The action for each port, given its observations, [`NetworkShape::inputs`] numbers up to 8
    /// [`ONE`] each.
    ///
    /// # Panics
    /// If `room` was made for another shape or number of ports, or an input is not from 0 to 8
    /// [`ONE`].
    pub fn act<'a>(&self, observed: &[i32], room: &'a mut Activations) -> &'a [u8] {
        let shape = self.shape;
        let Activations { hidden, embeddings, summary, actions } = room;
        let ports = actions.len();
        assert_eq!(observed.len(), ports * shape.inputs(), "the observations of each port");
        assert!(observed.iter().all(|&seen| (0..=8 * ONE).contains(&seen)), "up to 8");
        let [first, second, third, last] = self.layers();
        let each = 2 * shape.embedding;
        for (seen, embedding) in
            observed.chunks_exact(shape.inputs()).zip(embeddings.chunks_exact_mut(each))
        {
            first.apply(seen, hidden, relu);
            second.apply(hidden, &mut embedding[..shape.embedding], relu);
        }
        for unit in 0..shape.embedding {
            let of_ports = embeddings[unit..].iter().step_by(each);
            let sum: i64 = of_ports.map(|&activation| i64::from(activation)).sum();
            // A mean of 32-bit numbers.
            hidden[unit] = (sum / ports as i64) as i32;
        }
        for (embedding, action) in embeddings.chunks_exact_mut(each).zip(actions.iter_mut()) {
            embedding[shape.embedding..].copy_from_slice(hidden);
            third.apply(embedding, summary, relu);
            let mut output = [0];
            last.apply(summary, &mut output, |activation| {
                activation.clamp(i64::from(-ONE), i64::from(ONE))
            });
            let step = (output[0] + ONE) * i32::from(ACTIONS) / (2 * ONE);
            *action = step.min(i32::from(ACTIONS) - 1) as u8;
        }
        actions
    }

    fn layers(&self) -> [Layer<'_>; 4] {
        let mut rest = &self.parameters[..];
        self.shape.layers().map(|(inputs, outputs)| {
            let (parameters, behind) = rest.split_at((inputs + 1) * outputs);
            rest = behind;
            Layer { parameters, inputs }
        })
    }
}

#[derive(Clone, Copy)]
struct Layer<'a> {
    parameters: &'a [i16],
    inputs: usize,
}

impl Layer<'_> {
    fn apply(&self, inputs: &[i32], outputs: &mut [i32], cut: impl Fn(i64) -> i64) {
        let units = self.parameters.chunks_exact(self.inputs + 1);
        for (unit, output) in units.zip(outputs) {
            let (weights, bias) = unit.split_at(self.inputs);
            // At most 513 products of 16 and 14 bits: nothing overflows, and without checks the sum
            // is several times as fast.
            let sum = weights.iter().zip(inputs).fold(0_i64, |sum, (&weight, &input)| {
                sum.wrapping_add(i64::from(i32::from(weight).wrapping_mul(input)))
            });
            let sum = sum + i64::from(bias[0]) * i64::from(ONE);
            // Clamped to a few thousand.
            *output = cut(sum >> WEIGHT_BITS) as i32;
        }
    }
}

fn relu(activation: i64) -> i64 {
    activation.clamp(0, MOST)
}

/// Why numbers are not a valid network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A size is out of range.
    #[error("shape.{field}: is {size}, expected 1 to 256")]
    Size {
        /// Which.
        field: &'static str,
        /// What it is.
        size: usize,
    },
    /// The number of parameters does not match the shape.
    #[error("parameters: has {found} numbers, a network of this shape has {expected}")]
    Parameters {
        /// The expected number.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A different or newer format.
    #[error("format: is {format} version {version}, expected {FORMAT} version {VERSION}")]
    Format {
        /// The stated format.
        format: String,
        /// The stated version.
        version: u32,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    version: u32,
    shape: NetworkShape,
    parameters: Vec<i16>,
}

impl TryFrom<Written> for NdtNetwork {
    type Error = NetworkError;

    fn try_from(written: Written) -> Result<Self, NetworkError> {
        let Written { format, version, shape, parameters } = written;
        if format != FORMAT || version != VERSION {
            return Err(NetworkError::Format { format, version });
        }
        NdtNetwork::new(shape, parameters)
    }
}

impl From<NdtNetwork> for Written {
    fn from(NdtNetwork { shape, parameters }: NdtNetwork) -> Self {
        Written { format: FORMAT.to_owned(), version: VERSION, shape, parameters }
    }
}
