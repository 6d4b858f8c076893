/** JSON-RPC 2.0 over HTTP for viem's clients, in batches. */
import { createTransport, HttpRequestError, RpcRequestError, TimeoutError, type Transport } from "viem";
import { z } from "zod";
import { textOf, type RpcFetch, type RpcResponse } from "./rpc-http";

/** How long calls gather while the node answers an earlier request. */
const GATHER_MS = 4;

export interface RpcTransportOptions {
  /** Milliseconds from sending a request until its whole answer is read. */
  readonly timeoutMs: number;
  /** How often viem repeats a call whose failure may pass. */
  readonly retries: number;
  /** Calls in one request. */
  readonly batchMax: number;
  readonly fetchFn: RpcFetch;
}

// A type, because viem's errors take no interface as a body.
type Call = Readonly<{ method: string; params?: unknown }>;

interface Waiting {
  readonly call: Call;
  readonly done: (result: unknown) => void;
  readonly fail: (error: Error) => void;
}

const rpcError = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() });
const failure = z.looseObject({ error: rpcError });
const answer = z.looseObject({ id: z.number(), result: z.unknown().optional(), error: z.unknown().optional() });

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Without the user and password that a URL may carry, because errors name it. */
const shownUrl = (url: string): string => {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
};

/** By the id of a call its result, or the error with which it fails. */
type Outcomes = (id: number, call: Call) => { readonly result: unknown } | { readonly error: Error };

const outcomesOf = (url: string, response: RpcResponse, text: string | null): Outcomes => {
  const { ok, status, statusText, headers } = response;
  const refused = (body: Call, details: string): { error: Error } => ({
    // viem repeats a call whose error has no status.
    error: new HttpRequestError({ url, body, details, ...(ok ? {} : { status, headers }) }),
  });
  if (text === null) return (_, call) => refused(call, "The answer is too long.");
  const json = jsonOf(text);
  if (!Array.isArray(json)) {
    const whole = failure.safeParse(json);
    return (_, body) =>
      whole.success
        ? { error: new RpcRequestError({ url, body, error: whole.data.error }) }
        : refused(body, ok ? "The node answered with something other than JSON-RPC." : statusText);
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
    const error = rpcError.safeParse(own.error).data ?? { code: -32603, message: JSON.stringify(own.error) };
    return { error: new RpcRequestError({ url, body, error }) };
  };
};

/**
 * Sends calls to one URL. Those of one turn of the event loop share a request, and while the node answers a request the next calls
 * gather, so that a busy process makes fewer requests and a call at rest waits for nothing.
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
    const body = JSON.stringify(calls.map((call, index) => ({ jsonrpc: "2.0", id: firstId + index, ...call })));
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetchFn(url, { method: "POST", body, headers, signal: ended.signal });
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
 * A transport over one URL. viem's own (`http`) builds an error and a `Request` for every request in advance, which took longer than
 * sending it, and sends the calls of each moment by themselves.
 * @throws viem's errors: `HttpRequestError` and `TimeoutError` when the node does not answer, `RpcRequestError` when it refuses the call
 */
export const rpcTransport = (url: string, options: RpcTransportOptions): Transport => {
  const request = createSender(url, options);
  return () =>
    createTransport(
      {
        key: "http",
        name: "HTTP JSON-RPC",
        type: "http",
        request: (({ method, params }: Call) =>
          request(params === undefined ? { method } : { method, params })) as never,
        retryCount: options.retries,
        timeout: options.timeoutMs,
      },
      { url },
    );
};
