//! The network of NDT (Wang et al., INFOCOM 2022): trained in the simulated switch, and compared with
//! the policies that its paper compares it with.
//!
//! The paper trains with soft actor-critic. Here an evolution strategy (CMA-ES, crate `cmaes`)
//! searches the weights directly: 305 integers, and the objective is what the paper's reward adds up
//! to, the time that flows are under way.
//!
//! ```
//! use dropcast_ndt::{Scenario, Training, train};
//! use dropcast_switch::policies::ndt::NdtNetwork;
//!
//! let scenario = Scenario { ports: 4, duration_ns: 5_000_000, ..Scenario::default() };
//! let training = Training { generations: 1, traces: 1, ..Training::default() };
//! let trained = train(&scenario, &training, 1.try_into()?, |_| {});
//! let again = NdtNetwork::new(trained.network.shape(), trained.network.parameters().to_vec())?;
//! assert_eq!(again, trained.network);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod comparison;
mod scenario;
mod training;

pub use comparison::{POLICIES, PolicyFct, TraceFct, compare};
pub use scenario::{Scenario, Trace};
pub use training::{Generation, TrainedNetwork, Training, train};
