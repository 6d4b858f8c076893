import type { IncomingMessage, ServerResponse } from "node:http";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { compressed, sendAnswer } from "./compress";
import { API_HEADERS, type PageHeaders, transportHeaders } from "./headers";
import { countRequest, type LimitServices } from "./limits";
import { NodeInput } from "./node-input";
import { createPagesGate, type PageRequest } from "./pages-gate";
import type { RouteHandler } from "./pipeline";
import { toAnswer } from "./problem";
import { JSON_TYPE, type Answer } from "./reply";
import { readTarget, type RequestTarget } from "./request-target";
import { createRouteTable, type RouteMatch } from "./route-table";
import { sendStream } from "./send-stream";
import type { StaticFiles } from "./static-files";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type RouteMethod = (typeof METHODS)[number];

export interface RouteEntry {
  readonly path: string;
  readonly module: Partial<Readonly<Record<RouteMethod, RouteHandler>>>;
}

export interface RouterOptions {
  readonly routes: readonly RouteEntry[];
  /**
   * Prefixes below /api whose unknown paths go to the pages (next-auth's catch-all). Nothing else
   * below /api reaches the pages.
   */
  readonly fallbackPrefixes: readonly string[];
  /** Handles all other requests: pages, assets, next-auth. */
  readonly pages: (request: PageRequest) => void;
  readonly files?: StaticFiles;
  readonly pageHeaders: PageHeaders;
  /** Services for the limits of addresses, which the pages share with the API. */
  readonly services: LimitServices;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

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

const answerMethod = (entry: RouteEntry, method: string, publicUrl: string): Answer => {
  const requestId = newId("request");
  const allow = allowOf(entry.module);
  const error = new DomainError(
    "method_not_allowed",
    `${method} is not possible here; ${allow} are.`,
  );
  const answer = toAnswer(error, requestId, { publicUrl });
  return {
    ...answer,
    headers: { ...API_HEADERS, ...answer.headers, allow, "x-request-id": requestId },
  };
};

/**
 * Redirects like Next, with a text for clients that do not follow redirects. The path is canonical,
 * so it cannot lead to another site.
 */
const answerSlash = ({ path, search }: RequestTarget): Answer => {
  const location = path.slice(0, -1) + search;
  const message = `Paths have no slash at their end. Send the request to ${location}; nothing was done.`;
  return {
    status: 308,
    headers: { ...API_HEADERS, "content-type": JSON_TYPE, location },
    body: JSON.stringify({ message, code: "not_found" }),
  };
};

const isCatchAll = ({ entry }: RouteMatch<RouteEntry>): boolean => entry.path.includes("[...");

/**
 * Returns a function that answers a request by its route module, or passes it to the pages. Each
 * request is counted once against its address, by its route or here. The promise of the function
 * rejects with the error for the answer, which may be any error.
 * @param closing aborts when the server closes; streams end then
 */
export const createRequestRouter = (options: RouterOptions, closing: AbortSignal) => {
  const { services, fallbackPrefixes } = options;
  const { publicUrl } = services.config;
  const find = createRouteTable(options.routes);
  const passToPages = createPagesGate({
    services,
    pages: options.pages,
    headers: options.pageHeaders,
    ...(options.files === undefined ? {} : { files: options.files }),
  });

  const count = ({ incoming, outgoing }: Exchange): void =>
    countRequest(services, new NodeInput(incoming, outgoing, publicUrl));

  const transport = transportHeaders(publicUrl);
  const settle = (io: Exchange, answer: Answer): void => {
    count(io);
    Object.assign(answer.headers, transport);
    sendAnswer(answer, io.incoming, io.outgoing);
  };

  const targetOf = (io: Exchange): RequestTarget => {
    try {
      const target = readTarget(io.incoming.url ?? "/");
      io.incoming.url = target.path + target.search;
      return target;
    } catch (error) {
      count(io);
      throw error;
    }
  };

  const dispatch = async (
    { entry, params }: RouteMatch<RouteEntry>,
    io: Exchange,
  ): Promise<void> => {
    const { incoming, outgoing } = io;
    const method = incoming.method === "HEAD" ? "GET" : (incoming.method ?? "GET");
    const handler = entry.module[method as RouteMethod];
    if (handler === undefined) {
      settle(
        io,
        method === "OPTIONS" ? answerOptions(entry) : answerMethod(entry, method, publicUrl),
      );
      return;
    }
    const input = new NodeInput(incoming, outgoing, publicUrl);
    const result = await handler.respond(input, params);
    if (!(result instanceof Response)) {
      sendAnswer(
        await compressed(result, incoming.headers["accept-encoding"]),
        incoming,
        outgoing,
      );
      return;
    }
    const headOnly = incoming.method === "HEAD";
    await sendStream(result, { outgoing, closing, headOnly, abort: () => input.abort() });
  };

  return async (io: Exchange): Promise<void> => {
    if (io.incoming.url === "*" && io.incoming.method === "OPTIONS") {
      settle(io, { status: 204, headers: { ...API_HEADERS }, body: "" });
      return;
    }
    const target = targetOf(io);
    const { path } = target;
    if (path !== "/api" && !path.startsWith("/api/")) return passToPages(target, io);
    if (path.endsWith("/") && path !== "/api/") {
      settle(io, answerSlash(target));
      return;
    }
    const match = find(path);
    const isPages = fallbackPrefixes.some(
      (prefix) => path.startsWith(prefix) && path.length > prefix.length,
    );
    if (isPages && (match === null || isCatchAll(match))) return passToPages(target, io);
    if (match) return dispatch(match, io);
    count(io);
    throw new DomainError(
      "not_found",
      "No operation has this path. GET /api/openapi.json lists the paths.",
    );
  };
};
