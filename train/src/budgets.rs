//! Budgets: forests pruned and rounded, with the least loss, until they fit into tables.

mod budget;
mod cost;
mod objective;
mod refit;
mod running_cost;
mod scores;
mod search;
mod state_columns;
mod states;
#[cfg(test)]
mod tests;
mod work;
mod work_tree;

pub use budget::{Budget, NotABudget, Resource};
pub use cost::{ForestCost, TreeOutline};
pub use objective::BudgetObjective;
pub use refit::refit_leaves;
pub use search::{Squeezed, Squeezing, squeeze};
pub use states::ForestStates;
