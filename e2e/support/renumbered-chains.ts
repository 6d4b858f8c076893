/**
 * The stack's local chains under other ids, for services in production mode, which refuse the ids
 * of local chains. A proxy before each node answers with the other id.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chainsFile } from "@/lib/platform/config/chains";

const LOCAL_CHAINS = "lib/platform/config/chains/local.json";
/** Added to the id of a local chain. */
const RENUMBERED = 100_000;
/** Readable for the unprivileged user that runs the service. */
const READABLE = { folder: 0o755, file: 0o644 } as const;

interface Call {
  readonly id: unknown;
  readonly method: string;
}

interface Answer {
  readonly id: unknown;
  result?: unknown;
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** Passes calls on to the node, and replaces the chain's id in its answers. */
const startProxy = async (nodeUrl: string, chainId: number) => {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const answered = await fetch(nodeUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      const answers = (await answered.json()) as Answer | Answer[];
      const calls = listOf(JSON.parse(body) as Call | Call[]);
      for (const answer of listOf(answers)) {
        const call = calls.find(({ id }) => id === answer.id);
        if (call?.method === "eth_chainId") answer.result = `0x${chainId.toString(16)}`;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answers));
    })().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

export interface RenumberedChains {
  /** `CHAINS_FILE` and the RPC URL of each chain. */
  readonly environment: Readonly<Record<string, string>>;
  close(): void;
}

export const startRenumberedChains = async (): Promise<RenumberedChains> => {
  const { chains } = chainsFile.parse(JSON.parse(readFileSync(LOCAL_CHAINS, "utf8")));
  const environment: Record<string, string> = {};
  const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
  for (const chain of chains) {
    const node = process.env[`E2E_RPC_URL_${String(chain.id)}`] ?? "";
    chain.id += RENUMBERED;
    const proxy = await startProxy(node, chain.id);
    proxies.push(proxy);
    environment[`RPC_URL_${String(chain.id)}`] = proxy.url;
  }
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  chmodSync(folder, READABLE.folder);
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }), { mode: READABLE.file });
  return {
    environment: { ...environment, CHAINS_FILE: file },
    close: () => {
      for (const proxy of proxies) proxy.close();
      rmSync(folder, { recursive: true });
    },
  };
};
