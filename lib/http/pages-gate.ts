import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BODY_BYTES_MAX } from "@/lib/contracts/contract";
import { clientAddress, passedHeaders, readWithin } from "./input";
import type { PageHeaders } from "./headers";
import { limitRequest, type LimitServices } from "./limits";
import { NodeInput } from "./node-input";
import { requireDevelopment, requireOwnPage } from "./own-host";
import { requireCleanQuery, type RequestTarget } from "./request-target";
import type { StaticFiles } from "./static-files";

/**
 * A request for the pages that was checked: its target is canonical, it was counted against the
 * limits, and its body is read.
 */
export interface PageRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array;
}

interface PagesGateOptions {
  readonly services: LimitServices;
  readonly headers: PageHeaders;
  readonly pages: (request: PageRequest) => void;
  /** The files of the build. Without them the pages send their files themselves. */
  readonly files?: StaticFiles;
}

const SIGN_IN_PREFIX = "/api/auth/";
/** Path on which next-auth receives the signature. */
const SIGN_IN_ATTEMPTS = "/api/auth/callback/";

/**
 * Prefix of Next's built files: scripts, styles, fonts. They are the same for everybody, so their
 * headers have no nonce.
 */
const FILES_PREFIX = "/_next/";
const NONCE_BYTES = 16;

const mayHaveBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/**
 * Prepares a request for Next: applies the limits of the address and of the body, and writes
 * trustworthy headers about the caller. The whole body is read here, so that a slow or endless one
 * never reaches the pages.
 * @throws DomainError `rate_limited`, `not_found` for pages of development, `forbidden` for a
 * change that another site's page causes, `payload_too_large`, `invalid_request`
 */
export const createPagesGate = ({ services, headers, pages, files }: PagesGateOptions) => {
  const ownOrigin = new URL(services.config.publicUrl).origin;
  const { publicUrl, trustedProxyHops } = services.config;
  return async (
    { path, search }: RequestTarget,
    { incoming, outgoing }: Pick<PageRequest, "incoming" | "outgoing">,
  ): Promise<void> => {
    const input = new NodeInput(incoming, outgoing, publicUrl);
    await limitRequest(services, input, path.startsWith(SIGN_IN_ATTEMPTS));
    requireDevelopment({ path, host: input.header("host"), config: services.config });
    requireOwnPage(input, incoming.method ?? "GET", ownOrigin);
    requireCleanQuery(search);
    const bytesMax = path.startsWith(SIGN_IN_PREFIX)
      ? BODY_BYTES_MAX.public
      : BODY_BYTES_MAX.authenticated;
    const body = mayHaveBody(incoming) ? await readWithin(input, bytesMax) : new Uint8Array();
    const nonce = path.startsWith(FILES_PREFIX)
      ? null
      : randomBytes(NONCE_BYTES).toString("base64");
    const own = headers(nonce);
    for (const name in own) outgoing.setHeader(name, own[name] ?? "");
    if (nonce === null && files?.serve(path, incoming, outgoing) === true) return;
    const client = clientAddress(input, trustedProxyHops);
    const page =
      nonce === null ? null : { nonce, policy: own["content-security-policy"] ?? "" };
    const passed = { client, publicUrl, path: path + search, bodyBytes: body.byteLength, page };
    pages({
      incoming,
      outgoing,
      path: path + search,
      headers: passedHeaders(incoming.headers, passed),
      body,
    });
  };
};
