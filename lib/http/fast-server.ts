import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createRequestRouter, type RouterOptions } from "./request-router";
import { CONNECTION_LIMITS, guardConnections, serverOptions, type ConnectionLimits } from "./connection-guard";
import { addressBucket } from "./client-address";
import { edgeError } from "./edge-error";
import { transportHeaders } from "./headers";
import { countNetwork } from "./limits";
import { getLogger, loggedError } from "@/lib/log/logger";
import { toDomainError } from "./problem";
import { sendAnswer } from "./send-answer";

interface FastServerOptions extends RouterOptions {
  readonly connections?: Partial<ConnectionLimits>;
}

export interface FastServer {
  readonly server: Server;
  /** Stops accepting, ends streams, and lets other requests finish; after the deadline it closes the remaining connections. */
  close(deadlineMs: number): Promise<void>;
}

const IDLE_SWEEP_MS = 50;

/**
 * A server that takes `/api/*` straight to the route modules and everything else to `pages` (Next). Next's own route
 * handling costs ten to forty times the work of a handler. The modules are the same and stay valid under plain Next.
 */
export const createFastServer = (options: FastServerOptions): FastServer => {
  const { services } = options;
  const { logLevel, publicUrl, trustedProxyHops } = services.config;
  const closing = new AbortController();
  const logger = getLogger(logLevel);
  const route = createRequestRouter(options, closing.signal);
  // Behind a proxy all connections come from one address.
  const perAddress = trustedProxyHops === 0 ? CONNECTION_LIMITS.perAddress : 0;
  const limits = { ...CONNECTION_LIMITS, perAddress, ...options.connections };

  const fail = (error: unknown, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const domainError = toDomainError(error);
    if (domainError.code === "internal_error" && !outgoing.destroyed)
      logger.error({ err: loggedError(error) }, "an answer could not be sent");
    const answer = edgeError(domainError, incoming);
    Object.assign(answer.headers, transportHeaders(publicUrl));
    sendAnswer(answer, incoming, outgoing);
  };

  const server = createServer(serverOptions(limits), (incoming, outgoing) => {
    if (closing.signal.aborted) outgoing.setHeader("connection", "close");
    route({ incoming, outgoing }).catch((error: unknown) => fail(error, incoming, outgoing));
  });
  guardConnections(server, {
    limits,
    count: (peer) => countNetwork(services, addressBucket(peer)),
  });

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
