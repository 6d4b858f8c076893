import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { chainConfig, type ChainConfig } from "@/lib/platform/config/chains";
import { isDomainError } from "@/lib/core/errors";
import { chainCall, createChainRegistry } from "./registry";

const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
const NOWHERE = "0x0000000000000000000000000000000000000001";

const chain = (id: number, url = "http://127.0.0.1:9"): ChainConfig =>
  chainConfig.parse({
    id,
    name: `Chain ${String(id)}`,
    testnet: true,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: [url],
    confirmations: 2,
    blockTimeMs: 1000,
    contracts: { multicall3: NOWHERE, entryPoint: NOWHERE, wrappedNative: WETH },
    tokens: [
      { symbol: "ETH", name: "Ether", address: "native", decimals: 18, assetId: "eth" },
      { symbol: "WETH", name: "Wrapped Ether", address: WETH, decimals: 18, assetId: "weth" },
      {
        symbol: "USDC",
        name: "USD Coin",
        address: USDC,
        decimals: 6,
        assetId: "usdc",
        usdPegged: true,
      },
    ],
  });

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return isDomainError(error) ? error.code : "another error";
  }
  return "no error";
};

describe("a token is found by", () => {
  const registry = createChainRegistry([chain(1), chain(2)]);
  test.each([
    ["its symbol", "USDC", USDC],
    ["its symbol in any case", "usdc", USDC],
    ["its address", USDC, USDC],
    ["its address in lower case", USDC.toLowerCase(), USDC],
    ["the word native", "native", "native"],
    ["the coin's symbol", "eth", "native"],
    ["CAIP-19 of an ERC-20", `eip155:1/erc20:${USDC.toLowerCase()}`, USDC],
    ["CAIP-19 of the coin", "eip155:1/slip44:60", "native"],
  ])("%s", (_, ref, address) => {
    expect(registry.resolveToken(1, ref)).toMatchObject({ address, chainId: 1 });
  });

  test.each([
    "DOGE",
    NOWHERE,
    `eip155:2/erc20:${USDC}`,
    "eip155:2/slip44:60",
    "",
    "erc20",
    "constructor",
  ])("nothing else: %j", async (ref) => {
    expect(await codeOf(() => registry.resolveToken(1, ref))).toBe("unsupported_token");
  });

  test("no chain that is not configured", async () => {
    expect(await codeOf(() => registry.resolveToken(3, "USDC"))).toBe("unsupported_chain");
    expect(await codeOf(() => registry.client(3))).toBe("unsupported_chain");
    expect(await codeOf(() => registry.tokens(3))).toBe("unsupported_chain");
  });
});

test("tokens are those of all chains, or of one", () => {
  const registry = createChainRegistry([chain(1), chain(2)]);
  expect(registry.tokens()).toHaveLength(6);
  expect(registry.tokens(2).map(({ chainId }) => chainId)).toEqual([2, 2, 2]);
  expect(registry.native(2)).toMatchObject({ address: "native", chainId: 2 });
  expect(registry.wrappedNative(2)).toMatchObject({ symbol: "WETH", chainId: 2 });
});

describe("a call to a chain", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  const serve = (answer: (id: number) => object | null, status = 200): Promise<string> =>
    new Promise((resolve) => {
      const server = createServer((request, response) => {
        let body = "";
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => {
          const calls = [JSON.parse(body) as { id: number } | { id: number }[]].flat();
          const answers = calls.map(({ id }) => answer(id));
          if (answers.includes(null)) return; // A null leaves the request unanswered.
          response.writeHead(status, { "content-type": "application/json" });
          response.end(JSON.stringify(body.startsWith("[") ? answers : answers[0]));
        });
      });
      servers.push(server);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(
          `http://127.0.0.1:${String(typeof address === "object" && address ? address.port : 0)}`,
        );
      });
    });
  const blockNumber = async (url: string): Promise<string> => {
    const registry = createChainRegistry([chain(1, url)], { timeoutMs: 200 });
    return codeOf(() => chainCall(1, () => registry.client(1).getBlockNumber()));
  };
  const error = (code: number) => (id: number) => ({
    jsonrpc: "2.0",
    id,
    error: { code, message: "no" },
  });

  test("that answers is no error", async () => {
    expect(
      await blockNumber(await serve((id) => ({ jsonrpc: "2.0", id, result: "0x1" }))),
    ).toBe("no error");
  });

  test.each([
    ["is not reached", () => Promise.resolve("http://127.0.0.1:9")],
    ["does not answer in time", () => serve(() => null)],
    ["answers 503", () => serve((id) => ({ id }), 503)],
    ["answers 429", () => serve((id) => ({ id }), 429)],
    ["answers null", () => serve((id) => ({ jsonrpc: "2.0", id, result: null }))],
    ["has an internal error", () => serve(error(-32603))],
    ["limits the caller", () => serve(error(-32005))],
    ["says 429 in its answer", () => serve(error(429))],
  ])("that %s is chain_unavailable", async (_, url) => {
    expect(await blockNumber(await url())).toBe("chain_unavailable");
  });

  test("whose answer is null has no such transaction, where null may be said", async () => {
    const url = await serve((id) => ({ jsonrpc: "2.0", id, result: null }));
    const registry = createChainRegistry([chain(1, url)]);
    const hash = `0x${"1".repeat(64)}` as const;
    expect(
      await codeOf(() => chainCall(1, () => registry.client(1).getTransaction({ hash }))),
    ).toBe("another error");
  });

  test("that reverts stays what it is", async () => {
    const registry = createChainRegistry([chain(1, await serve(error(3)))]);
    expect(
      await codeOf(() => chainCall(1, () => registry.client(1).call({ to: NOWHERE }))),
    ).toBe("another error");
  });
});
