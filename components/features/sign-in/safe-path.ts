import { parseUrl } from "@/lib/core/parse-url";
const OVERVIEW = "/";
const HERE = "http://localhost";
/** Browsers read a backslash as a slash and drop control characters before they resolve. */
const AMBIGUOUS = /[\\\p{Cc}]/u;

/** Resolves against the app itself; null for what does not stay there. */
const resolvedHere = (text: string): URL | null => {
  if (!text.startsWith("/") || AMBIGUOUS.test(text)) return null;
  const url = parseUrl(text, HERE);
  return url?.origin === HERE ? url : null;
};

/**
 * A path of this app to go to after sign-in; anything that could lead elsewhere becomes the overview. The path is checked after its dot
 * segments are gone: `/.//evil.example` is `//evil.example` then, which names another site.
 */
export const safePath = (text: string | undefined): string => {
  const url = text === undefined ? null : resolvedHere(text);
  if (url === null || url.pathname.startsWith("//") || url.pathname.startsWith("/sign-in")) return OVERVIEW;
  return url.pathname + url.search;
};
