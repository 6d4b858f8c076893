import { z } from "zod";

const ipv4 = z.ipv4();
const ipv6 = z.ipv6();
const cidr = z.union([z.cidrv4(), z.cidrv6()]);

const prefixed = (text: string): string => {
  if (ipv4.safeParse(text).success) return `${text}/32`;
  return ipv6.safeParse(text).success ? `${text}/128` : text;
};

/**
 * The network in CIDR notation (RFC 4632, RFC 4291), in lower case. A single address gets the full
 * prefix length. Null when the text is not a network.
 * @example plainNetwork("203.0.113.7") // "203.0.113.7/32"
 */
export const plainNetwork = (text: string): string | null => {
  const network = prefixed(text.trim().toLowerCase());
  return cidr.safeParse(network).success ? network : null;
};
