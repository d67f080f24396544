//! What a switch remembers of flows, in a table of fixed size.

/// A table of fixed size, like registers of a programmable switch, with one slot for all flows whose hashes agree in the last
/// bits: a flow that takes another's slot is new, and so is the other when it returns.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    slots: Vec<(u64, T)>,
}

impl<T: Clone + Default> FlowTable<T> {
    /// An empty table; `None` if the number of slots is no power of two up to 2^24.
    pub fn new(slots: usize) -> Option<Self> {
        let is_size = slots.is_power_of_two() && slots <= 1 << 24;
        is_size.then(|| FlowTable { slots: vec![(0, T::default()); slots] })
    }

    /// What is known of a flow, whose hash is not 0; what is known of none, if another flow had the slot.
    pub fn flow(&mut self, hash: u64) -> &mut T {
        let place = flow_slot(hash, self.slots.len());
        let (owner, known) = &mut self.slots[place];
        if *owner != hash {
            (*owner, *known) = (hash, T::default());
        }
        known
    }
}

/// The slot of a flow in a table of so many, a power of two: by the last bits of its hash, which must be uniform.
pub fn flow_slot(flow_hash: u64, slots: usize) -> usize {
    (flow_hash & (slots as u64 - 1)) as usize
}
