import { DomainError } from "@/lib/core/errors";
import type { HttpInput } from "./input";

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses a change that a browser sends for the page of another site. The dashboard's cookie goes along with such a request, so the
 * cookie proves nothing about who wrote the request. `Origin` and `Sec-Fetch-Site` are written by the browser; a page cannot set them.
 * A request without any of `Cookie`, `Origin` and `Sec-Fetch-Site` uses nobody's authority and passes.
 * @throws DomainError `forbidden`
 */
export const requireOwnPage = (input: Pick<HttpInput, "header">, method: string, ownOrigin: string): void => {
  if (READING.has(method)) return;
  const origin = input.header("origin");
  const site = input.header("sec-fetch-site");
  if (origin === ownOrigin || site === "same-origin") return;
  if (origin === null && site === null && input.header("cookie") === null) return;
  throw new DomainError(
    "forbidden",
    `This request did not come from a page of this service, so nothing was changed. Open the dashboard at ${ownOrigin} and try again.`,
  );
};
