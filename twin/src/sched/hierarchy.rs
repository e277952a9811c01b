//! Trees of classes written as a list, parents before children: checks that all share.

use super::Context;
use crate::error::ScenarioError;

/// Trees are walked for every packet.
const MAX_CLASSES: usize = 4096;

/// A class as written.
pub trait Node {
    fn name(&self) -> &str;
    fn parent(&self) -> Option<&str>;
    /// Of a leaf only.
    fn queue(&self) -> Option<usize>;
}

/// The parent of each class, after checking that names are unique, that leaves and only leaves
/// have queues and that each queue has one leaf. Errors name `classes`.
pub fn parents(
    classes: &[impl Node],
    context: Context,
) -> Result<Vec<Option<usize>>, ScenarioError> {
    if !(1..=MAX_CLASSES).contains(&classes.len()) {
        let hint = format!("list 1 to {MAX_CLASSES}");
        return Err(context.error("classes", "too few or too many classes", &hint));
    }
    let mut taken = vec![false; context.queues];
    let mut parents = Vec::with_capacity(classes.len());
    for (i, class) in classes.iter().enumerate() {
        let wrong = |field: &str, problem: &str, hint: &str| {
            Err(context.error(&format!("classes[{i}].{field}"), problem, hint))
        };
        if classes[..i].iter().any(|c| c.name() == class.name()) {
            return wrong("name", "used twice", "give each class its own name");
        }
        parents.push(match class.parent() {
            None => None,
            Some(name) => match classes[..i].iter().position(|c| c.name() == name) {
                Some(parent) if classes[parent].queue().is_some() => {
                    return wrong("parent", "is a leaf", "take the parent's queue away");
                }
                Some(parent) => Some(parent),
                None => {
                    let problem = format!("no class before it is called {name:?}");
                    return wrong("parent", &problem, "list parents before children");
                }
            },
        });
        match class.queue() {
            Some(queue) => {
                context.check_queue(queue, &format!("classes[{i}].queue"))?;
                if std::mem::replace(&mut taken[queue], true) {
                    let problem = "another class has this queue";
                    return wrong("queue", problem, "give each leaf its own");
                }
            }
            None if !classes.iter().any(|c| c.parent() == Some(class.name())) => {
                return wrong(
                    "queue",
                    "neither a queue nor a child",
                    "give a leaf its queue",
                );
            }
            None => {}
        }
    }
    if let Some(queue) = taken.iter().position(|taken| !taken) {
        let problem = format!("queue {queue} belongs to no class");
        return Err(context.error("classes", &problem, "add a leaf with it"));
    }
    Ok(parents)
}
