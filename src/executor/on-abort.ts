// Many drives may share one signal of their host. Each signal is listened to once: Node warns of a leak from the eleventh
// listener on, and a host that drives eleven sessions leaks nothing.
interface Listening {
  works: Set<() => void>;
  listener: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/** Calls `work` when the signal aborts; returns what takes that back. */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  const { works, listener } = listening.get(signal) ?? listen(signal);
  const mine = () => work();
  works.add(mine);
  return () => {
    if (!works.delete(mine) || works.size > 0) return;
    signal.removeEventListener('abort', listener);
    listening.delete(signal);
  };
}

function listen(signal: AbortSignal): Listening {
  const works = new Set<() => void>();
  const listener = () => works.forEach((work) => work());
  signal.addEventListener('abort', listener, { once: true });
  const made = { works, listener };
  listening.set(signal, made);
  return made;
}
