//! Maps over indices and chunks on all threads. All maps share one loop over the threads, which keeps the build short.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Parts into which a map is divided, for any number of threads: some items take many times as long as others.
const PARTS: usize = 256;

/// The results of `of` for 0 to `count` - 1, in this order.
pub fn map<R: Send>(count: usize, of: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if count == 1 {
        return vec![of(0)];
    }
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|i| {
        let result = of(i);
        *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The results of `of` for items that it takes, in their order.
pub fn map_into<T: Send, R: Send>(items: Vec<T>, of: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |i: usize| items[i].lock().unwrap_or_else(PoisonError::into_inner).take();
    map(items.len(), |i| take(i).map(&of)).into_iter().flatten().collect()
}

/// The results of `of` for every `length` items, in their order; the last chunk may be shorter.
pub fn map_chunks<T: Sync, R: Send>(items: &[T], length: usize, of: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let range = |i: usize| i * length..items.len().min((i + 1) * length);
    map(items.len().div_ceil(length), |i| of(&items[range(i)]))
}

fn each(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(count.div_ceil(PARTS).max(1)).for_each(task);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        assert_eq!(map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert_eq!(map(0, |i| i), [0usize; 0]);
        assert_eq!(map_into(vec!["a".to_owned(), "b".to_owned()], |word| word + "c"), ["ac", "bc"]);
        let items: Vec<u64> = (0..10).collect();
        assert_eq!(map_chunks(&items, 4, |chunk| chunk.iter().sum::<u64>()), [6, 22, 17]);
        assert_eq!(map_chunks(&items[..8], 4, <[u64]>::len), [4, 4]);
        assert_eq!(map_chunks(&items[..0], 4, <[u64]>::len), [0usize; 0]);
    }
}
