import { DomainError, notFound } from "@/lib/core/errors";

/** The target of a request in a canonical form, which both servers interpret the same way. */
export interface RequestTarget {
  /** The path. It begins with one slash and has no empty, `.` or `..` segment. */
  readonly path: string;
  /** The query with its question mark, or empty. */
  readonly search: string;
}

const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-]+)+$/;
const ABSOLUTE = /^https?:\/\/[^/?]*/i;
const ESCAPE = /%([0-9a-f]{2})/gi;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;
/**
 * Matches escaped slashes, backslashes and dots that remain after unreserved characters were
 * decoded.
 */
const HIDDEN_SEPARATOR = /%(?:2f|5c|2e)/i;
const CONTROL = /%(?:[01][0-9a-f]|7f)/i;

const malformed = (what: string): DomainError =>
  new DomainError("invalid_request", `The request's target has ${what}.`, {
    details: [{ path: "", message: `has ${what}`, code: "invalid_target" }],
  });

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed("an escape that is not UTF-8");
  }
};

const requireVisibleAscii = (text: string): void => {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code >= 0x7f || code === 0x23)
      throw malformed("a character that must be escaped");
  }
};

/** Decodes escapes of characters that need none (RFC 3986, 6.2.2.2). All others stay unchanged. */
const canonicalPath = (text: string): string => {
  if (text.includes("\\")) throw malformed("a backslash");
  const path = text.replace(ESCAPE, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(character) ? character : escape;
  });
  const once = decoded(path);
  if (CONTROL.test(path) || CONTROL.test(once)) throw malformed("a control character");
  // No name in a path contains an escaped slash. A doubly escaped one would become a separator on a
  // server that decodes twice.
  if (HIDDEN_SEPARATOR.test(path) || HIDDEN_SEPARATOR.test(once)) throw notFound();
  const segments = path.split("/").slice(1);
  if (segments.some((segment) => segment === "." || segment === ".."))
    throw malformed("a dot segment");
  if (segments.slice(0, -1).includes("")) throw malformed("an empty segment");
  return path;
};

/**
 * Reads the target of a request line. A target that two readers could interpret as different paths
 * is refused and never repaired, so that every process behind this server sees the path on which
 * this server decided.
 * @throws DomainError `invalid_request` for a malformed target, `not_found` for an escaped slash
 */
export const readTarget = (raw: string): RequestTarget => {
  if (PLAIN_PATH.test(raw)) return { path: raw, search: "" };
  requireVisibleAscii(raw);
  // The absolute form, as for a proxy (RFC 9112, 3.2.2). Its host does not matter: this server has
  // one site.
  const rest = raw.replace(ABSOLUTE, "");
  const text = rest === raw || rest.startsWith("/") ? rest : `/${rest}`;
  if (!text.startsWith("/")) throw malformed("no path");
  const queryAt = text.indexOf("?");
  const path = queryAt === -1 ? text : text.slice(0, queryAt);
  return {
    path: PLAIN_PATH.test(path) ? path : canonicalPath(path),
    search: queryAt === -1 ? "" : text.slice(queryAt),
  };
};

/**
 * Checks that a query may be passed on to the pages: well-formed escapes, no control characters.
 * Routes of the API name the invalid parameter.
 * @throws DomainError `invalid_request`
 */
export const requireCleanQuery = (search: string): void => {
  if (!search.includes("%")) return;
  decoded(search);
  if (CONTROL.test(search)) throw malformed("a control character");
};
