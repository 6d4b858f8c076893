import { isIPv4, isIPv6 } from "node:net";

/**
 * The first match wins, because the user agents of Edge and Opera also contain "Chrome", and
 * Chrome's user agent contains "Safari".
 */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/|\bEdgiOS\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

/**
 * The first match wins, because user agents on Android also contain "Linux", and those on an
 * iPhone contain "Mac OS X".
 */
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const PRODUCT = /^[A-Za-z][A-Za-z0-9._-]{0,39}/;

const firstOf = (
  table: readonly (readonly [RegExp, string])[],
  text: string,
): string | undefined => table.find(([pattern]) => pattern.test(text))?.[1];

/**
 * The device of a User-Agent header (RFC 9110, 10.1.5) in words. Versions are left out, so that an
 * updated browser counts as the same device.
 * @example deviceOf("Mozilla/5.0 (X11; Linux x86_64) … Chrome/140.0.0.0 Safari/537.36") // "Chrome
 * on Linux"
 */
export const deviceOf = (userAgent: string | null): string => {
  const text = userAgent ?? "";
  const browser = firstOf(BROWSERS, text);
  const system = firstOf(SYSTEMS, text);
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  const product = text.startsWith("Mozilla/") ? undefined : PRODUCT.exec(text)?.[0];
  return product ?? system ?? "Unknown device";
};

const IPV4_MAPPED = "::ffff:";
const IPV4_RANGE_PARTS = 3;
const IPV6_RANGE_GROUPS = 3;

const ipv6Groups = (address: string): string[] => {
  const [head = "", tail] = address.toLowerCase().split("::");
  const first = head === "" ? [] : head.split(":");
  if (tail === undefined) return first;
  const last = tail === "" ? [] : tail.split(":");
  return [
    ...first,
    ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0"),
    ...last,
  ];
};

/**
 * The range in which a customer's addresses usually change: the /24 of an IPv4 address, the /48 of
 * an IPv6 address.
 */
export const addressRange = (address: string): string => {
  const plain = address.toLowerCase().startsWith(IPV4_MAPPED)
    ? address.slice(IPV4_MAPPED.length)
    : address;
  if (isIPv4(plain)) return `${plain.split(".").slice(0, IPV4_RANGE_PARTS).join(".")}.0/24`;
  if (isIPv6(plain)) return `${ipv6Groups(plain).slice(0, IPV6_RANGE_GROUPS).join(":")}::/48`;
  return plain;
};

interface Origin {
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
}

/**
 * Whether an earlier sign-in came from the same device and address range. Sign-ins from an unknown
 * address match by device only.
 */
export const isKnownOrigin = (origin: Origin, earlier: readonly Origin[]): boolean => {
  const device = deviceOf(origin.userAgent);
  const range = origin.clientAddress === null ? null : addressRange(origin.clientAddress);
  return earlier.some(
    ({ userAgent, clientAddress }) =>
      deviceOf(userAgent) === device &&
      (range === null || clientAddress === null || addressRange(clientAddress) === range),
  );
};
