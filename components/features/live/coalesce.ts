/**
 * Calls `work` at most once per `everyMs` for each key: at once if the last call is at least that
 * old, else at the end of the interval.
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
