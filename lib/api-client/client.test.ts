import { describe, expect, test, vi } from "vitest";
import { exportOperations, getOperation, listOperations } from "@/lib/contracts/operations";
import { requestOtp } from "@/lib/contracts/swap";
import { ApiError, createApiClient, pathOf } from "./client";
import { parseEventStream } from "./events";

type Fetch = typeof fetch;

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

test("parameters and query are put into the path, encoded", () => {
  expect(pathOf(getOperation, { params: { id: "a/b" } })).toBe("/operations/a%2Fb");
  expect(
    pathOf(listOperations, { query: { limit: 5, cursor: "x y", status: undefined } }),
  ).toBe("/operations?limit=5&cursor=x+y");
  expect(pathOf(listOperations, {})).toBe("/operations");
});

describe("a call", () => {
  test("sends method, headers, body and idempotency key, and gives the answer's body", async () => {
    const send = vi.fn<Fetch>(() => Promise.resolve(json(200, { otpId: "otp_1" })));
    const headers = () => Promise.resolve({ authorization: "Bearer t" });
    const client = createApiClient({ baseUrl: "https://x.test/api", headers, fetch: send });
    const answer = await client.call(requestOtp, {
      body: { quoteId: "qt_1" },
      idempotencyKey: "k",
    });
    expect(answer.otpId).toBe("otp_1");
    const [url, init] = send.mock.calls[0] ?? [];
    expect(url).toBe("https://x.test/api/swap/request-otp");
    expect(init?.method).toBe("POST");
    expect(init?.body).toBe('{"quoteId":"qt_1"}');
    expect(Object.fromEntries(new Headers(init?.headers))).toMatchObject({
      authorization: "Bearer t",
      "idempotency-key": "k",
      "content-type": "application/json",
    });
  });

  test("throws what the service said", async () => {
    const body = {
      message: "Moved.",
      code: "quote_price_moved",
      requestId: "req_1",
      quote: { quoteId: "qt_2" },
    };
    const send: Fetch = () =>
      Promise.resolve(json(409, body, { "x-request-id": "req_1", "retry-after": "3" }));
    const client = createApiClient({ baseUrl: "/api", fetch: send });
    const error: unknown = await client.call(listOperations).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 409,
      code: "quote_price_moved",
      message: "Moved.",
      requestId: "req_1",
      body,
    });
    expect(error).toMatchObject({ retryAfterSeconds: 3, details: [] });
  });

  test("a file comes as its text, a refusal of it as an error", async () => {
    const csv: Fetch = () =>
      Promise.resolve(new Response("a,b\r\n", { headers: { "content-type": "text/csv" } }));
    expect(await createApiClient({ baseUrl: "/api", fetch: csv }).call(exportOperations)).toBe(
      "a,b\r\n",
    );
    const refused: Fetch = () =>
      Promise.resolve(json(403, { message: "No.", code: "insufficient_scope" }));
    await expect(
      createApiClient({ baseUrl: "/api", fetch: refused }).call(exportOperations),
    ).rejects.toMatchObject({
      code: "insufficient_scope",
    });
  });

  test("an answer that is no JSON, and no answer at all, are errors too", async () => {
    const page: Fetch = () => Promise.resolve(new Response("<html>", { status: 200 }));
    await expect(
      createApiClient({ baseUrl: "/api", fetch: page }).call(listOperations),
    ).rejects.toMatchObject({
      code: "unexpected_answer",
    });
    const down: Fetch = () => Promise.reject(new TypeError("fetch failed"));
    await expect(
      createApiClient({ baseUrl: "/api", fetch: down }).call(listOperations),
    ).rejects.toMatchObject({
      status: 0,
      code: "network_error",
    });
  });
});

describe("event streams", () => {
  const streamOf = (...chunks: string[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });

  test("are read whatever the chunks and line ends; comments are skipped", async () => {
    const events = [];
    for await (const event of parseEventStream(
      streamOf(
        "retry: 1\n\n: hello\n\nid: 1\neve",
        "nt: a\ndata: x\ndata: y\n",
        "\nid:2\r\ndata:z\r\n\r\ndata: cut",
      ),
    ))
      events.push(event);
    expect(events).toEqual([
      { id: "1", event: "a", data: "x\ny" },
      { id: "2", event: undefined, data: "z" },
    ]);
  });

  test("a refusal is not tried again", async () => {
    const send = vi.fn<Fetch>(() =>
      Promise.resolve(json(404, { message: "No.", code: "not_found" })),
    );
    const client = createApiClient({ baseUrl: "/api", fetch: send });
    await expect(
      client.events(getOperation, { params: { id: "op_1" } }).next(),
    ).rejects.toMatchObject({ status: 404 });
    expect(send).toHaveBeenCalledTimes(1);
  });
});
