import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createApiClient } from "@/lib/api-client/client";
import { defineContract } from "@/lib/contracts/contract";
import { httpServices, KNOWN } from "@/lib/dev/testing/http-services";
import { csvLine } from "@/lib/core/csv";
import { csvDownload } from "./csv-download";
import { createFastServer, type FastServer } from "./fast-server";
import { createRoute } from "./pipeline";
import { created, ok } from "./reply";
import { eventStream, lastEventId } from "./sse";

const base = { summary: "", tag: "", auth: "public", status: 200 } as const;
const response = z.object({ value: z.string() });
const readThing = defineContract({
  ...base,
  method: "GET",
  path: "/things/{id}",
  params: z.object({ id: z.string() }),
  query: z.object({ x: z.string().optional() }),
  response,
});
const makeThing = defineContract({
  ...base,
  method: "POST",
  path: "/things",
  auth: "member",
  status: 201,
  body: z.object({ value: z.string() }),
  response,
});
const watchThing = defineContract({
  ...base,
  method: "GET",
  path: "/things/{id}/events",
  params: z.object({ id: z.string() }),
  response: z.object({ seq: z.number() }),
  mediaType: "text/event-stream",
});

const downloadThing = defineContract({
  ...base,
  method: "GET",
  path: "/things/{id}/file",
  params: z.object({ id: z.string() }),
  response: z.string(),
  mediaType: "text/csv",
});

const route = createRoute(() => httpServices());
const ended = vi.fn();

/**
 * Sends three events, then nothing until the caller disconnects. `broken` fails once, after the
 * second event.
 */
async function* events(from: number, kind: string, signal: AbortSignal) {
  try {
    for (let seq = from + 1; seq <= 3; seq += 1) {
      yield { id: String(seq), event: "tick", data: { seq } };
      if (kind === "broken" && seq === 2 && from === 0) throw new Error("the source broke");
    }
    if (kind === "endless" && !signal.aborted) await once(signal, "abort");
  } finally {
    ended(kind);
  }
}

/** Sends one line and ends; `endless` does not end before the caller disconnects. */
async function* lines(kind: string, signal: AbortSignal) {
  yield csvLine(["first"]);
  if (kind === "endless" && !signal.aborted) await once(signal, "abort");
  yield csvLine(["last"]);
}

const THING = {
  path: "/api/things/[id]",
  module: {
    GET: route({ contract: readThing, handler: ({ params }) => ok({ value: params.id }) }),
  },
};
const ROUTES = [
  THING,
  {
    path: "/api/things",
    module: {
      POST: route({
        contract: makeThing,
        handler: ({ body }) => created({ value: body.value }),
      }),
    },
  },
  {
    path: "/api/things/[id]/events",
    module: {
      GET: route({
        contract: watchThing,
        handler: ({ request, params, signal }) =>
          eventStream(events(Number(lastEventId(request) ?? 0), params.id, signal), {
            heartbeatMs: 20,
          }),
      }),
    },
  },
  {
    path: "/api/things/[id]/file",
    module: {
      GET: route({
        contract: downloadThing,
        handler: ({ params, signal }) => csvDownload("things.csv", lines(params.id, signal)),
      }),
    },
  },
  { path: "/api/[...rest]", module: THING.module },
];

let fast: FastServer;
let origin: string;

const start = async (): Promise<{ fast: FastServer; origin: string }> => {
  const server = createFastServer({
    routes: ROUTES,
    fallbackPrefixes: ["/api/auth/"],
    pages: ({ outgoing, path }) => void outgoing.end(`page ${path}`),
    pageHeaders: () => ({ "x-frame-options": "DENY" }),
    services: httpServices(),
  });
  server.server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    fast: server,
    origin: `http://127.0.0.1:${String((server.server.address() as AddressInfo).port)}`,
  };
};

beforeAll(async () => {
  ({ fast, origin } = await start());
});
afterAll(() => fast.close(1_000));

const post = (body: string) =>
  fetch(`${origin}/api/things`, {
    method: "POST",
    headers: { "x-api-key": KNOWN.key, "content-type": "application/json" },
    body,
  });

describe("routes", () => {
  test("get their parameters, body and headers", async () => {
    const answer = await fetch(`${origin}/api/things/a%20b?x=1`);
    expect(await answer.json()).toEqual({ value: "a b" });
    expect(answer.headers.get("content-type")).toContain("application/json");
    const made = await post('{"value":"é"}');
    expect([made.status, await made.json()]).toEqual([201, { value: "é" }]);
  });

  test("HEAD is GET without the body; OPTIONS and other methods say what is possible", async () => {
    const head = await fetch(`${origin}/api/things/a`, { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("content-length")]).toEqual([
      200,
      "",
      "13",
    ]);
    const options = await fetch(`${origin}/api/things`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
    const other = await fetch(`${origin}/api/things`, { method: "DELETE" });
    expect([other.status, other.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(await other.json()).toMatchObject({ code: "method_not_allowed" });
  });

  test("everything else is the pages', with their headers", async () => {
    for (const path of ["/", "/sign-in?next=1", "/sign-in/", "/api/auth/session"]) {
      const answer = await fetch(origin + path);
      expect(await answer.text()).toBe(`page ${path}`);
      expect(answer.headers.get("x-frame-options")).toBe("DENY");
    }
  });

  // Next must not get these requests: it contains the same modules, but its rules for paths differ.
  test("below /api nothing is the pages' but next-auth's paths", async () => {
    const redirect = await fetch(`${origin}/api/things/?x=1`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      308,
      "/api/things?x=1",
    ]);
    for (const path of ["/api", "/api/", "/api/auth/"]) {
      const answer = await fetch(origin + path);
      expect([path, answer.status, (await answer.json()) as unknown]).toMatchObject([
        path,
        404,
        { code: "not_found" },
      ]);
    }
  });

  test("2 MB are refused with an answer, and the server goes on", async () => {
    const answer = await post(JSON.stringify({ value: "x".repeat(2_000_000) }));
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: "payload_too_large" });
    expect((await post('{"value":"y"}')).status).toBe(201);
  });

  test("a body without an announced length is cut at the limit", async () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        if (sent > 32) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const headers = { "x-api-key": KNOWN.key, "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" };
    const answer = await fetch(`${origin}/api/things`, init);
    expect(answer.status).toBe(413);
  });

  test("a caller that leaves in the middle of its body does no harm", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST /api/things HTTP/1.1\r\nhost: x\r\nx-api-key: ${KNOWN.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"val`,
    );
    socket.destroy();
    expect((await post('{"value":"y"}')).status).toBe(201);
  });
});

describe("streams", () => {
  test("send events with ids, and a heartbeat while there is nothing to tell", async () => {
    const aborter = new AbortController();
    const answer = await fetch(`${origin}/api/things/endless/events`, {
      signal: aborter.signal,
    });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    let text = "";
    const decoder = new TextDecoder();
    const reader = answer.body?.getReader();
    while (reader && !text.includes(": still here"))
      text += decoder.decode((await reader.read()).value);
    expect(text).toContain('id: 3\nevent: tick\ndata: {"seq":3}\n\n');
    ended.mockClear();
    aborter.abort();
    await vi.waitFor(() => expect(ended).toHaveBeenCalledWith("endless"), 20_000);
  });

  test("our client goes on after the last event when the stream breaks, and ends with it", async () => {
    const client = createApiClient({ baseUrl: `${origin}/api` });
    const seen: number[] = [];
    for await (const event of client.events(watchThing, { params: { id: "broken" } }))
      seen.push(event.data.seq);
    expect(seen).toEqual([1, 2, 3]);
  });

  test("closing the server ends streams at once and lets requests finish", async () => {
    const second = await start();
    const answer = await fetch(`${second.origin}/api/things/endless/events`);
    ended.mockClear();
    // The deadline is longer than a test may take, so the test ends in time only if the server does
    // not wait for the stream.
    await Promise.all([second.fast.close(600_000), answer.text()]);
    await vi.waitFor(() => expect(ended).toHaveBeenCalledWith("endless"), 20_000);
    await expect(fetch(`${second.origin}/api/things/a`)).rejects.toThrow();
  });

  test("a document that closing cuts does not look whole", async () => {
    const second = await start();
    expect(await (await fetch(`${second.origin}/api/things/a/file`)).text()).toBe(
      "first\r\nlast\r\n",
    );
    const answer = await fetch(`${second.origin}/api/things/endless/file`);
    const text = answer.text();
    text.catch(() => undefined);
    await second.fast.close(5_000);
    await expect(text).rejects.toThrow();
  });
});
