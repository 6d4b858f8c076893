import { BlockList, isIP, isIPv4 } from "node:net";
import { parseUrl } from "@/lib/core/redaction";
import http from "node:http";
import https from "node:https";

/**
 * IPv4 ranges that are not publicly reachable (IANA special-purpose registry), and multicast and
 * reserved ranges.
 */
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
 * IPv6 ranges inside 2000::/3 that are not public: ranges for documentation and for special
 * protocols (such as ORCHID), and ranges that lead to an IPv4 address (Teredo, 6to4). Everything
 * outside of 2000::/3 is not public either.
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
 * Whether the address is publicly reachable. IPv4-mapped IPv6 addresses count as not public,
 * because they are never needed and hide the real address.
 */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  if (isIPv4(address)) return !forbidden.check(address, "ipv4");
  return publicV6.check(address, "ipv6") && !forbidden.check(address, "ipv6");
};

/** Whether the address is a loopback address: 127.0.0.0/8 or ::1. */
export const isLoopbackAddress = (address: string): boolean =>
  isIP(address) !== 0 &&
  !address.startsWith("::ffff:") &&
  loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6");

export interface TargetRules {
  /** For development: allows receivers on this machine. */
  readonly allowLoopback: boolean;
}

export interface Target {
  readonly url: URL;
  /** Host name or address of the URL; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
}

const URL_LENGTH_MAX = 2000;
const FIRST_FREE_PORT = 1024;
/** Matches names that local resolvers answer and that no public host has. */
const LOCAL_NAME = /(^|\.)(local|internal|intranet|lan|home|corp|private|home\.arpa)$/i;
const LOOPBACK_NAME = /(^|\.)localhost$/i;

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);

/** The reason why requests to this address are refused; null when they are allowed. */
export const addressProblem = (
  address: string,
  { allowLoopback }: TargetRules,
): string | null => {
  if (isPublicAddress(address)) return null;
  if (allowLoopback && isLoopbackAddress(address)) return null;
  return `The address ${address} is not one of the public internet.`;
};

/**
 * Parses a URL and checks it without resolving its name. `URL` normalises every spelling of an IPv4
 * address (127.1, 0x7f000001, 2130706433, 0177.0.0.1).
 * @returns the target, or the problem in words
 */
export const readTarget = (text: string, rules: TargetRules): Target | string => {
  if (text.length > URL_LENGTH_MAX)
    return `A URL may have at most ${String(URL_LENGTH_MAX)} characters.`;
  const url = parseUrl(text);
  if (url === null) return "Enter a URL such as https://example.org/webhooks.";
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return "A URL must begin with https:// or http://.";
  if (url.username !== "" || url.password !== "")
    return "A URL must not contain a user name or password.";
  if (url.hash !== "") return "A URL must not contain a fragment (#).";
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = portOf(url);
  if (port !== 443 && port !== 80 && port < FIRST_FREE_PORT)
    return "The port must be 443, 80, or 1024 and above.";
  if (isIP(host) !== 0) return addressProblem(host, rules) ?? { url, host, port };
  if (LOOPBACK_NAME.test(host))
    return rules.allowLoopback ? { url, host, port } : "The host is this machine.";
  if (LOCAL_NAME.test(host) || !host.includes("."))
    return "The host is not a name of the public internet.";
  return { url, host, port };
};

const AGENTS_MAX = 200;
const IDLE_MS = 10_000;
const SOCKETS_MAX = 64;

interface AgentsOptions {
  /** Certificates to trust in addition to the default ones. */
  readonly ca?: string;
}

/**
 * Pools connections by origin and checked address, so that a connection is not reused after its
 * name resolves to another address.
 */
export const createAgents = ({ ca }: AgentsOptions) => {
  const agents = new Map<string, http.Agent>();
  const common = {
    keepAlive: true,
    maxSockets: SOCKETS_MAX,
    timeout: IDLE_MS,
    scheduling: "lifo" as const,
  };

  const make = (protocol: string): http.Agent =>
    protocol === "https:"
      ? new https.Agent({ ...common, ...(ca === undefined ? {} : { ca }) })
      : new http.Agent(common);

  const dropOldest = (): void => {
    const [oldest] = agents;
    if (oldest === undefined) return;
    const [key, agent] = oldest;
    agents.delete(key);
    agent.destroy();
  };

  return {
    get: ({ url, host, port }: Target, address: string): http.Agent => {
      const key = [url.protocol, host, String(port), address].join(" ");
      const known = agents.get(key);
      if (known !== undefined) {
        // Moves the agent to the end of the map, so that the least recently used agent is removed
        // first.
        agents.delete(key);
        agents.set(key, known);
        return known;
      }
      if (agents.size >= AGENTS_MAX) dropOldest();
      const agent = make(url.protocol);
      agents.set(key, agent);
      return agent;
    },
    close: (): void => {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
};
