import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import {
  bodyOf,
  exchange,
  get,
  passed,
  servers,
  start,
  statusOf,
} from "@/lib/dev/testing/edge-server";

const answersIn = (text: string): number => text.split("HTTP/1.1 ").length - 1;

const PEER = "ip:127.0.0.1";

describe("a target that two readers could take for different paths", () => {
  test.each([
    ["/api/health", 200],
    ["/%61pi/health", 200],
    ["http://other.example/api/health", 200],
    ["/x/../api/health", 400],
    ["/x/%2e%2e/api/health", 400],
    ["/x/.%2e/api/health", 400],
    ["/x/%252e%252e/api/health", 404],
    ["/./api/health", 400],
    ["//api/health", 400],
    ["//evil.example/api/health", 400],
    ["/x//api/health", 400],
    ["/x/..%2fapi/health", 404],
    ["/x/..\\api\\health", 400],
    ["/x/..%5capi%5chealth", 404],
    ["/api%2fhealth", 404],
    ["/api/../api/health", 400],
    ["/api/health/..", 400],
    ["/api/auth/jwks%ff", 400],
    ["/api/auth/error?error=%0d%0a", 400],
    ["/api/auth/error?error=%ff", 400],
    ["/api/auth/session%00", 400],
    ["/api/%", 400],
    ["/api/health%0d%0aset-cookie:x=1", 400],
    ["/\u00e9", 400],
    ["http://other.example//evil.example", 400],
    ["*", 400],
    ["health", 400],
    ["/x\0/api/health", 400],
  ])("%j is answered once with %i, and counted for the true peer", async (target, status) => {
    const { port, counted } = await start();
    const answer = await get(
      port,
      target,
      "x-forwarded-for: 6.6.6.6\r\nforwarded: for=6.6.6.6\r\n",
    );
    expect([answersIn(answer), statusOf(answer)]).toEqual([1, status]);
    if (status !== 200)
      expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: expect.any(String) as string });
    await vi.waitFor(() => expect([...counted]).toEqual([[PEER, 1]]), 20_000);
    expect(passed).toEqual([]);
  });

  test("a caller that resets its connection after CONNECT does no harm", async () => {
    const { port } = await start();
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write("CONNECT 10.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n");
      // The answer shows that the server has taken the connection over from its parser.
      await once(socket, "data");
      socket.resetAndDestroy();
    }
    expect(statusOf(await get(port, "/api/health"))).toBe(200);
  });

  test("headers of more than 16 KiB are answered once, and counted", async () => {
    const { port, counted } = await start();
    const answer = await get(port, `/${"a".repeat(20_000)}`);
    expect([answersIn(answer), statusOf(answer)]).toEqual([1, 431]);
    await vi.waitFor(() => expect([...counted]).toEqual([[PEER, 1]]), 20_000);
  });

  test("no other method opens a way round: CONNECT, OPTIONS *, methods that a route has not", async () => {
    const { port, counted } = await start();
    const line = (text: string) =>
      exchange(port, `${text} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(statusOf(await line("CONNECT 10.0.0.1:22"))).toBe(405);
    expect(statusOf(await line("OPTIONS *"))).toBe(204);
    expect(statusOf(await line("DELETE /api/health"))).toBe(405);
    expect(statusOf(await exchange(port, "not http at all\r\n\r\n"))).toBe(400);
    await vi.waitFor(() => expect([...counted]).toEqual([[PEER, 4]]), 20_000);
    expect(passed).toEqual([]);
  });
});

describe("the limit of an address", () => {
  test("counts pages, assets, next-auth and the API together, whatever a caller says about itself", async () => {
    const { port } = await start({ perIp: 4 });
    const lie = (index: number) =>
      `x-forwarded-for: 6.6.6.${String(index)}\r\nx-real-ip: 6.6.6.6\r\n`;
    const targets = [
      "/",
      "/api/health",
      "/api/auth/session",
      "/_next/static/x.js",
      "/",
      "/api/health",
      "/x/../api",
    ];
    const statuses: number[] = [];
    for (const [index, target] of targets.entries())
      statuses.push(statusOf(await get(port, target, lie(index))));
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429]);
    expect(passed).toHaveLength(3);
  });

  test("is stricter for attempts to sign in, by the API and by next-auth together", async () => {
    const { port } = await start({ signInPerIp: 2 });
    const post = (target: string) =>
      exchange(
        port,
        `POST ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"value":1}`,
      );
    const token = "/api/auth/token";
    const callback = "/api/auth/callback/credentials";
    const statuses: number[] = [];
    for (const target of [token, callback, callback, token])
      statuses.push(statusOf(await post(target)));
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(statusOf(await get(port, "/api/auth/session"))).toBe(200);
    expect(statusOf(await get(port, "/api/health"))).toBe(200);
  });

  test("tells a browser in a page, and a program in the API's error body", async () => {
    const { port } = await start({ perIp: 1 });
    await get(port, "/");
    const page = await get(port, "/", "accept: text/html\r\n");
    expect([statusOf(page), page]).toEqual([
      429,
      expect.stringContaining("<h1>Too many requests</h1>"),
    ]);
    expect(page.toLowerCase()).toContain("retry-after: ");
    expect(
      JSON.parse(bodyOf(await get(port, "/api/auth/session", "accept: text/html\r\n"))),
    ).toMatchObject({
      code: "rate_limited",
    });
  });
});

describe("what reaches the pages", () => {
  test("names the true peer, and the app's own address", async () => {
    const { port } = await start();
    await get(
      port,
      "/activity?x=1",
      "x-forwarded-for: 6.6.6.6\r\nx-forwarded-host: evil.example\r\nx-causeway-path: //evil.example\r\n",
    );
    const {
      "content-security-policy": policy,
      "x-causeway-nonce": nonce,
      ...headers
    } = passed[0]?.headers ?? {};
    expect(policy).toContain(`'nonce-${String(nonce)}'`);
    expect(headers).toEqual({
      host: "localhost:3000",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": "localhost:3000",
      "x-forwarded-proto": "http",
      "x-causeway-path": "/activity?x=1",
    });
  });

  test("behind a proxy of ours it is the caller that the proxy saw", async () => {
    const { port, counted } = await start({ hops: 1 });
    await get(port, "/", "x-forwarded-for: 6.6.6.6, 203.0.113.7\r\n");
    expect(passed[0]?.headers["x-forwarded-for"]).toBe("203.0.113.7");
    await vi.waitFor(() => expect([...counted]).toEqual([["ip:203.0.113.7", 1]]), 20_000);
  });

  const post = (port: number, target: string, size: number, announced: boolean) => {
    const body = "x".repeat(size);
    const framed = announced ? body : `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const length = announced ? `content-length: ${String(size)}` : "transfer-encoding: chunked";
    return exchange(
      port,
      `POST ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${length}\r\n\r\n${framed}`,
    );
  };

  test.each([
    ["/api/auth/callback/credentials", 16 * 1024],
    ["/sign-in", 1024 * 1024],
  ])(
    "%s may have a body of %i bytes and no more, announced or not",
    async (target, bytesMax) => {
      const { port } = await start();
      for (const announced of [true, false]) {
        expect(statusOf(await post(port, target, bytesMax, announced))).toBe(200);
        expect(statusOf(await post(port, target, bytesMax + 1, announced))).toBe(413);
      }
      expect(
        passed.map(({ body, headers }) => [body.byteLength, headers["content-length"]]),
      ).toEqual([
        [bytesMax, String(bytesMax)],
        [bytesMax, String(bytesMax)],
      ]);
      expect(passed[1]?.headers["transfer-encoding"]).toBeUndefined();
    },
  );

  test("a large announced body is refused before a byte of it came", async () => {
    const { port } = await start();
    const head =
      "POST /api/auth/callback/credentials HTTP/1.1\r\nhost: x\r\ncontent-length: 40000000\r\n\r\n";
    expect(statusOf(await exchange(port, head))).toBe(413);
    expect(passed).toEqual([]);
  });
});

describe("a connection", () => {
  const quick = { headersTimeoutMs: 150, requestTimeoutMs: 300, checkEveryMs: 25 };

  test("that sends its headers slowly is ended with 408", async () => {
    const { port } = await start({ connections: quick });
    const answer = await exchange(port, "GET /api/health HTTP/1.1\r\nhost: x\r\nx-slow: ");
    expect([answersIn(answer), statusOf(answer)]).toEqual([1, 408]);
  });

  test.each(["/api/auth/token", "/api/auth/callback/credentials"])(
    "that sends its body to %s slowly is ended with 408",
    async (target) => {
      const { port } = await start({ connections: quick });
      const head = `POST ${target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`;
      const answer = await exchange(port, head);
      expect([answersIn(answer), statusOf(answer)]).toEqual([1, 408]);
      expect(passed).toEqual([]);
    },
  );

  test("that sends nothing, or does not read what it asked for, is ended", async () => {
    const { port } = await start({ connections: { idleTimeoutMs: 100 } });
    expect(await exchange(port, "")).toBe("");
  });

  test("beyond an address's share is refused, and those that are open go on", async () => {
    const { port } = await start({ connections: { perAddress: 2 } });
    const open = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    await Promise.all(open.map((socket) => once(socket, "connect")));
    expect(await get(port, "/api/health")).toBe("");
    const [first, second] = open;
    first?.destroy();
    await vi.waitFor(
      async () => expect(statusOf(await get(port, "/api/health"))).toBe(200),
      20_000,
    );
    second?.write("GET /api/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    const [chunk] = (await once(second ?? first ?? process, "data")) as [Buffer];
    expect(statusOf(chunk.toString())).toBe(200);
  });

  test("has these bounds unless a test says otherwise", async () => {
    await start();
    const [server] = servers;
    expect(server?.server).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      timeout: 120_000,
    });
  });
});
