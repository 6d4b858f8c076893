import { BlockList, isIP, isIPv4 } from "node:net";

/** IPv4 ranges that are not publicly reachable (IANA special-purpose registry), multicast and reserved ranges. */
const FORBIDDEN_V4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

/**
 * IPv6 outside 2000::/3 is not public. Inside it these ranges are for documentation, or contain an IPv4 address that
 * they lead to (Teredo, 6to4, ORCHID).
 */
const FORBIDDEN_V6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const forbidden = new BlockList();
for (const [net, prefix] of FORBIDDEN_V4) forbidden.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of FORBIDDEN_V6) forbidden.addSubnet(net, prefix, "ipv6");

const publicV6 = new BlockList();
publicV6.addSubnet("2000::", 3, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Whether the address is publicly reachable. IPv4-mapped IPv6 counts as not public, because it is never needed and
 * hides its target.
 */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  if (isIPv4(address)) return !forbidden.check(address, "ipv4");
  return publicV6.check(address, "ipv6") && !forbidden.check(address, "ipv6");
};

/** Whether the address is this machine: 127.0.0.0/8 or ::1. */
export const isLoopbackAddress = (address: string): boolean =>
  isIP(address) !== 0 && !address.startsWith("::ffff:") && loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6");
