import { z } from "zod";

const CALL_TIMEOUT_MS = 30_000;

const answer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

export interface RpcCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

const post = async (url: string, body: unknown, timeoutMs: number): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return response.json();
};

/**
 * Sends the calls in one HTTP request, in order.
 * @throws Error of the first call that the node refused
 */
export const rpcBatch = async (
  url: string,
  calls: readonly RpcCall[],
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<unknown[]> => {
  if (calls.length === 0) return [];
  const body = calls.map(({ method, params = [] }, id) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  }));
  const answers = z.array(answer).parse(await post(url, body, timeoutMs));
  const byId = new Map(answers.map((item) => [item.id, item]));
  return calls.map(({ method }, id) => {
    const item = byId.get(id);
    if (!item || item.error)
      throw new Error(`${method} failed: ${item?.error?.message ?? "no answer"}`);
    return item.result;
  });
};

export const rpc = async (
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<unknown> => (await rpcBatch(url, [{ method, params }], timeoutMs))[0];
