/** Keeps one stream of changes open while the page is visible. */
import type { ServerEvent } from "@/lib/api-client/events";
import type { Change } from "./changed-keys";
import type { LiveState } from "./live-state";

export interface ChangeStreamDeps {
  /**
   * Opens the stream after the last received event. It reconnects by itself, and throws when it
   * gives up.
   */
  readonly open: (
    lastEventId: string | null,
    signal: AbortSignal,
  ) => AsyncIterable<ServerEvent<{ readonly changes: readonly Change[] }>>;
  readonly onChanges: (changes: readonly Pick<Change, "kind" | "id">[]) => void;
  readonly onState: (state: LiveState) => void;
  readonly isHidden: () => boolean;
  readonly nowMs?: () => number;
}

/**
 * After this silence, the lists are polled. A working stream has data at least every 15 seconds.
 */
const DOWN_AFTER_MS = 20_000;
/**
 * After this silence the connection is closed and opened again, because it may be broken without
 * either side noticing.
 */
const CUT_AFTER_MS = 45_000;
const RETRY_MS = 30_000;
/**
 * A new stream begins with the changes of the last 15 seconds. If opening it takes longer than this
 * limit, the page's first answers may have missed changes, so they are loaded again.
 */
const LATE_MS = 10_000;

/**
 * Opens the stream, unless the page is hidden. Call `look` whenever the page becomes visible or
 * hidden.
 */
export const createChangeStream = (deps: ChangeStreamDeps) => {
  const { open, onChanges, onState, isHidden, nowMs = () => performance.now() } = deps;
  const startedMs = nowMs();
  let lastEventId: string | null = null;
  let connection: AbortController | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const read = async (controller: AbortController): Promise<void> => {
    let silence: ReturnType<typeof setTimeout> | undefined;
    let cut: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(silence);
      clearTimeout(cut);
      silence = setTimeout(() => onState("down"), DOWN_AFTER_MS);
      cut = setTimeout(() => controller.abort(), CUT_AFTER_MS);
    };
    heard();
    try {
      for await (const { id, data } of open(lastEventId, controller.signal)) {
        heard();
        if (lastEventId === null && nowMs() - startedMs > LATE_MS)
          onChanges([{ kind: "all", id: null }]);
        lastEventId = id ?? lastEventId;
        onState("live");
        onChanges(data.changes);
      }
    } finally {
      clearTimeout(silence);
      clearTimeout(cut);
    }
  };

  const connect = (): void => {
    clearTimeout(retry);
    if (stopped || connection !== null || isHidden()) return;
    const own = new AbortController();
    connection = own;
    // The error is ignored, because the lists are polled until the stream is open again.
    void read(own)
      .catch(() => undefined)
      .finally(() => {
        // The page was hidden and is visible again, so another connection is already open.
        if (connection !== null && connection !== own) return;
        connection = null;
        if (stopped || isHidden()) return;
        onState("down");
        // A connection that was closed because it was silent is opened again without a pause.
        retry = setTimeout(connect, own.signal.aborted ? 0 : RETRY_MS);
      });
  };

  connect();
  return {
    /**
     * Closes the stream of a hidden page. For a visible page, opens it again after the last event.
     */
    look: (): void => {
      if (isHidden()) {
        connection?.abort();
        connection = null;
      } else connect();
    },
    stop: (): void => {
      stopped = true;
      clearTimeout(retry);
      connection?.abort();
    },
  };
};
