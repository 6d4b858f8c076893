import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import type { ScreenedAddress } from "@/lib/trust/ports/screening";
import { screeningContract } from "@/lib/trust/ports/screening.contract";
import { createHttpScreening } from "./http-provider";

const LISTED = "0x00000000000000000000000000000000000000aa";
const CLEAR = "0x00000000000000000000000000000000000000bb";
const TOKEN = "a token that is a secret";

interface Asked {
  readonly addresses: readonly ScreenedAddress[];
}
type Reply = (asked: Asked, response: ServerResponse, attempt: number) => void;

const servers: Server[] = [];
const shut = (server: Server): void => {
  server.closeAllConnections();
  server.close();
};
afterAll(() => servers.forEach(shut));

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

const honest: Reply = ({ addresses }, response) => {
  const results = addresses.map(({ address, chainId }) => ({
    ...{ address, chainId },
    verdict: address.toLowerCase() === LISTED ? "hit" : "clear",
  }));
  response.end(JSON.stringify({ listVersion: "2026-11-24", results }));
};

const provider = async (reply: Reply) => {
  const requests: { readonly asked: Asked; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const asked = JSON.parse(body) as Asked;
      requests.push({ asked, authorization: request.headers.authorization });
      reply(asked, response, requests.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/screen`;
  return { server, url, requests };
};

const sourceAt = (url: string, timeoutMs = 20_000) =>
  createHttpScreening({ url, token: TOKEN, clock: systemClock, timeoutMs });
const asked = (address: string): ScreenedAddress => ({
  address: address as `0x${string}`,
  chainId: 1,
});
const signal = () => AbortSignal.timeout(30_000);
const statesOf = async (url: string, timeoutMs?: number) =>
  (await sourceAt(url, timeoutMs).screen([asked(LISTED), asked(CLEAR)], signal())).map(
    ({ state }) => state,
  );

screeningContract("the HTTP provider", async () => {
  const { server, url } = await provider(honest);
  return {
    source: sourceAt(url),
    listed: asked(LISTED),
    clear: asked(CLEAR),
    breakDown: () => {
      shut(server);
      return Promise.resolve();
    },
  };
});

describe("the HTTP provider", () => {
  afterEach(() => servers.splice(0).forEach(shut));

  test("is sent the token, and each address once", async () => {
    const { url, requests } = await provider(honest);
    await sourceAt(url).screen(
      [asked(CLEAR), asked(CLEAR.toUpperCase().replace("0X", "0x"))],
      signal(),
    );
    expect(requests).toMatchObject([
      { authorization: `Bearer ${TOKEN}`, asked: { addresses: [{ chainId: 1 }] } },
    ]);
    expect(requests[0]?.asked.addresses).toHaveLength(1);
  });

  test("is asked again after an error, twice at most", async () => {
    const { url, requests } = await provider((body, response, attempt) => {
      response.statusCode = attempt === 1 ? 503 : 200;
      honest(body, response, attempt);
    });
    expect(await statesOf(url)).toEqual(["hit", "clear"]);
    expect(requests).toHaveLength(2);
    const down = await provider((_, response) => response.writeHead(503).end());
    expect(await statesOf(down.url)).toEqual(["unavailable", "unavailable"]);
    expect(down.requests).toHaveLength(2);
  });

  test("is unavailable when it never answers, after two attempts", async () => {
    const { url, requests } = await provider(() => undefined);
    expect(await statesOf(url, 50)).toEqual(["unavailable", "unavailable"]);
    expect(requests.length).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ["no JSON", "<html>"],
    [
      "another form",
      JSON.stringify({ results: [{ address: LISTED, chainId: 1, verdict: "clean" }] }),
    ],
    ["no results", JSON.stringify({ ok: true })],
    ["far too much", `{"results":[],"pad":"${"x".repeat(1_100_000)}"}`],
  ])("is unavailable when it answers %s, and is not asked again", async (_, text) => {
    const { url, requests } = await provider((_asked, response) => response.end(text));
    expect(await statesOf(url)).toEqual(["unavailable", "unavailable"]);
    expect(requests).toHaveLength(1);
  });

  test("is unavailable for an address that its answer leaves out, or answers for another chain", async () => {
    const { url } = await provider((_asked, response) =>
      response.end(
        JSON.stringify({
          results: [
            { address: LISTED, chainId: 1, verdict: "hit" },
            { address: CLEAR, chainId: 2, verdict: "clear" },
          ],
        }),
      ),
    );
    expect(await statesOf(url)).toEqual(["hit", "unavailable"]);
  });

  test("counts the hit of two contradicting verdicts, and not_covered never as clear", async () => {
    const { url } = await provider((_asked, response) => {
      const results = (["hit", "clear"] as const).map((verdict) => ({
        address: LISTED,
        verdict,
      }));
      response.end(
        JSON.stringify({ results: [...results, { address: CLEAR, verdict: "not_covered" }] }),
      );
    });
    expect(await statesOf(url)).toEqual(["hit", "not_covered"]);
  });

  test("is not followed to another place", async () => {
    const other = await provider(honest);
    const { url } = await provider((_asked, response) =>
      response.writeHead(307, { location: other.url }).end(),
    );
    expect(await statesOf(url)).toEqual(["unavailable", "unavailable"]);
    expect(other.requests).toEqual([]);
  });
});
