import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { defineContract } from "@/lib/contracts/contract";
import type { ConnectionLimits } from "@/lib/http/connection-guard";
import { createFastServer, type FastServer } from "@/lib/http/fast-server";
import { createPageHeaders } from "@/lib/http/headers";
import type { PageRequest } from "@/lib/http/pages-gate";
import { createRoute } from "@/lib/http/pipeline";
import type { RateStore } from "@/lib/http/rate-limit";
import { ok } from "@/lib/http/reply";
import { httpServices } from "./http-services";

const health = defineContract({
  method: "GET",
  path: "/health",
  summary: "",
  tag: "",
  auth: "public",
  status: 200,
  response: z.object({ value: z.string() }),
});
const signIn = defineContract({
  ...health,
  method: "POST",
  path: "/auth/token",
  signInAttempt: true,
  body: z.object({ value: z.unknown() }),
});

/** The requests that the mock of the pages received in this test. */
export const passed: PageRequest[] = [];
export const servers: FastServer[] = [];

const closeAll = async (): Promise<void> => {
  await Promise.all(servers.splice(0).map((server) => server.close(100)));
  passed.length = 0;
};

/** A store that counts requests by bucket. */
const countingStore = (counted: Map<string, number>): RateStore => ({
  add: (increments) => {
    for (const { bucket, by } of increments)
      counted.set(bucket, (counted.get(bucket) ?? 0) + by);
    return Promise.resolve([]);
  },
});

interface Settings {
  readonly perIp?: number;
  readonly signInPerIp?: number;
  readonly hops?: number;
  readonly publicUrl?: string;
  readonly connections?: Partial<ConnectionLimits>;
}

/** A fast server with two routes, whose pages answer `a page`. It is closed after the test. */
export const start = async (settings: Settings = {}) => {
  // Registered in each call, because all files of one worker share this module, and a module-level
  // hook would belong only to the first file.
  onTestFinished(closeAll);
  const {
    perIp = 1_000,
    signInPerIp = 500,
    hops = 0,
    publicUrl = "http://localhost:3000",
    connections = {},
  } = settings;
  const base = httpServices();
  const config = {
    ...base.config,
    publicUrl,
    rateLimitPerIp: perIp,
    rateLimitSignInPerIp: signInPerIp,
    trustedProxyHops: hops,
  };
  const now = new Date(600_000);
  const counted = new Map<string, number>();
  const services = {
    ...base,
    config,
    rateStore: countingStore(counted),
    clock: { now: () => now },
  };
  const route = createRoute(() => services);
  const server = createFastServer({
    routes: [
      {
        path: "/api/health",
        module: { GET: route({ contract: health, handler: () => ok({ value: "fine" }) }) },
      },
      {
        path: "/api/auth/token",
        module: { POST: route({ contract: signIn, handler: () => ok({ value: "in" }) }) },
      },
    ],
    fallbackPrefixes: ["/api/auth/"],
    pages: (request) => {
      passed.push(request);
      request.outgoing.end("a page");
    },
    pageHeaders: createPageHeaders({ publicUrl, chains: [], walletConnect: false }),
    services,
    connections,
  });
  servers.push(server);
  server.server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return { port: (server.server.address() as AddressInfo).port, counted };
};

/** Sends raw bytes, and reads until the server closes the connection. */
export const exchange = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  socket.write(Buffer.from(bytes, "latin1"));
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
};

export const get = (port: number, target: string, headers = ""): Promise<string> =>
  exchange(port, `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`);

export const statusOf = (text: string): number =>
  Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
export const bodyOf = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);
