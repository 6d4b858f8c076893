import { createHash } from "node:crypto";
import { setRateLimitHeaders } from "./rate-limit";
import { type Answer, JSON_TYPE } from "./reply";
import type { Trace } from "./request-trace";

/** Content policy of the API's answers. They are data, so no browser may render or frame them. */
const API_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Value of `Strict-Transport-Security`, which is sent only when the app is served over https. */
const STRICT_TRANSPORT = "max-age=31536000; includeSubDomains";

/** Headers of the few API answers that are created outside of `route()`. */
export const API_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": API_CONTENT_POLICY,
} as const;

const WALLET_CONNECT = {
  connect:
    "https://*.walletconnect.com wss://*.walletconnect.com https://*.walletconnect.org wss://*.walletconnect.org https://api.web3modal.org",
  frame: "https://verify.walletconnect.com https://verify.walletconnect.org",
};

interface PageHeaderOptions {
  readonly publicUrl: string;
  /**
   * The chains. Only the origins of their public RPC URLs are in the policy, because the service's
   * own URLs are private.
   */
  readonly chains: readonly { readonly publicRpcUrl?: string | undefined }[];
  readonly walletConnect: boolean;
}

/**
 * Headers of one answer of the pages.
 * @param nonce nonce of this answer's inline scripts and styles; null for a file, which has none
 */
export type PageHeaders = (nonce: string | null) => Record<string, string>;

/**
 * Hashes of style elements without a nonce: sonner's style element, and the empty element that
 * sonner and other libraries insert before they fill it. `headers.test.ts` compares sonner's hash
 * with the installed package.
 */
export const STYLE_HASHES = [
  "'sha256-StEaX+se6YS7pqjzrzMIA0KaX9zF/8zAhvQXZAe5epY='",
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
] as const;

/**
 * Style attributes in the HTML that the server renders for Radix's hidden inputs, tooltips and
 * menus. An attribute cannot carry a nonce, so the policy allows each attribute by its text.
 * Styles that scripts set on elements need no permission.
 */
const STYLE_ATTRIBUTES = [
  "position:absolute;border:0;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip:rect(0, 0, 0, 0);white-space:nowrap;word-wrap:normal",
  "pointer-events:none",
  "animation-duration:0s",
  "outline:none",
];
const hashOf = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const STYLE_ATTRIBUTE_POLICY = `style-src-attr 'unsafe-hashes' ${STYLE_ATTRIBUTES.map(hashOf).join(" ")}`;

const originOf = (url: string): string => new URL(url).origin;

const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

/**
 * `Strict-Transport-Security` where the public URL is https. Empty for plain http, because
 * browsers ignore the header there.
 */
export const transportHeaders = (publicUrl: string): Record<string, string> =>
  isSecure(publicUrl) ? { "strict-transport-security": STRICT_TRANSPORT } : {};

/**
 * Headers of pages and their files. Inline scripts and style elements need the nonce of their
 * answer. `'strict-dynamic'` lets a script with the nonce load further scripts; browsers that do
 * not know this keyword use `'self'`. Everything else must come from this origin, from the chains'
 * RPC endpoints, or from WalletConnect when it is configured.
 */
export const createPageHeaders = ({
  publicUrl,
  chains,
  walletConnect,
}: PageHeaderOptions): PageHeaders => {
  const origins = [
    ...new Set(
      chains.flatMap(({ publicRpcUrl }) =>
        publicRpcUrl === undefined ? [] : originOf(publicRpcUrl),
      ),
    ),
  ];
  const connect = [
    "'self'",
    ...origins,
    ...(walletConnect ? [WALLET_CONNECT.connect] : []),
  ].join(" ");
  const rest = [
    "default-src 'self'",
    STYLE_ATTRIBUTE_POLICY,
    `img-src 'self' data: blob:${walletConnect ? " https:" : ""}`,
    "font-src 'self' data:",
    `connect-src ${connect}`,
    "worker-src 'self'",
    `frame-src 'self'${walletConnect ? ` ${WALLET_CONNECT.frame}` : ""}`,
    "frame-ancestors 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "object-src 'none'",
  ].join("; ");
  const fixed = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "strict-origin-when-cross-origin",
    ...transportHeaders(publicUrl),
  };
  const ofFiles = `script-src 'self'; style-src 'self'; ${rest}`;
  const ofPages = (nonce: string): string =>
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'; style-src 'self' 'nonce-${nonce}' ${STYLE_HASHES.join(" ")}; ${rest}`;
  return (nonce) => ({
    "content-security-policy": nonce === null ? ofFiles : ofPages(nonce),
    ...fixed,
  });
};

// The headers of the API's answers. An object literal is used instead of spreads, because this
// code runs for every request and a literal takes a tenth of the time.
const headersOf = (
  own: Readonly<Record<string, string>>,
  trace: Trace,
  publicUrl: string,
): Record<string, string> => {
  const headers: Record<string, string> = {
    "content-type": JSON_TYPE,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": API_CONTENT_POLICY,
    "x-request-id": trace.requestId,
  };
  if (publicUrl.startsWith("https:")) headers["strict-transport-security"] = STRICT_TRANSPORT;
  if (trace.limits.length > 0) setRateLimitHeaders(headers, trace.limits);
  for (const name in own) headers[name] = own[name] ?? "";
  for (const name in trace.freshness) headers[name] = trace.freshness[name] ?? "";
  return headers;
};

export const withHeaders = (
  result: Answer | Response,
  trace: Trace,
  publicUrl: string,
): Answer | Response => {
  if (!(result instanceof Response))
    return {
      status: result.status,
      body: result.body,
      headers: headersOf(result.headers, trace, publicUrl),
    };
  const headers = new Headers(headersOf(Object.fromEntries(result.headers), trace, publicUrl));
  return new Response(result.body, { status: result.status, headers });
};
