import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { API_HEADERS } from "./headers";
import { getLogger, loggedError } from "./logger";
import { NodeInput } from "./node-input";
import type { RouteHandler } from "./pipeline";
import { toAnswer } from "./problem";
import type { Answer } from "./reply";
import { createRouteTable } from "./route-table";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type RouteMethod = (typeof METHODS)[number];

/** A route file: its path as Next writes it, and what it exports. */
export interface RouteEntry {
  readonly path: string;
  readonly module: Partial<Readonly<Record<RouteMethod, RouteHandler>>>;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

interface FastServerOptions {
  readonly routes: readonly RouteEntry[];
  /** Prefixes under /api whose unknown paths are the fallback's (next-auth's catch-all). */
  readonly fallbackPrefixes: readonly string[];
  /** Everything else: pages, assets, next-auth. */
  readonly fallback: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
  /** Set on what the fallback answers. */
  readonly fallbackHeaders: Readonly<Record<string, string>>;
  readonly publicUrl: string;
  readonly logLevel: string;
}

export interface FastServer {
  readonly server: Server;
  /** Stops accepting, ends streams, lets the rest finish; after the deadline cuts what is left. */
  close(deadlineMs: number): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 65_000;
const DRAIN_MS = 2_000;
const IDLE_SWEEP_MS = 50;

// Node would keep reading an upload that was refused; give the caller a moment to read the answer, then hang up.
const drain = (incoming: IncomingMessage): void => {
  if (incoming.complete || incoming.destroyed) return;
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
};

const sendAnswer = (answer: Answer, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  if (outgoing.destroyed) return;
  const headers: Record<string, string | number> = answer.headers;
  if (answer.status !== 204) headers["content-length"] = Buffer.byteLength(answer.body);
  if (!incoming.complete && incoming.method !== "GET" && incoming.method !== "HEAD") {
    headers.connection = "close";
    outgoing.once("finish", () => drain(incoming));
  }
  outgoing.writeHead(answer.status, headers);
  outgoing.end(incoming.method === "HEAD" ? undefined : answer.body);
};

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.once("drain", done);
    outgoing.once("close", done);
  });

interface Streaming {
  readonly outgoing: ServerResponse;
  readonly closing: AbortSignal;
  readonly headOnly: boolean;
  /** Tells the source that nobody listens any more. */
  readonly abort: () => void;
}

/**
 * Pipes a stream out. When the caller goes away, or the server closes, the source is told and the stream cancelled. A stream that
 * broke ends without its end marker (see `eventStream`), which tells the caller to come back.
 */
const sendResponse = async (response: Response, { outgoing, closing, headOnly, abort }: Streaming): Promise<void> => {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const hasEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const reader = response.body?.getReader();
  const isCut = (): boolean => closing.aborted;
  const cancel = (): void => {
    abort();
    void reader?.cancel().catch(() => undefined);
  };
  if (!reader || headOnly || outgoing.destroyed || isCut()) {
    cancel();
    outgoing.end();
    return;
  }
  outgoing.once("close", cancel);
  closing.addEventListener("abort", cancel, { once: true });
  try {
    outgoing.flushHeaders();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!outgoing.write(value)) await drained(outgoing);
    }
    // A broken document must not look whole; for events the missing end marker says so.
    if (isCut() && !hasEvents) outgoing.destroy();
    else outgoing.end();
  } catch (error) {
    if (hasEvents) outgoing.end();
    throw error;
  } finally {
    outgoing.off("close", cancel);
    closing.removeEventListener("abort", cancel);
  }
};

const allowOf = (module: RouteEntry["module"]): string => {
  const methods: string[] = METHODS.filter((method) => module[method] !== undefined);
  if (methods.includes("GET")) methods.push("HEAD");
  return [...methods, "OPTIONS"].join(", ");
};

const answerOptions = (entry: RouteEntry): Answer => ({
  status: 204,
  headers: { ...API_HEADERS, allow: allowOf(entry.module) },
  body: "",
});

const answerMethod = (entry: RouteEntry, method: string): Answer => {
  const requestId = newId("request");
  const allow = allowOf(entry.module);
  const error = new DomainError("method_not_allowed", `${method} is not possible here; ${allow} are.`);
  const answer = toAnswer(error, requestId);
  return { ...answer, headers: { ...API_HEADERS, ...answer.headers, allow, "x-request-id": requestId } };
};

/**
 * A server that takes `/api/*` straight to the route modules and everything else to `fallback` (Next). Next's own way to a route
 * handler costs ten to forty times what the work costs; the modules are the same, and stay valid under plain Next.
 */
export const createFastServer = (options: FastServerOptions): FastServer => {
  const find = createRouteTable(options.routes);
  const closing = new AbortController();
  const fallbackHeaders = Object.entries(options.fallbackHeaders);
  const logger = getLogger(options.logLevel);

  const isFallback = (path: string, entry: RouteEntry): boolean =>
    entry.path.includes("[...") && options.fallbackPrefixes.some((prefix) => path.startsWith(prefix));

  const dispatch = async (entry: RouteEntry, params: Readonly<Record<string, string>>, io: Exchange): Promise<void> => {
    const { incoming, outgoing } = io;
    const method = incoming.method === "HEAD" ? "GET" : (incoming.method ?? "GET");
    const handler = entry.module[method as RouteMethod];
    if (handler === undefined) {
      sendAnswer(method === "OPTIONS" ? answerOptions(entry) : answerMethod(entry, method), incoming, outgoing);
      return;
    }
    const input = new NodeInput(incoming, outgoing, options.publicUrl);
    const result = await handler.respond(input, params);
    if (!(result instanceof Response)) {
      sendAnswer(result, incoming, outgoing);
      return;
    }
    const headOnly = incoming.method === "HEAD";
    await sendResponse(result, { outgoing, closing: closing.signal, headOnly, abort: () => input.abort() });
  };

  const route = (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const url = incoming.url ?? "/";
    if (url.startsWith("/api/")) {
      const queryAt = url.indexOf("?");
      const path = queryAt === -1 ? url : url.slice(0, queryAt);
      // A slash at the end, or a doubled one, is redirected by Next.
      const match = path.endsWith("/") || path.includes("//") ? null : find(path);
      if (match && !isFallback(path, match.entry)) return dispatch(match.entry, match.params, { incoming, outgoing });
    }
    for (const [name, value] of fallbackHeaders) outgoing.setHeader(name, value);
    return options.fallback(incoming, outgoing);
  };

  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (incoming, outgoing) => {
      if (closing.signal.aborted) outgoing.setHeader("connection", "close");
      route(incoming, outgoing).catch((error: unknown) => {
        if (!outgoing.destroyed) logger.error({ err: loggedError(error) }, "an answer could not be sent");
        outgoing.destroy();
      });
    },
  );

  const close = (deadlineMs: number): Promise<void> =>
    new Promise((resolve) => {
      const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
      // A connection that was busy becomes idle only after its answer.
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      server.close(() => {
        clearTimeout(deadline);
        clearInterval(sweep);
        resolve();
      });
      closing.abort();
    });

  return { server, close };
};
