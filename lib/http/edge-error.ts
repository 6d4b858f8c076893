import type { IncomingMessage } from "node:http";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { API_HEADERS } from "./headers";
import { toAnswer } from "./problem";
import type { Answer } from "./reply";
import { STATUS_STYLE_HASH, statusPage } from "./status-page";

const PAGES_RETRY_SECONDS = 3;
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src ${STATUS_STYLE_HASH}; frame-ancestors 'none'`,
};

const TITLES: Readonly<Partial<Record<number, string>>> = {
  400: "This address is not valid",
  404: "There is nothing here",
  413: "The request is too large",
  429: "Too many requests",
  503: "The pages are starting again",
};

/** The pages' process does not run or did not answer. */
export const pagesUnavailable = (): DomainError =>
  new DomainError(
    "service_unavailable",
    "The web pages are not available for a moment. Payments go on meanwhile, and the API answers. Try again in a few seconds.",
    { retryAfterSeconds: PAGES_RETRY_SECONDS },
  );

const wantsPage = ({ url, headers }: IncomingMessage): boolean =>
  url?.startsWith("/api/") !== true && headers.accept?.includes("text/html") === true;

/**
 * An error that arose outside of `route()`: a page for a browser that navigates, and the error body of the API for everything else. The
 * page of a 503 loads again by itself.
 */
export const edgeError = (error: DomainError, incoming: IncomingMessage): Answer => {
  const requestId = newId("request");
  const answer = toAnswer(error, requestId);
  const headers = { ...API_HEADERS, ...answer.headers, "x-request-id": requestId };
  if (!wantsPage(incoming)) return { ...answer, headers };
  const title = TITLES[answer.status] ?? "This did not work";
  const refresh = answer.status === 503 ? { refreshSeconds: PAGES_RETRY_SECONDS } : {};
  const body = statusPage({ title, text: error.message, ...refresh });
  return { status: answer.status, headers: { ...headers, ...PAGE_HEADERS }, body };
};
