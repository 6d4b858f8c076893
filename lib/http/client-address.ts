import { isIPv6 } from "node:net";
import type { HttpInput } from "./input";

const IPV4_MAPPED = "::ffff:";

/**
 * The caller's address: the peer, or behind `hops` trusted proxies the entry that the outermost of them wrote. Entries further
 * left were sent by the caller and prove nothing.
 */
export const clientAddress = (input: HttpInput, hops: number): string => {
  if (hops === 0) return input.peerAddress;
  const forwarded = input.header("x-forwarded-for");
  if (forwarded === null) return input.peerAddress;
  const entries = forwarded.split(",").map((entry) => entry.trim());
  return entries[Math.max(0, entries.length - hops)] ?? input.peerAddress;
};

/** The unit of one limit: an IPv4 address, or the /64 of an IPv6 customer. */
export const addressBucket = (address: string): string => {
  if (!address.includes(":")) return address === "" ? "unknown" : address;
  if (address.startsWith(IPV4_MAPPED)) return address.slice(IPV4_MAPPED.length);
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  const full = [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(tail ? tail.split(":") : [])];
  return `${full.slice(0, 4).join(":")}::/64`;
};
