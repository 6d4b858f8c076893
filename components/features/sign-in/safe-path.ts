import { parseUrl } from "@/lib/core/redaction";

const OVERVIEW = "/";
const HERE = "http://localhost";
/**
 * Matches a backslash or a control character. Text with such a character is refused, because
 * browsers read a backslash as a slash and drop control characters when they resolve a URL.
 */
const AMBIGUOUS = /[\\\p{Cc}]/u;

/** Resolves a path against the app; null when the result is on another site. */
const resolvedHere = (text: string): URL | null => {
  if (!text.startsWith("/") || AMBIGUOUS.test(text)) return null;
  const url = parseUrl(text, HERE);
  return url?.origin === HERE ? url : null;
};

/**
 * The page to open after a sign-in. `text` is the path that a link asked for. Text that is not a
 * path of this app, or that could lead to another site, gives the overview. The path is checked
 * after its dot segments are resolved, because `/.//evil.example` becomes `//evil.example`, which
 * names another site.
 */
export const safePath = (text: string | undefined): string => {
  const url = text === undefined ? null : resolvedHere(text);
  if (url === null || url.pathname.startsWith("//") || url.pathname.startsWith("/sign-in"))
    return OVERVIEW;
  return url.pathname + url.search;
};
