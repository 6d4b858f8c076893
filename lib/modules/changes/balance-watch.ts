/** Looks for balances that changed without an operation of the project, such as money that somebody sent to a wallet. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import type { Watched } from "./feed";

const LOOK_MS = 3000;
/** A project whose balances take long to read is looked at less often: a twentieth of the time at most is spent on it. */
const REST_FACTOR = 20;
/** Projects that are read at once. */
const AT_ONCE = 4;
/** Projects whose last look is remembered, also while nobody watches them. */
const LOOKS_MAX = 1000;

export interface BalanceWatchDeps {
  /** The balances of all wallets of a project, as a text that changes with them. */
  readonly read: (projectId: string) => Promise<string>;
  readonly watched: ReadonlyMap<string, Watched>;
  readonly ticker: Ticker;
  readonly clock: Clock;
  /** In milliseconds; the default never goes back. */
  readonly monotonicMs?: () => number;
}

interface Look {
  readonly digest: string;
  readonly dueMs: number;
}

/**
 * Compares the balances of the watched projects every three seconds, once for each project however many streams it has. The first look
 * of this instance at a project counts as a change, because nobody knows what its pages have read before.
 */
export const createBalanceWatch = (deps: BalanceWatchDeps) => {
  const { read, watched, ticker, clock, monotonicMs = () => performance.now() } = deps;
  const looks = new LRUCache<string, Look>({ max: LOOKS_MAX });
  let isLooking = false;
  let stop: (() => void) | null = null;

  const look = async ({ projectId, subscribers }: Watched): Promise<void> => {
    const startedMs = monotonicMs();
    const before = looks.get(projectId);
    // Balances that cannot be read now are compared the next time.
    const text = await read(projectId).catch(() => null);
    const tookMs = monotonicMs() - startedMs;
    const digest = text === null ? (before?.digest ?? "") : createHash("sha256").update(text).digest("base64");
    looks.set(projectId, { digest, dueMs: startedMs + Math.max(LOOK_MS, tookMs * REST_FACTOR) });
    if (digest === (before?.digest ?? "")) return;
    for (const subscriber of subscribers)
      subscriber.push([{ kind: "balances", id: null, at: clock.now(), private: false }]);
  };

  const lookAtAll = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const due = [...watched.values()].filter(({ projectId }) => (looks.get(projectId)?.dueMs ?? 0) <= monotonicMs());
      const next = due.values();
      const work = async (): Promise<void> => {
        for (const project of next) await look(project);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } finally {
      isLooking = false;
    }
  };

  return {
    /** Looks while there is a watched project; call it when one is added or removed. */
    follow: (): void => {
      if (watched.size === 0) {
        stop?.();
        stop = null;
      } else stop ??= ticker.every(LOOK_MS, () => void lookAtAll());
    },
  };
};
