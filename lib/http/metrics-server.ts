import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DomainError } from "@/lib/core/errors";
import { METRICS_MEDIA_TYPE } from "@/lib/platform/telemetry/registry";
import { requireMetricsAccess } from "./own-host";

interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  readonly publicUrl: string;
  render(): Promise<string>;
}

const PATHS: ReadonlySet<string> = new Set(["/metrics", "/api/metrics"]);
const STATUS = { unauthorized: 401, forbidden: 403, not_found: 404 } as const;
const REQUEST_TIMEOUT_MS = 5_000;

const headerOf = (incoming: IncomingMessage, name: string): string | null => {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
};

const statusOf = (error: unknown): number => {
  const code = error instanceof DomainError ? error.code : "";
  return code === "unauthorized" || code === "forbidden" || code === "not_found"
    ? STATUS[code]
    : 500;
};

const answer = async (
  options: MetricsServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => {
  const end = (status: number, body = ""): void =>
    void outgoing
      .writeHead(status, { "content-type": METRICS_MEDIA_TYPE, "cache-control": "no-store" })
      .end(body);
  try {
    const peerAddress = incoming.socket.remoteAddress ?? "";
    const { token, publicUrl } = options;
    requireMetricsAccess({
      token,
      publicUrl,
      peerAddress,
      header: (name) => headerOf(incoming, name),
    });
    if (incoming.method !== "GET" || !PATHS.has((incoming.url ?? "").split("?")[0] ?? ""))
      end(404);
    else end(200, await options.render());
  } catch (error) {
    end(statusOf(error));
  }
};

/** Serves only the metrics, for a process without a web server. Rejects when the port is in use. */
export const startMetricsServer = async (
  options: MetricsServerOptions,
): Promise<{ readonly port: number; stop(): Promise<void> }> => {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (incoming, outgoing) => {
    void answer(options, incoming, outgoing);
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
