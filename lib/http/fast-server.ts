import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createRequestRouter, type RouterOptions } from "./request-router";
import {
  CONNECTION_LIMITS,
  guardConnections,
  serverOptions,
  type ConnectionLimits,
} from "./connection-guard";
import { addressBucket } from "./input";
import { edgeError } from "./edge-error";
import { transportHeaders } from "./headers";
import { countNetwork } from "./limits";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import { toDomainError } from "./problem";
import { sendAnswer } from "./compress";

interface FastServerOptions extends RouterOptions {
  readonly connections?: Partial<ConnectionLimits>;
}

export interface FastServer {
  readonly server: Server;
  /**
   * Stops accepting connections, ends streams, and waits for other requests. After the deadline it
   * closes the remaining connections.
   */
  close(deadlineMs: number): Promise<void>;
}

const IDLE_SWEEP_MS = 50;

/**
 * A server that passes `/api/*` directly to the route modules and everything else to `pages`
 * (Next). Next's own route handling costs ten to forty times the work of a handler. The modules
 * also work unchanged under plain Next.
 */
export const createFastServer = (options: FastServerOptions): FastServer => {
  const { services } = options;
  const { logLevel, publicUrl, trustedProxyHops } = services.config;
  const closing = new AbortController();
  const logger = getLogger(logLevel);
  const route = createRequestRouter(options, closing.signal);
  // Behind a proxy all connections come from the same address, so the limit per address is off.
  const perAddress = trustedProxyHops === 0 ? CONNECTION_LIMITS.perAddress : 0;
  const limits = { ...CONNECTION_LIMITS, perAddress, ...options.connections };

  const fail = (error: unknown, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const domainError = toDomainError(error);
    if (domainError.code === "internal_error" && !outgoing.destroyed)
      logger.error({ err: loggedError(error) }, "an answer could not be sent");
    const answer = edgeError(domainError, incoming, publicUrl);
    Object.assign(answer.headers, transportHeaders(publicUrl));
    sendAnswer(answer, incoming, outgoing);
  };

  const server = createServer(serverOptions(limits), (incoming, outgoing) => {
    if (closing.signal.aborted) outgoing.setHeader("connection", "close");
    route({ incoming, outgoing }).catch((error: unknown) => fail(error, incoming, outgoing));
  });
  guardConnections(server, {
    limits,
    publicUrl,
    count: (peer) => countNetwork(services, addressBucket(peer)),
  });

  const close = (deadlineMs: number): Promise<void> =>
    new Promise((resolve) => {
      const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
      // Closes idle connections repeatedly, because a busy connection becomes idle only after its
      // answer.
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
