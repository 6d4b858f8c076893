import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { API_HEADERS } from "./headers";
import { toAnswer } from "./problem";
import type { Answer } from "./reply";

interface StatusPage {
  readonly title: string;
  readonly text: string;
  /** Seconds until the browser reloads. When absent, the page does not reload. */
  readonly refreshSeconds?: number;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");

const STYLE = `
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;background:#f7f8fa;color:#16191f}
main{max-width:min(40rem,100vw);box-sizing:border-box;padding:2rem 1.5rem}
h1{font-size:1.375rem;margin:0 0 .5rem}
p{margin:0;color:#4b5362}
a{color:inherit}
h2{font-size:1rem;margin:1.25rem 0 .25rem}
pre{margin:0;overflow-x:auto;font:14px/1.5 ui-monospace,monospace}
@media (prefers-color-scheme:dark){body{background:#101318;color:#eceef2}p{color:#a4acba}}
`;

const STYLE_HASH = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

/** Headers of a status page. They allow its style element and nothing else. */
export const STATUS_PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src ${STYLE_HASH}; frame-ancestors 'none'`,
} as const;

interface PlainPage {
  readonly title: string;
  /** HTML below the title. */
  readonly main: string;
  readonly refreshSeconds?: number;
}

/** A self-contained page: no script, no font, no image. */
export const plainPage = ({ title, main, refreshSeconds }: PlainPage): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    refreshSeconds === undefined
      ? ""
      : `<meta http-equiv="refresh" content="${String(refreshSeconds)}">`,
    `<title>${escaped(title)} – Causeway</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escaped(title)}</h1>${main}</main></body></html>`,
  ].join("");

const statusPage = ({ text, ...page }: StatusPage): string =>
  plainPage({ ...page, main: `<p>${escaped(text)}</p>` });

const PAGES_RETRY_SECONDS = 3;

const TITLES: Readonly<Partial<Record<number, string>>> = {
  400: "This address is not valid",
  404: "There is nothing here",
  413: "The request is too large",
  429: "Too many requests",
  503: "The pages are starting again",
};

/** The error for a page while the process of the pages does not run or does not answer. */
export const pagesUnavailable = (): DomainError =>
  new DomainError(
    "service_unavailable",
    "The web pages are not available for a moment. Payments go on meanwhile, and the API answers. Try again in a few seconds.",
    { retryAfterSeconds: PAGES_RETRY_SECONDS },
  );

const wantsPage = ({ url, headers }: IncomingMessage): boolean =>
  url?.startsWith("/api/") !== true && headers.accept?.includes("text/html") === true;

/**
 * The answer to an error outside of `route()`: a page for a browser that navigates, and the API's
 * error body for everything else. The page of a 503 reloads itself.
 */
export const edgeError = (
  error: DomainError,
  incoming: IncomingMessage,
  publicUrl = "",
): Answer => {
  const requestId = newId("request");
  const answer = toAnswer(error, requestId, { publicUrl });
  const headers = { ...API_HEADERS, ...answer.headers, "x-request-id": requestId };
  if (!wantsPage(incoming)) return { ...answer, headers };
  const title = TITLES[answer.status] ?? "This did not work";
  const refresh = answer.status === 503 ? { refreshSeconds: PAGES_RETRY_SECONDS } : {};
  const body = statusPage({ title, text: error.message, ...refresh });
  return { status: answer.status, headers: { ...headers, ...STATUS_PAGE_HEADERS }, body };
};
