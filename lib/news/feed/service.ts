/** Streams of hints about the changes in a project. */
import type { Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import {
  type Batch,
  createBalanceWatch,
  createFeed,
  hintsOf,
  ROWS_MAX,
  Subscriber,
} from "./feed";
import type { ChangesRepository } from "./repository";
import type { Cursor } from "./rows";

export { announceEnded, announceMemberRemoved } from "./streams";
export { CHANGE_CHANNEL } from "./repository";

export interface ChangesDeps {
  readonly repository: ChangesRepository;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  /** The balances of all wallets of a project, as a text that changes with them. */
  readonly readBalances: (projectId: string) => Promise<string>;
  readonly ticker: Ticker;
  readonly clock: Clock;
}

const HEARTBEAT_MS = 15_000;
/**
 * Seconds of past changes with which a stream without a cursor starts, because its page was read
 * shortly before.
 */
const BACK_SECONDS = 15;

/**
 * Streams of changes. All streams of an instance share the polls of the database, and all streams
 * of one project share the polls of its balances.
 */
export const createChangesService = ({
  repository,
  listener,
  readBalances,
  ticker,
  clock,
}: ChangesDeps) => {
  const feed = createFeed({ repository, ticker, listener, clock });
  const balances = createBalanceWatch({
    read: readBalances,
    watched: feed.watched,
    ticker,
    clock,
  });

  /**
   * Fills the stream's queue with the changes after `last`, or with the changes of the last
   * seconds when `last` is null.
   */
  const catchUp = async (subscriber: Subscriber, last: Cursor | null): Promise<void> => {
    const { projectId } = subscriber.actor;
    const { cursor } = await feed.add(projectId, subscriber);
    const since = addSeconds(clock.now(), -BACK_SECONDS);
    const from = last ?? (await repository.recent({ projectId, ...cursor }, since, ROWS_MAX));
    const missed = await repository.newer([{ projectId, ...from }], ROWS_MAX);
    subscriber.push(missed.flatMap(hintsOf));
    const isTooMuch = missed.length >= ROWS_MAX;
    const now = { id: null, at: clock.now(), private: false };
    if (isTooMuch) subscriber.push([{ ...now, kind: "all" }]);
    const { userId } = subscriber;
    if (userId === null) return;
    const [box] = await repository.boxes([{ projectId, userId }]);
    subscriber.boxVersion ??= box?.version ?? 0;
    const isNews =
      last !== null || (await repository.wasNotifiedSince({ projectId, userId }, since));
    if (isNews) subscriber.push([{ ...now, kind: "notifications" }]);
  };

  return {
    /**
     * Yields hints about changes after the cursor `last`, until `signal` aborts. Without a cursor
     * it starts with the changes of the last seconds.
     */
    watch: (
      actor: Actor,
      last: Cursor | null,
      signal: AbortSignal,
    ): AsyncIterableIterator<Batch, undefined> => {
      const { projectId } = actor;
      const leave = (): void => {
        signal.removeEventListener("abort", end);
        stopHeartbeat();
        feed.remove(projectId, subscriber);
        balances.follow();
      };
      const cursorOf = (): Cursor =>
        feed.watched.get(projectId)?.cursor ?? { events: 0, audit: 0 };
      const subscriber = new Subscriber(actor, cursorOf, leave, clock.now());
      const end = (): void => {
        subscriber.end();
        leave();
      };
      const stopHeartbeat = ticker.every(HEARTBEAT_MS, () => subscriber.heartbeat());
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
      catchUp(subscriber, last).then(
        () => {
          // The caller may have disconnected meanwhile.
          if (signal.aborted) leave();
          else {
            balances.follow();
            subscriber.ready();
          }
        },
        () => {
          leave();
          // The stream ends without an end marker, so that the caller reconnects.
          subscriber.fail();
        },
      );
      return subscriber;
    },
  };
};
