import { STATUS_CODES, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { addressBucket } from "./input";
import { API_HEADERS } from "./headers";
import { toAnswer } from "./problem";

/** Limits of a connection, so that slow or many connections cannot exhaust the server. */
export interface ConnectionLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /**
   * Time without a byte in either direction during an answer, as with a caller that does not read.
   * Streams stay alive by heartbeats.
   */
  readonly idleTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly checkEveryMs: number;
  readonly headerBytesMax: number;
  /** Maximum of open connections from one address; 0 means no limit. */
  readonly perAddress: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 120_000,
  keepAliveMs: 65_000,
  checkEveryMs: 2_000,
  headerBytesMax: 16 * 1024,
  perAddress: 1_000,
};

export const serverOptions = (limits: ConnectionLimits): ServerOptions => ({
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  connectionsCheckingInterval: limits.checkEveryMs,
  keepAliveTimeout: limits.keepAliveMs,
  maxHeaderSize: limits.headerBytesMax,
});

const STATUS_OF_FAULT: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time."],
};
/** Time for a caller to read the error before its connection is closed. */
const LINGER_MS = 2_000;
const MALFORMED = [400, "This is not a valid HTTP request."] as const;

/**
 * Writes an answer to a request that Node's parser refused, because there is no response object.
 */
const writeRaw = (
  socket: Duplex,
  error: DomainError,
  publicUrl: string,
  status?: number,
): void => {
  const requestId = newId("request");
  const answer = toAnswer(error, requestId, { publicUrl });
  const code = status ?? answer.status;
  const headers = {
    ...API_HEADERS,
    ...answer.headers,
    "x-request-id": requestId,
    "content-length": Buffer.byteLength(answer.body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  socket.end(
    [`HTTP/1.1 ${String(code)} ${STATUS_CODES[code] ?? ""}`, ...lines, "", answer.body].join(
      "\r\n",
    ),
  );
};

interface GuardOptions {
  readonly limits: ConnectionLimits;
  readonly publicUrl: string;
  /**
   * Counts a request of this peer that does not reach a route. @throws DomainError `rate_limited`
   */
  readonly count: (peerAddress: string) => void;
}

const peerOf = (socket: Duplex): string =>
  socket instanceof Socket ? (socket.remoteAddress ?? "") : "";

/**
 * Limits the connections of each address, and answers malformed HTTP with the error body of the
 * API.
 */
export const guardConnections = (
  server: Server,
  { limits, publicUrl, count }: GuardOptions,
): void => {
  const open = new Map<string, number>();
  const answering = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.timeout = limits.idleTimeoutMs;

  const refuse = (socket: Duplex, error: DomainError, status?: number): void => {
    // The caller already got the error for this connection; its further bytes are malformed too.
    if (refused.has(socket)) return;
    refused.add(socket);
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    try {
      count(peerOf(socket));
      writeRaw(socket, error, publicUrl, status);
    } catch (limited) {
      if (limited instanceof DomainError) writeRaw(socket, limited, publicUrl);
      else socket.destroy();
    }
  };

  server.on("request", (incoming, outgoing) => void answering.set(incoming.socket, outgoing));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const begun = answering.get(socket);
    // Sends no error when the connection is broken, or while another answer is being sent, because
    // the caller would read the error as a part of that answer.
    if (
      !socket.writable ||
      error.code === "ECONNRESET" ||
      (begun?.headersSent === true && !begun.writableFinished)
    ) {
      socket.destroy();
      return;
    }
    const [status, message] = STATUS_OF_FAULT[error.code ?? ""] ?? MALFORMED;
    refuse(socket, new DomainError("invalid_request", message), status);
  });
  server.on("connect", (_request, socket) => {
    // Node has removed its own listener from this socket, and without one a reset by the caller would
    // end the process.
    socket.on("error", () => socket.destroy());
    refuse(
      socket,
      new DomainError(
        "method_not_allowed",
        "This server is no proxy: CONNECT is not possible.",
      ),
    );
  });
  server.on("connection", (socket) => {
    if (limits.perAddress === 0) return;
    const bucket = addressBucket(socket.remoteAddress ?? "");
    const now = (open.get(bucket) ?? 0) + 1;
    open.set(bucket, now);
    socket.once("close", () => {
      const left = (open.get(bucket) ?? 1) - 1;
      if (left === 0) open.delete(bucket);
      else open.set(bucket, left);
    });
    if (now > limits.perAddress) socket.destroy();
  });
};
