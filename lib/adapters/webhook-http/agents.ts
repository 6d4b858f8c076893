import http from "node:http";
import https from "node:https";
import type { Target } from "./url-rules";

const AGENTS_MAX = 200;
const IDLE_MS = 10_000;
const SOCKETS_MAX = 64;

interface AgentsOptions {
  /** Certificates that are trusted in addition to the default ones. */
  readonly ca?: string;
}

/**
 * Keeps connections for later requests, by origin and checked address, so that a connection is never reused after its
 * name resolves elsewhere.
 */
export const createAgents = ({ ca }: AgentsOptions) => {
  const agents = new Map<string, http.Agent>();
  const common = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS, scheduling: "lifo" as const };

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
        // Moved to the end, so that the least recently used agent is removed first.
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
