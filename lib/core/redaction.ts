/**
 * Parses a URL (WHATWG), relative to `base` if there is one. Use it instead of `URL.canParse`: in
 * Node 20 and 22, `URL.canParse` returns false for hosts with non-ASCII letters (bücher.example)
 * after V8 has optimised some thousand calls.
 * @returns null when the text is not a URL
 */
export const parseUrl = (text: string, base?: string): URL | null => {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
};

/*
 * Removes secrets from text that leaves the service: log lines, error messages and HTTP responses.
 * Configured secrets are replaced wherever they occur. In every URL, the user information, the
 * query and long parts of the path are replaced, because providers put keys there.
 */

const REDACTED = "[redacted]";
/**
 * Shorter configured values are not redacted. They could be common words, and logs without these
 * words would be unreadable.
 */
const SECRET_LENGTH_MIN = 6;
/** A shorter value is replaced only where no letter or digit is next to it. */
const UNBOUNDED_LENGTH_MIN = 16;
const PATH_PART_LENGTH_MIN = 8;
const LONG_PATH_PART = 20;
const MIXED_PATH_PART = 12;

const URLS =
  /\b(https?|wss?|smtps?|postgres(?:ql)?):\/\/(?:([^\s/?#"'`<>\\]*)@)?([^\s/?#"'`<>\\@,;)\]}]*)([^\s?#"'`<>\\,;)\]}]*)([?#][^\s"'`<>\\,;)\]}]*)?/gi;

interface Known {
  /** For each secret in lower case, the text that replaces it. */
  readonly replacements: Map<string, string>;
  pattern: RegExp | null;
}

// The server's bundle and Next's bundle each have a copy of this module. The registered symbol
// makes them share one list.
const KNOWN = Symbol.for("causeway.secrets");
const shared = globalThis as { [KNOWN]?: Known };
const known = (): Known => (shared[KNOWN] ??= { replacements: new Map(), pattern: null });

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

const patternOf = (values: Iterable<string>): RegExp | null => {
  // Longest first, so that a whole URL is replaced before the key inside it.
  const sorted = [...values].sort((a, b) => b.length - a.length);
  const parts = sorted.map((value) =>
    value.length < UNBOUNDED_LENGTH_MIN
      ? `(?<![A-Za-z0-9])${escaped(value)}(?![A-Za-z0-9])`
      : escaped(value),
  );
  return parts.length === 0 ? null : new RegExp(parts.join("|"), "gi");
};

const add = (secret: string, replacement: string): void => {
  if (secret.length < SECRET_LENGTH_MIN) return;
  const { replacements } = known();
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  for (const form of forms) replacements.set(form.toLowerCase(), replacement);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const addUrl = (text: string): void => {
  const url = parseUrl(text);
  if (url === null) {
    add(text, REDACTED);
    return;
  }
  const address = `${url.protocol}//${url.host}`;
  // Scheme and host are no secret, and show which server an error is about.
  for (const whole of [text, url.href])
    if (whole.replace(/\/$/, "") !== address) add(whole, `${address}/${REDACTED}`);
  const secrets = [url.password, ...url.searchParams.values()];
  // The path of a database URL is no secret, because it is the name of the database.
  if (/^(https?|wss?):$/.test(url.protocol))
    secrets.push(
      url.username,
      ...url.pathname.split("/").filter((part) => part.length >= PATH_PART_LENGTH_MIN),
    );
  for (const secret of secrets)
    for (const form of [secret, decoded(secret)]) add(form, REDACTED);
};

/**
 * Registers secrets for `redactSecrets` and `redactKnownSecrets`; the configuration calls it once.
 * Values shorter than 6 characters are ignored. From `urls` only the credentials, queries and long
 * path parts are secret.
 * @example protectSecrets({ values: [jwtSecret], urls: [rpcUrl] });
 */
export const protectSecrets = (secrets: {
  readonly values: Iterable<string>;
  readonly urls: Iterable<string>;
}): void => {
  const list = known();
  for (const value of secrets.values) add(value, REDACTED);
  for (const url of secrets.urls) addUrl(url);
  list.pattern = patternOf(list.replacements.keys());
};

const isLong = (part: string): boolean =>
  part.length >= LONG_PATH_PART ||
  (part.length >= MIXED_PATH_PART && /\d/.test(part) && /[A-Za-z]/.test(part));

const redactUrl = (
  _whole: string,
  scheme: string,
  user: string | undefined,
  host: string,
  path: string,
  query: string | undefined,
): string => {
  const shown = path
    .split("/")
    .map((part) => (isLong(part) ? REDACTED : part))
    .join("/");
  return `${scheme}://${user === undefined ? "" : `${REDACTED}@`}${host}${shown}${query === undefined ? "" : `?${REDACTED}`}`;
};

/**
 * Replaces configured secrets by `[redacted]`. Other URLs stay as they are, so use it for text that
 * the service wrote itself.
 */
export const redactKnownSecrets = (text: string): string => {
  const { pattern, replacements } = known();
  return pattern === null
    ? text
    : text.replace(pattern, (found) => replacements.get(found.toLowerCase()) ?? REDACTED);
};

/**
 * Replaces configured secrets by `[redacted]`, and every part of a URL except scheme, host and
 * short path parts.
 * @example redactSecrets("https://rpc.example.org/?apikey=abc") // "https://rpc.example.org/?[redacted]"
 */
export const redactSecrets = (text: string): string => {
  const plain = redactKnownSecrets(text);
  return plain.includes("://") ? plain.replace(URLS, redactUrl) : plain;
};
