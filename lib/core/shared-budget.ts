/**
 * A request rate that several processes share. Each process takes requests from a common token
 * bucket in slices.
 */
export interface BudgetSlice {
  /** Number of requests that this process may send. */
  readonly granted: number;
  /**
   * Requests left for all processes. Negative when sends and repeated requests have used more than
   * the bucket had.
   */
  readonly left: number;
}

export interface BudgetStore {
  /**
   * Refills the bucket for the time since the last call, up to `capacity`, and takes at most
   * `wanted` requests from it. For the `sends` among them, the bucket may fall to `-debtMax`.
   * `owed` requests were already sent and are always taken.
   */
  take(input: {
    readonly chainId: number;
    readonly perSecond: number;
    readonly capacity: number;
    readonly debtMax: number;
    readonly wanted: number;
    readonly sends: number;
    readonly owed: number;
  }): Promise<BudgetSlice>;
}

export interface SharedBudget {
  /**
   * Resolves when one request may be sent. Sends go before reads, and may use up the requests of
   * the next second.
   * @throws the error of `onTimeout` when that takes longer than `waitMaxMs`
   */
  acquire(kind: "read" | "send"): Promise<void>;
  /** Counts requests that were sent without `acquire`, such as repetitions of a request. */
  owe(requests: number): void;
}

export interface SharedBudgetOptions {
  readonly chainId: number;
  readonly perSecond: number;
  readonly store: BudgetStore;
  readonly onTimeout: () => Error;
  /** Called for each request that had to wait. `timeout`: the request was not sent. */
  readonly onWaited?: (seconds: number, outcome: "sent" | "timeout") => void;
  readonly waitMaxMs?: number;
}

/**
 * A process takes the requests for this time in one statement, so that the number of its statements
 * does not grow with the number of its requests.
 */
const SLICE_MS = 100;
/**
 * The bucket holds at most the requests for this time. A larger bucket would allow a high rate
 * after an idle time.
 */
const CAPACITY_MS = 250;
/**
 * Requests that a process took but did not send expire after this time. The shared bucket may have
 * refilled since they were taken, and using both would exceed the rate.
 */
const KEPT_MS = 250;
const DEBT_MAX_MS = 1_000;
const WAIT_MAX_MS = 10_000;
const WANTED_MAX = 10_000;

interface Waiter {
  readonly go: () => void;
  readonly timer: NodeJS.Timeout;
}

const partOf = (perSecond: number, ms: number): number =>
  Math.max(1, Math.floor((perSecond * ms) / 1000));

/** A pause of at least one millisecond that can be ended early. */
const pauseOf = (ms: number): { readonly ended: Promise<void>; end(): void } => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.max(1, Math.ceil(ms)));
    end = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { ended, end: () => end() };
};

/** Adds a waiter and resolves when it may go. Calls `added` after it was added. */
const waitIn = (
  waiters: Set<Waiter>,
  { onTimeout, onWaited, waitMaxMs = WAIT_MAX_MS }: SharedBudgetOptions,
  added: () => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const waited = (outcome: "sent" | "timeout"): void =>
      onWaited?.((performance.now() - began) / 1000, outcome);
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      waited("timeout");
      reject(onTimeout());
    }, waitMaxMs);
    const go = (): void => {
      waited("sent");
      resolve();
    };
    const waiter: Waiter = { go, timer };
    waiters.add(waiter);
    added();
  });

/**
 * Keeps the average rate of all processes within `perSecond`. For a short time, the rate may
 * exceed it by a quarter and by one slice per process. While the store does not answer, each
 * process may use the whole rate.
 */
export const createSharedBudget = (options: SharedBudgetOptions): SharedBudget => {
  const { chainId, perSecond, store } = options;
  const slice = partOf(perSecond, SLICE_MS);
  const limits = {
    capacity: partOf(perSecond, CAPACITY_MS),
    debtMax: partOf(perSecond, DEBT_MAX_MS),
  };
  const waiting = { send: new Set<Waiter>(), read: new Set<Waiter>() };
  const own = { left: 0, untilMs: 0, owed: 0 };
  let isTaking = false;
  let wake: (() => void) | null = null;

  const isAnybodyWaiting = (): boolean => waiting.send.size + waiting.read.size > 0;

  const spend = (): boolean => {
    if (own.left < 1 || own.untilMs < performance.now()) return false;
    own.left -= 1;
    return true;
  };

  const serve = (): void => {
    for (const waiter of [...waiting.send, ...waiting.read]) {
      if (!spend()) return;
      waiting.send.delete(waiter);
      waiting.read.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.go();
    }
  };

  const takeSlice = async (): Promise<BudgetSlice> => {
    const sends = waiting.send.size;
    const wanted = Math.min(WANTED_MAX, Math.max(sends, slice));
    const { owed } = own;
    try {
      const taken = await store.take({ chainId, perSecond, ...limits, wanted, sends, owed });
      own.owed -= owed;
      return taken;
    } catch {
      return { granted: slice, left: 0 };
    }
  };

  const takeWhileNeeded = async (): Promise<void> => {
    while (isAnybodyWaiting()) {
      const sends = waiting.send.size;
      const { granted, left } = await takeSlice();
      if (own.untilMs < performance.now()) own.left = 0;
      own.left += granted;
      own.untilMs = performance.now() + KEPT_MS;
      serve();
      // A send that arrived in the meantime does not wait for the pause.
      if (!isAnybodyWaiting() || (waiting.send.size > 0 && sends === 0)) continue;
      // Reads wait until the bucket has a full slice again. A send that arrives in the meantime
      // ends the pause.
      const pause = pauseOf(((Math.min(slice, limits.capacity) - left) * 1000) / perSecond);
      wake = pause.end;
      await pause.ended;
      wake = null;
    }
  };

  const begin = (): void => {
    if (isTaking) return;
    isTaking = true;
    void takeWhileNeeded().finally(() => {
      isTaking = false;
      if (isAnybodyWaiting()) begin();
    });
  };

  const wait = (kind: "read" | "send"): Promise<void> =>
    waitIn(waiting[kind], options, () => {
      if (kind === "send") wake?.();
      begin();
    });

  return {
    acquire: (kind) => {
      const isFirst = waiting.send.size === 0 && (kind === "send" || waiting.read.size === 0);
      return isFirst && spend() ? Promise.resolve() : wait(kind);
    },
    owe: (requests) => {
      own.owed += requests;
    },
  };
};
