import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { getServices, setServices } from "@/lib/composition";
import { contracts } from "@/lib/contracts/all";
import { routes } from "@/lib/routes.gen";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testApi } from "@/lib/dev/testing/api";
import { createFastServer } from "./fast-server";

const TOKEN = "a-token-for-reading-metrics";
const EVIL = "rebound.evil.example";
const api = await testApi({ devnet: false });
const session = await api.signIn();

/** The service as `server.ts` starts it, with pages that answer every request. */
const serve = async (config: Partial<typeof api.services.config>): Promise<number> => {
  const services = { ...api.services, config: { ...api.services.config, ...config } };
  setServices(services);
  const { server, close } = createFastServer({
    routes,
    fallbackPrefixes: [],
    pages: ({ outgoing }) => void outgoing.writeHead(200).end("a page"),
    pageHeaders: () => ({}),
    services,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => close(1_000));
  return (server.address() as AddressInfo).port;
};

type Headers = Readonly<Record<string, string>>;
interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request as a browser does, because `fetch` does not allow setting `Host`. */
const ask = (
  port: number,
  path: string,
  headers: Headers = {},
  method = "GET",
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.once("error", reject).end(method === "GET" ? undefined : "{}");
  });

const DEVELOPMENT = contracts.filter(({ tag }) => tag === "Development");
const pathOf = (path: string): string => `/api${path.replaceAll(/\{\w+\}/g, "x")}`;
const person = {
  authorization: `Bearer ${session.accessToken}`,
  "content-type": "application/json",
};
const before = getServices();
afterFile(() => setServices(before));

test("a page of another site that points its name at this machine reads no mail, no webhooks and no metrics", async () => {
  const port = await serve({ metricsToken: null });
  for (const { method, path } of DEVELOPMENT) {
    const answer = await ask(port, pathOf(path), { ...person, host: EVIL }, method);
    expect([path, answer.status, JSON.parse(answer.body)]).toMatchObject([
      path,
      403,
      { code: "forbidden" },
    ]);
  }
  expect((await ask(port, "/dev/mail", { host: EVIL })).status).toBe(403);
  expect((await ask(port, "/api/metrics", { host: EVIL })).status).toBe(403);
  for (const host of [
    `localhost:${String(port)}`,
    "127.0.0.1",
    "[::1]:1",
    new URL(api.services.config.publicUrl).host,
  ])
    for (const path of ["/api/dev/inbox", "/api/metrics", "/dev/mail"])
      expect([host, path, (await ask(port, path, { host })).status]).toEqual([host, path, 200]);
  // All other routes answer under any name.
  expect((await ask(port, "/api/health", { host: EVIL })).status).toBe(200);
});

test("in production nothing below /dev is there, for anybody", async () => {
  const port = await serve({ env: "production" });
  for (const { method, path } of DEVELOPMENT)
    for (const headers of [person, {}])
      expect([path, (await ask(port, pathOf(path), headers, method)).status]).toEqual([
        path,
        404,
      ]);
  for (const path of ["/dev", "/dev/mail", "/dev/webhooks", "/dev/nothing"])
    expect([path, (await ask(port, path)).status]).toEqual([path, 404]);
  expect((await ask(port, "/sign-in")).status).toBe(200);
});

test("readiness tells strangers up or down, and its parts to whoever has the token or sits at the machine", async () => {
  const port = await serve({ env: "production", metricsToken: TOKEN });
  const read = async (
    headers: Headers,
  ): Promise<{ status: string; parts?: { name: string }[] }> =>
    JSON.parse((await ask(port, "/api/ready", headers)).body) as never;
  // No worker runs here, so the service is not ready.
  const forwarded = { "x-forwarded-for": "203.0.113.7" };
  const strangers: Headers[] = [
    forwarded,
    { host: EVIL },
    { ...forwarded, authorization: "Bearer wrong" },
  ];
  for (const headers of strangers)
    expect(await read(headers)).toEqual({ status: "unavailable" });
  const operators: Headers[] = [{}, { ...forwarded, authorization: `Bearer ${TOKEN}` }];
  for (const headers of operators) {
    const { status, parts = [] } = await read(headers);
    expect([status, parts.map(({ name }) => name)]).toEqual([
      "unavailable",
      expect.arrayContaining(["database", "disk"]),
    ]);
  }
});
