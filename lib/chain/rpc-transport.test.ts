import type { RpcRequestError } from "viem";
import { HttpRequestError, TimeoutError } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { rpcResponse, type RpcFetch } from "./rpc-http";
import { rpcTransport, type RpcTransportOptions } from "./rpc-transport";

const URL_WITH_KEY = "https://someone:secret@node.example/v1";

interface Sent {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A node that holds requests until the test answers them. */
const heldNode = () => {
  const requests: {
    calls: readonly Sent[];
    answer: (body: unknown, status?: number) => void;
  }[] = [];
  const fetchFn: RpcFetch = (_, init) =>
    new Promise((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => {
        reject(new DOMException("aborted", "AbortError"));
      });
      requests.push({
        calls: JSON.parse(init?.body as string) as Sent[],
        answer: (body, status = 200) => {
          resolve(
            rpcResponse(
              status,
              new Headers(),
              typeof body === "string" ? body : JSON.stringify(body),
            ),
          );
        },
      });
    });
  return { requests, fetchFn };
};

const caller = (fetchFn: RpcFetch, options: Partial<RpcTransportOptions> = {}) => {
  const transport = rpcTransport(URL_WITH_KEY, {
    timeoutMs: 60_000,
    retries: 0,
    batchMax: 10,
    fetchFn,
    ...options,
  });
  const { request } = transport({});
  return (method: string, ...params: unknown[]): Promise<unknown> =>
    request({ method, params });
};

/** Answers each call with its method. */
const echoes = (calls: readonly Sent[]) =>
  calls.map(({ id, method }) => ({ jsonrpc: "2.0", id, result: method }));
const turn = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test("calls of one moment share a request, in batches of at most batchMax, and each gets its own answer", async () => {
  const { requests, fetchFn } = heldNode();
  const call = caller(fetchFn, { batchMax: 2 });
  const results = Promise.all([call("a", 1), call("b"), call("c")]);
  await turn();
  expect(requests.map(({ calls }) => calls.map(({ method }) => method))).toEqual([
    ["a", "b"],
    ["c"],
  ]);
  expect(requests[0]?.calls[0]).toMatchObject({ jsonrpc: "2.0", params: [1] });
  for (const { calls, answer } of requests) answer(echoes(calls).reverse());
  expect(await results).toEqual(["a", "b", "c"]);
});

test("calls gather while the node answers, and go out together with its answer", async () => {
  // Fake timers keep the time limit for collecting calls from passing, however busy the machine is.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { requests, fetchFn } = heldNode();
  const call = caller(fetchFn);
  const first = call("first");
  await turn();
  const later = Promise.all([call("second"), turn().then(() => call("third"))]);
  await turn();
  await turn();
  expect(requests).toHaveLength(1);
  requests[0]?.answer(echoes(requests[0].calls));
  expect(await first).toBe("first");
  await turn();
  expect(requests[1]?.calls.map(({ method }) => method)).toEqual(["second", "third"]);
  requests[1]?.answer(echoes(requests[1].calls));
  expect(await later).toEqual(["second", "third"]);
});

test("calls do not wait for a node that takes long to answer another one", async () => {
  const { requests, fetchFn } = heldNode();
  const call = caller(fetchFn);
  const slow = call("slow");
  await turn();
  const next = call("next");
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.answer(echoes(requests[1].calls));
  expect(await next).toBe("next");
  requests[0]?.answer(echoes(requests[0].calls));
  expect(await slow).toBe("slow");
});

test("an error of one call of a batch fails that call alone, with the node's code", async () => {
  const { requests, fetchFn } = heldNode();
  const call = caller(fetchFn);
  const [good, bad, missing] = [call("good"), caught(call("bad")), caught(call("missing"))];
  await turn();
  const [{ id: goodId } = { id: 0 }, { id: badId } = { id: 0 }] = requests[0]?.calls ?? [];
  requests[0]?.answer([
    {
      jsonrpc: "2.0",
      id: badId,
      error: { code: 3, message: "execution reverted", data: "0x08" },
    },
    { jsonrpc: "2.0", id: goodId, result: null },
  ]);
  expect(await good).toBeNull();
  const error = (await bad) as RpcRequestError;
  expect(error).toMatchObject({ code: 3, details: "execution reverted" });
  expect(await missing).toBeInstanceOf(HttpRequestError);
});

test.each([
  [
    "an object with an error in place of the list",
    { error: { code: -32005, message: "limit exceeded" } },
    200,
    -32029,
  ],
  [
    "such an object with a status",
    { error: { code: -32005, message: "limit exceeded" } },
    429,
    -32029,
  ],
  ["the page of a proxy with status 429", "<html>Slow down</html>", 429, -32029],
  ["an empty list with status 429", [], 429, -32029],
])("%s fails each call with that error", async (_, body, status, code) => {
  const { requests, fetchFn } = heldNode();
  const call = caller(fetchFn);
  const both = [caught(call("a")), caught(call("b"))];
  await turn();
  requests[0]?.answer(body, status);
  for (const error of await Promise.all(both)) expect(error).toMatchObject({ code });
});

test("a page of a proxy fails with its status, and errors do not name the user and password of the URL", async () => {
  const { requests, fetchFn } = heldNode();
  const failed = caught(caller(fetchFn)("a"));
  await turn();
  requests[0]?.answer("<html>Bad gateway</html>", 502);
  const error = (await failed) as HttpRequestError;
  expect(error).toBeInstanceOf(HttpRequestError);
  expect(error.status).toBe(502);
  expect(error.message).toContain("node.example");
  expect(error.message).not.toContain("secret");
});

test("a node that is silent for too long fails with a time-out, and one that cannot be reached with its cause", async () => {
  const { fetchFn } = heldNode();
  expect(await caught(caller(fetchFn, { timeoutMs: 1 })("a"))).toBeInstanceOf(TimeoutError);
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const error = await caught(caller(() => Promise.reject(refused))("a"));
  expect(error).toBeInstanceOf(HttpRequestError);
  expect((error as Error).cause).toBe(refused);
});

test("a call whose answer is missing is sent again", async () => {
  const { requests, fetchFn } = heldNode();
  const result = caller(fetchFn, { retries: 1 })("a");
  await turn();
  requests[0]?.answer([]);
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.answer(echoes(requests[1].calls));
  expect(await result).toBe("a");
});
