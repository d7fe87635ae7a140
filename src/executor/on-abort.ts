// Many drives may share one signal of their host. Each signal is listened to once: Node warns of a leak from the eleventh
// listener on, and a host that drives eleven sessions leaks nothing.
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `work` when the signal aborts; returns what takes that back. */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  let works = listeners.get(signal);
  if (works === undefined) {
    const all = (works = new Set<() => void>());
    listeners.set(signal, all);
    signal.addEventListener('abort', () => all.forEach((each) => each()), { once: true });
  }
  const mine = () => work();
  works.add(mine);
  return () => void works.delete(mine);
}
