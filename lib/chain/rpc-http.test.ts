import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { ANSWER_BYTES_MAX, rpcFetch } from "./rpc-http";

const closers: (() => unknown)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

const serve = async (
  listener: RequestListener,
): Promise<{ url: string; sockets: Set<Socket> }> => {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/rpc?key=1`,
    sockets,
  };
};

const ask = (url: string, signal?: AbortSignal) =>
  rpcFetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: "Basic x" },
    body: '{"id":1,"word":"größe"}',
    ...(signal ? { signal } : {}),
  });

test("the node gets the whole request, and its answer comes back with status, type and Retry-After", async () => {
  let seen: unknown;
  const { url } = await serve((request, response) => {
    void text(request).then((body) => {
      seen = {
        url: request.url,
        type: request.headers["content-type"],
        auth: request.headers.authorization,
        body,
      };
      response.writeHead(429, {
        "content-type": "application/json; charset=utf-8",
        "retry-after": "7",
      });
      response.end('{"error":"schön"}');
    });
  });
  const answer = await ask(url);
  expect(seen).toEqual({
    url: "/rpc?key=1",
    type: "application/json",
    auth: "Basic x",
    body: '{"id":1,"word":"größe"}',
  });
  expect(answer).toMatchObject({ ok: false, status: 429, body: null });
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(answer.headers.get("retry-after")).toBe("7");
  expect(await answer.text()).toBe('{"error":"schön"}');
});

test("a compressed answer is read, and neither form may be longer than the limit", async () => {
  const bodies = ['{"a":1}', `"${"0".repeat(ANSWER_BYTES_MAX)}"`];
  const answerWith =
    (body: string, isCompressed: boolean) => (_: IncomingMessage, response: ServerResponse) => {
      if (isCompressed) response.setHeader("content-encoding", "gzip");
      response.end(isCompressed ? gzipSync(body) : body);
    };
  for (const isCompressed of [true, false]) {
    const [short, long] = await Promise.all(
      bodies.map(async (body) => (await serve(answerWith(body, isCompressed))).url),
    );
    const answer = await ask(short ?? "");
    expect([answer.ok, await answer.text()]).toEqual([true, '{"a":1}']);
    const tooLong = await ask(long ?? "");
    expect(Number(tooLong.headers.get("content-length"))).toBeGreaterThan(ANSWER_BYTES_MAX);
    expect(await tooLong.text()).toBe("");
  }
});

test("a signal ends a request whose answer does not come, and one whose answer stops in the middle", async () => {
  for (const begins of [false, true]) {
    const abort = new AbortController();
    const { url } = await serve((_, response) => {
      if (begins) response.write('{"a":');
      setImmediate(() => abort.abort());
    });
    await expect(ask(url, abort.signal)).rejects.toMatchObject({ name: "AbortError" });
  }
});

test("a connection that the node closed while it was idle is replaced, and used again otherwise", async () => {
  let count = 0;
  const { url, sockets } = await serve((request, response) => {
    count += 1;
    // Simulates a node whose idle timeout expires while the next request is on its way.
    if (count === 3) request.socket.resetAndDestroy();
    else response.end("{}");
  });
  for (let call = 0; call < 3; call += 1) expect(await (await ask(url)).text()).toBe("{}");
  expect([count, sockets.size]).toEqual([4, 2]);
});

test("a node that cannot be reached is an error with its code", async () => {
  const { url } = await serve((_, response) => response.end());
  closers.splice(0).forEach((close) => close());
  await expect(ask(url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
