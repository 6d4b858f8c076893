/**
 * Returns `mark(key)`, which calls `work` at most once per `everyMs` for each key. It calls `work`
 * immediately when the last call for the key is at least `everyMs` ago, otherwise at the end of
 * that time.
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
