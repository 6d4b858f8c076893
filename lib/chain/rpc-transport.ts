import {
  createTransport,
  HttpRequestError,
  RpcRequestError,
  TimeoutError,
  type Transport,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import {
  type BudgetStore,
  createSharedBudget,
  type SharedBudget,
  type SharedBudgetOptions,
} from "@/lib/core/shared-budget";
import { type RpcFetch, type RpcResponse, textOf } from "./rpc-http";
import { isRateLimited, meantCode, RATE_LIMITED, TOO_MANY_REQUESTS } from "./node-errors";
import { z } from "zod";

// Keeps the requests of all processes to a chain's nodes within the chain's budget.

export const SEND = "eth_sendRawTransaction";

export interface RpcGate {
  /** Makes each call wait for its turn before the transport's own deadline begins. */
  transport(inner: Transport): Transport;
  /**
   * Charges the budget for requests for which no call has waited: retries, requests to other URLs,
   * and parts of a log search or of a batch that the node rejected.
   */
  fetch(inner: RpcFetch): RpcFetch;
}

export const OPEN_GATE: RpcGate = { transport: (inner) => inner, fetch: (inner) => inner };

const callsIn = (body: unknown): number => {
  if (typeof body !== "string" || !body.startsWith("[")) return 1;
  const batch: unknown = JSON.parse(body);
  return Array.isArray(batch) ? batch.length : 1;
};

export const gateOf = (budget: SharedBudget): RpcGate => {
  let underWay = 0;
  /** Number of current calls that have waited for the budget but were not sent yet. */
  let unsent = 0;
  return {
    transport: (inner) => (options) => {
      const made = inner(options);
      const request = async (
        args: { method: string; params?: unknown },
        requestOptions?: unknown,
      ): Promise<unknown> => {
        await budget.acquire(args.method === SEND ? "send" : "read");
        underWay += 1;
        unsent += 1;
        try {
          return await made.request(args as never, requestOptions as never);
        } finally {
          underWay -= 1;
          // A call that shares the answer of another call is never sent, so it must not count as
          // unsent after it has ended.
          unsent = Math.min(unsent, underWay);
        }
      };
      return { ...made, request: request as typeof made.request };
    },
    fetch: (inner) => (url, init) => {
      const calls = callsIn(init?.body);
      const awaited = Math.min(unsent, calls);
      unsent -= awaited;
      if (calls > awaited) budget.owe(calls - awaited);
      return inner(url, init);
    },
  };
};

interface ChainBudget {
  readonly chainId: number;
  readonly perSecond: number;
  readonly store: BudgetStore;
  readonly onWaited?: SharedBudgetOptions["onWaited"];
}

/** The gate of one chain in this process. All processes with the same store share the budget. */
export const createRpcGate = ({ chainId, perSecond, store, onWaited }: ChainBudget): RpcGate =>
  gateOf(
    createSharedBudget({
      chainId,
      perSecond,
      store,
      ...(onWaited === undefined ? {} : { onWaited }),
      onTimeout: () =>
        new DomainError(
          "chain_unavailable",
          `Too many requests wait for chain ${String(chainId)}, whose budget is RPC_BUDGET_${String(chainId)}. This one was not sent and moved nothing; try again shortly.`,
        ),
    }),
  );

interface RpcPace {
  /**
   * Runs a call when it has its turn. A call that the node refuses because of the request rate is
   * tried again later.
   * @throws the error of `call`, for another reason or after the last try
   */
  run<T>(call: () => Promise<T>): Promise<T>;
}

interface PaceOptions {
  /** Maximum number of times that a call is sent; 1 when another node can be called instead. */
  readonly tries: number;
  readonly refusal: () => Error;
  readonly monotonicMs?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * Gap between calls after the first rate limit error. Each further such error widens the gap, up to
 * `GAP_MAX_MS`.
 */
const GAP_MIN_MS = 20;
const GAP_MAX_MS = 200;
/**
 * First pause without calls after a rate limit error. Each further such error doubles the pause, up
 * to `PAUSE_MAX_MS`.
 */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 1_000;
/**
 * Maximum time that a call waits for its turn. A call that would wait longer fails without waiting.
 */
const WAIT_MAX_MS = 4_000;
const WIDER = 1.5;
const NARROWER = 0.9;

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * The pace of calls to one node. After a rate limit error nothing is sent for a while. Later calls
 * keep a gap, which shrinks with each answer until it is zero. Calls run in the order in which
 * they were made, so that many reads of one task do not block the reads of another.
 */
export const createRpcPace = ({
  tries,
  refusal,
  monotonicMs = () => performance.now(),
  pause = sleep,
}: PaceOptions): RpcPace => {
  let gapMs = 0;
  let pauseMs = 0;
  let nextAt = 0;
  let pausedUntil = 0;

  const turn = async (): Promise<void> => {
    const began = monotonicMs();
    while (gapMs > 0) {
      const now = monotonicMs();
      const at = Math.max(now, nextAt, pausedUntil);
      if (at - began > (tries > 1 ? WAIT_MAX_MS : 0)) throw refusal();
      nextAt = at + gapMs;
      if (at === now) return;
      await pause(at - now);
      // The node may have limited another call during this pause, and `pausedUntil` is then later.
      if (monotonicMs() >= pausedUntil) return;
    }
  };

  const slow = (): void => {
    const now = monotonicMs();
    // Rate limit errors of calls that were sent at the same time count once.
    if (now < pausedUntil) return;
    gapMs = Math.min(GAP_MAX_MS, Math.max(GAP_MIN_MS, gapMs * WIDER));
    pauseMs = Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs * 2));
    pausedUntil = now + pauseMs;
    nextAt = pausedUntil;
  };

  const ease = (): void => {
    pauseMs = 0;
    gapMs = gapMs <= GAP_MIN_MS ? 0 : gapMs * NARROWER;
  };

  return {
    run: async (call) => {
      for (let tried = 1; ; tried += 1) {
        await turn();
        try {
          const result = await call();
          ease();
          return result;
        } catch (error) {
          if (!isRateLimited(error)) throw error;
          slow();
          if (tried >= tries) throw error;
        }
      }
    },
  };
};

// JSON-RPC 2.0 over HTTP for viem's clients, in batches.

/** How long calls are collected while the node answers an earlier request. */
const GATHER_MS = 4;

export interface RpcTransportOptions {
  /** Milliseconds from sending a request until its whole answer is read. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly batchMax: number;
  readonly fetchFn: RpcFetch;
  /**
   * Maximum number of times that a call is sent while the node limits the request rate; 1 when
   * another node can be called instead.
   */
  readonly triesWhileLimited?: number;
}

// A type alias, because viem's errors do not accept an interface as body.
type Call = Readonly<{ method: string; params?: unknown }>;

interface Waiting {
  readonly call: Call;
  readonly done: (result: unknown) => void;
  readonly fail: (error: Error) => void;
}

const rpcError = z.object({
  code: z.number(),
  message: z.string(),
  data: z.unknown().optional(),
});
const failure = z.looseObject({ error: rpcError });
const answer = z.looseObject({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The URL without user name and password, because errors contain it. */
const shownUrl = (url: string): string => {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
};

const answered = (url: string, body: Call, error: z.output<typeof rpcError>): RpcRequestError =>
  new RpcRequestError({ url, body, error: { ...error, code: meantCode(error) } });

type Outcomes = (
  id: number,
  call: Call,
) => { readonly result: unknown } | { readonly error: Error };

const outcomesOf = (url: string, response: RpcResponse, text: string | null): Outcomes => {
  const { ok, status, statusText, headers } = response;
  const refused = (body: Call, details: string): { error: Error } => ({
    error: status === TOO_MANY_REQUESTS ? limited(body) : failed(body, details),
  });
  const limited = (body: Call): Error =>
    answered(url, body, { code: RATE_LIMITED, message: "too many requests (HTTP 429)" });
  const failed = (body: Call, details: string): Error =>
    // The status of a successful response is left out, because viem repeats a call whose error has
    // no status.
    new HttpRequestError({ url, body, details, ...(ok ? {} : { status, headers }) });
  if (text === null) return (_, call) => refused(call, "The answer is too long.");
  const json = jsonOf(text);
  if (!Array.isArray(json)) {
    const whole = failure.safeParse(json);
    return (_, body) =>
      whole.success
        ? { error: answered(url, body, whole.data.error) }
        : refused(
            body,
            ok ? "The node answered with something other than JSON-RPC." : statusText,
          );
  }
  if (!ok) return (_, call) => refused(call, statusText);
  const byId = new Map<number, z.output<typeof answer>>();
  for (const each of json) {
    const parsed = answer.safeParse(each);
    if (parsed.success) byId.set(parsed.data.id, parsed.data);
  }
  return (id, body) => {
    const own = byId.get(id);
    if (own === undefined) return refused(body, "The node left out the answer to this call.");
    if (own.error === undefined || own.error === null) return { result: own.result };
    const error = rpcError.safeParse(own.error).data ?? {
      code: -32603,
      message: JSON.stringify(own.error),
    };
    return { error: answered(url, body, error) };
  };
};

/**
 * Sends calls to one URL. Calls of one turn of the event loop share a request. While the node
 * answers a request, further calls are collected, so that a busy process sends fewer requests. A
 * single call does not wait.
 */
const createSender = (url: string, { timeoutMs, batchMax, fetchFn }: RpcTransportOptions) => {
  const shown = shownUrl(url);
  const waiting: Waiting[] = [];
  let underWay = 0;
  let lastId = 0;
  let isPlanned = false;
  let gathering: ReturnType<typeof setTimeout> | undefined;

  const ask = async (calls: readonly Call[], firstId: number): Promise<Outcomes> => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      ended.abort();
    }, timeoutMs);
    const body = JSON.stringify(
      calls.map((call, index) => ({ jsonrpc: "2.0", id: firstId + index, ...call })),
    );
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetchFn(url, {
        method: "POST",
        body,
        headers,
        signal: ended.signal,
      });
      return outcomesOf(shown, response, await textOf(response));
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      return (_, call) => ({
        error: ended.signal.aborted
          ? new TimeoutError({ url: shown, body: call })
          : new HttpRequestError({ url: shown, body: call, cause: error }),
      });
    } finally {
      clearTimeout(timer);
    }
  };

  const post = async (group: readonly Waiting[]): Promise<void> => {
    const firstId = lastId + 1;
    lastId += group.length;
    underWay += 1;
    const outcomes = await ask(
      group.map(({ call }) => call),
      firstId,
    );
    underWay -= 1;
    group.forEach(({ call, done, fail }, index) => {
      const outcome = outcomes(firstId + index, call);
      if ("error" in outcome) fail(outcome.error);
      else done(outcome.result);
    });
    if (!isPlanned) send();
  };

  const send = (): void => {
    isPlanned = false;
    clearTimeout(gathering);
    gathering = undefined;
    while (waiting.length > 0) void post(waiting.splice(0, batchMax));
  };

  const plan = (): void => {
    if (isPlanned) return;
    if (underWay > 0 && waiting.length < batchMax) {
      gathering ??= setTimeout(send, GATHER_MS);
      return;
    }
    isPlanned = true;
    setImmediate(send);
  };

  return (call: Call): Promise<unknown> =>
    new Promise((done, fail) => {
      waiting.push({ call, done, fail });
      plan();
    });
};

/**
 * A transport over one URL. It replaces viem's `http`, which does not collect calls over time, and
 * which creates an error and a `Request` in advance for every request. Creating them took longer
 * than sending the request.
 * @throws viem's errors: `HttpRequestError` and `TimeoutError` when the node does not answer,
 * `RpcRequestError` when it refuses the call
 */
export const rpcTransport = (url: string, options: RpcTransportOptions): Transport => {
  const request = createSender(url, options);
  const pace = createRpcPace({
    tries: options.triesWhileLimited ?? 1,
    refusal: () =>
      answered(
        shownUrl(url),
        { method: "none" },
        { code: RATE_LIMITED, message: "The node limits our requests." },
      ),
  });
  const paced = (call: Call): Promise<unknown> =>
    // Transactions skip the pace, so that they never wait behind reads.
    call.method === SEND ? request(call) : pace.run(() => request(call));
  return () =>
    createTransport(
      {
        key: "http",
        name: "HTTP JSON-RPC",
        type: "http",
        request: (({ method, params }: Call) =>
          paced(params === undefined ? { method } : { method, params })) as never,
        retryCount: options.retries,
        timeout: options.timeoutMs,
      },
      { url },
    );
};
