/** The deposits of a project as they change, for a stream. */
import { LRUCache } from "lru-cache";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import type { SqlReader } from "@/lib/platform/db/sql";
import { DEPOSIT_CHANNEL } from "./apply";
import type { Deposit } from "./rows";
import { depositsUnderWay } from "./repository";
import type { DepositView } from "./view";

export interface WatchDeps {
  readonly reader: SqlReader;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  readonly ticker: Ticker;
  readonly clock: Clock;
  viewsOf(deposits: readonly Deposit[]): Promise<DepositView[]>;
}

/**
 * Interval in milliseconds at which the stream also polls, because announcements are lost when the
 * connection breaks, and confirmations are not announced.
 */
const LOOK_MS = 2000;
const LOOKED_AT_MAX = 50;
/**
 * Seconds before the previous look from which changes are read again, because a transaction may
 * commit this long after the time stamp of its change.
 */
const COMMITTED_WITHIN_SECONDS = 30;
const SHOWN_MAX = 500;

/**
 * A text that changes when the deposit must be sent again: its state, and the newest searched block
 * while it is pending.
 */
const signOf = ({ deposit, seenNumber }: DepositView): string =>
  deposit.state === "pending" ? `pending ${String(seenNumber)}` : deposit.state;

/**
 * Creates an alarm for one stream. `next` resolves when a deposit may have changed, or when the
 * stream ends.
 */
const createAlarm = (
  { listener, ticker }: WatchDeps,
  projectId: string,
  signal: AbortSignal,
) => {
  let isDue = true;
  let ring = (): void => undefined;
  const wake = (): void => {
    isDue = true;
    ring();
  };
  const stops = [
    listener.on(DEPOSIT_CHANNEL, (payload) => {
      if (payload === projectId) wake();
    }),
    ticker.every(LOOK_MS, wake),
  ];
  signal.addEventListener("abort", wake);
  return {
    next: async (): Promise<void> => {
      if (!isDue) await new Promise<void>((resolve) => (ring = resolve));
      isDue = false;
    },
    stop: (): void => {
      signal.removeEventListener("abort", wake);
      for (const stop of stops) stop();
    },
  };
};

export async function* watchDeposits(
  deps: WatchDeps,
  projectId: string,
  signal: AbortSignal,
): AsyncGenerator<DepositView> {
  const alarm = createAlarm(deps, projectId, signal);
  const shown = new LRUCache<string, string>({ max: SHOWN_MAX });
  const openedAt = deps.clock.now();
  let since = openedAt;
  try {
    for (;;) {
      await alarm.next();
      if (signal.aborted) return;
      const lookedAt = deps.clock.now();
      const found = await depositsUnderWay(deps.reader, projectId, {
        since,
        limit: LOOKED_AT_MAX,
      });
      const late = addSeconds(lookedAt, -COMMITTED_WITHIN_SECONDS);
      since = late < openedAt ? openedAt : late;
      for (const view of (await deps.viewsOf(found)).reverse()) {
        const { id } = view.deposit;
        if (shown.get(id) === signOf(view)) continue;
        shown.set(id, signOf(view));
        yield view;
      }
    }
  } finally {
    alarm.stop();
  }
}
