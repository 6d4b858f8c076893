import { lookup as dnsLookup } from "node:dns/promises";
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { withDeadline } from "@/lib/core/deadline";
import type {
  WebhookAnswer,
  WebhookRequest,
  WebhookSender,
} from "@/lib/money/ports/webhook-sender";
import {
  addressProblem,
  createAgents,
  readTarget,
  type Target,
  type TargetRules,
} from "./url-rules";

export type Resolve = (host: string) => Promise<readonly string[]>;

export interface WebhookSenderOptions extends TargetRules {
  /** Deadline of the whole request. Default 15 s. */
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  /** Certificates to trust in addition to the default ones. */
  readonly ca?: string;
}

const TIMEOUT_MS = 15_000;
const CHECK_TIMEOUT_MS = 3_000;
/** Maximum number of bytes to read of a response. After them, the connection is closed. */
const READ_BYTES_MAX = 64 * 1024;
const KEPT_CHARACTERS_MAX = 4096;
const HEADERS_KEPT = ["content-type", "retry-after", "location", "server", "date"];
const HEADER_LENGTH_MAX = 300;

/** The request was not sent, or its connection broke. The message is for people. */
class SendError extends Error {}

const resolveByDns: Resolve = async (host) => {
  const found = await dnsLookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

const storable = (text: string): string =>
  text.replaceAll("\0", "").replace(/\p{Surrogate}/gu, "");

const keptHeaders = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    HEADERS_KEPT.flatMap((name) => {
      const value = incoming.headers[name];
      return typeof value === "string"
        ? [[name, storable(value).slice(0, HEADER_LENGTH_MAX)]]
        : [];
    }),
  );

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was reset.",
  ENOTFOUND: "The host's name does not resolve.",
  EAI_AGAIN: "The host's name does not resolve right now.",
  EPROTO: "The TLS handshake failed.",
  CERT_HAS_EXPIRED: "The host's certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The host's certificate is self-signed.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The host's certificate is for another name.",
};

const reasonOf = (error: unknown): string => {
  if (error instanceof SendError) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? `The request failed${code === "" ? "" : ` (${code})`}.`;
};

/**
 * Resolves a name once and chooses an address for the connection. All addresses of the name must be
 * allowed: a name that also resolves to a private network is refused.
 */
const choose = async (
  { host }: Target,
  resolve: Resolve,
  rules: TargetRules,
): Promise<string> => {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  for (const address of addresses) {
    const problem = addressProblem(address, rules);
    if (problem !== null) throw new SendError(problem);
  }
  const [first] = addresses;
  if (first === undefined) throw new SendError("The host's name does not resolve.");
  return first;
};

const pinned = (address: string): LookupFunction => {
  const family = isIP(address);
  return (_host, options, done) => {
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
};

/** Aborts the request when the connection goes to another address than the checked one. */
const guard = (request: ClientRequest, address: string): void => {
  const check = (socket: Socket): void => {
    if (socket.remoteAddress !== address)
      request.destroy(new SendError("The connection led to another address."));
  };
  request.on("socket", (socket) => {
    if (socket.connecting) socket.once("connect", () => check(socket));
    else check(socket);
  });
};

const readSome = (incoming: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void =>
      resolve(
        storable(Buffer.concat(chunks).subarray(0, READ_BYTES_MAX).toString("utf8")).slice(
          0,
          KEPT_CHARACTERS_MAX,
        ),
      );
    incoming.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size < READ_BYTES_MAX) return;
      incoming.destroy();
      finish();
    });
    incoming.once("end", finish);
    // The status has already arrived, so it counts even if the remaining response is slow or
    // breaks off.
    incoming.once("error", finish);
    incoming.once("close", finish);
  });

export const createWebhookSender = (options: WebhookSenderOptions): WebhookSender => {
  const { timeoutMs = TIMEOUT_MS, resolve = resolveByDns } = options;
  const agents = createAgents(options.ca === undefined ? {} : { ca: options.ca });

  const exchange = async (
    target: Target,
    { headers, body }: WebhookRequest,
    signal: AbortSignal,
  ): Promise<Omit<WebhookAnswer, "durationMs" | "error">> => {
    const address = await choose(target, resolve, options);
    signal.throwIfAborted();
    const isTls = target.url.protocol === "https:";
    const incoming = await new Promise<IncomingMessage>((answer, fail) => {
      const request = (isTls ? https : http).request(target.url, {
        method: "POST",
        headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
        agent: agents.get(target, address),
        lookup: pinned(address),
        signal,
        // The certificate is verified for the host name, not for the address.
        ...(isTls && isIP(target.host) === 0 ? { servername: target.host } : {}),
      });
      guard(request, address);
      request.once("error", fail);
      request.once("response", answer);
      request.end(body);
    });
    return {
      statusCode: incoming.statusCode ?? null,
      headers: keptHeaders(incoming),
      body: await readSome(incoming),
    };
  };

  return {
    check: async (text) => {
      const target = readTarget(text, options);
      if (typeof target === "string") return target;
      // Only a forbidden address is reported. The name is resolved again for each request, so a
      // failed resolution may succeed later.
      const found = choose(target, resolve, options).then(
        () => null,
        (error: unknown) => (error instanceof SendError ? error.message : null),
      );
      return withDeadline(found, {
        timeoutMs: CHECK_TIMEOUT_MS,
        message: "No answer in time.",
      }).catch(() => null);
    },

    send: async (request) => {
      const startedMs = performance.now();
      const deadline = AbortSignal.timeout(timeoutMs);
      const took = (): number => Math.round(performance.now() - startedMs);
      const none = { statusCode: null, headers: {}, body: "" };
      const target = readTarget(request.url, options);
      if (typeof target === "string") return { ...none, error: target, durationMs: took() };
      try {
        const answer = await exchange(
          target,
          request,
          AbortSignal.any([request.signal, deadline]),
        );
        return { ...answer, error: null, durationMs: took() };
      } catch (error) {
        const late = `There was no answer within ${String(timeoutMs / 1000)} s.`;
        return {
          ...none,
          error: deadline.aborted ? late : reasonOf(error),
          durationMs: took(),
        };
      }
    },

    close: agents.close,
  };
};
