import { parseUrl } from "@/lib/core/parse-url";
import { isIP } from "node:net";
import { isLoopbackAddress, isPublicAddress } from "./addresses";

export interface TargetRules {
  /** Development: receivers on this machine. */
  readonly allowLoopback: boolean;
}

export interface Target {
  readonly url: URL;
  /** The host; for IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const URL_LENGTH_MAX = 2000;
const FIRST_FREE_PORT = 1024;
/** Names that local resolvers answer, which never belong to a public host. */
const LOCAL_NAME = /(^|\.)(local|internal|intranet|lan|home|corp|private|home\.arpa)$/i;
const LOOPBACK_NAME = /(^|\.)localhost$/i;

const portOf = (url: URL): number => (url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port));

/** Why requests to this address are refused; null when they are allowed. */
export const addressProblem = (address: string, { allowLoopback }: TargetRules): string | null => {
  if (isPublicAddress(address)) return null;
  if (allowLoopback && isLoopbackAddress(address)) return null;
  return `The address ${address} is not one of the public internet.`;
};

/**
 * Parses a URL and checks it without resolving its name. `URL` normalises every spelling of an IPv4 address (127.1,
 * 0x7f000001, 2130706433, 0177.0.0.1).
 * @returns the target, or the problem for people
 */
export const readTarget = (text: string, rules: TargetRules): Target | string => {
  if (text.length > URL_LENGTH_MAX) return `A URL may have at most ${String(URL_LENGTH_MAX)} characters.`;
  const url = parseUrl(text);
  if (url === null) return "Enter a URL such as https://example.org/webhooks.";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "A URL must begin with https:// or http://.";
  if (url.username !== "" || url.password !== "") return "A URL must not contain a user name or password.";
  if (url.hash !== "") return "A URL must not contain a fragment (#).";
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = portOf(url);
  if (port !== 443 && port !== 80 && port < FIRST_FREE_PORT) return "The port must be 443, 80, or 1024 and above.";
  if (isIP(host) !== 0) return addressProblem(host, rules) ?? { url, host, port };
  if (LOOPBACK_NAME.test(host)) return rules.allowLoopback ? { url, host, port } : "The host is this machine.";
  if (LOCAL_NAME.test(host) || !host.includes(".")) return "The host is not a name of the public internet.";
  return { url, host, port };
};
