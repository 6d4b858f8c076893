/**
 * Calls `work` at most once per `everyMs` for each key. Calls it at once when the last call for
 * the key is at least that old, otherwise at the end of the interval.
 */
export const createCoalescer = <Key>(
  work: (key: Key) => void,
  {
    everyMs,
    nowMs = () => performance.now(),
  }: { readonly everyMs: number; readonly nowMs?: () => number },
) => {
  const lastMs = new Map<string, number>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  return {
    mark: (key: Key): void => {
      const name = JSON.stringify(key);
      if (timers.has(name)) return;
      const run = (): void => {
        timers.delete(name);
        lastMs.set(name, nowMs());
        work(key);
      };
      const waitMs = (lastMs.get(name) ?? Number.NEGATIVE_INFINITY) + everyMs - nowMs();
      if (waitMs <= 0) run();
      else timers.set(name, setTimeout(run, waitMs));
    },
    stop: (): void => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
};
