import { parseEther, type Address } from "viem";
import { expect, test } from "vitest";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { testConfig } from "@/lib/dev/testing/devnet";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { checkChains } from "./start-checks";

const OP_GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000F";
const ARB_SYS: Address = "0x0000000000000000000000000000000000000064";
const SCROLL_L1_GAS_ORACLE: Address = "0x5300000000000000000000000000000000000002";
const EXECUTOR: Address = "0x00000000000000000000000000000000000e8ec0";
const NOWHERE: Address = "0x00000000000000000000000000000000c0ffee00";

const devnet = await ownDevnet();
const { chains } = testConfig({
  databaseUrl: "postgresql://unused@127.0.0.1:9/unused",
  rpcUrls: devnet.rpcUrls,
});
const [first, second] = devnet.chains;
const [one, two] = chains;
if (!first || !second || !one || !two) throw new Error("There are three local chains.");

/** The contracts that a routing provider would name. */
const providerContracts = (chainId: number): readonly Address[] => {
  const { uniswapV3, across } = chains.find(({ id }) => id === chainId)?.contracts ?? {};
  return [uniswapV3?.swapRouter02, across?.spokePool].filter(
    (address) => address !== undefined,
  );
};

const check = (
  changed: readonly ChainConfig[],
  bundlerChainIds = new Set<number>(),
  executor: Address | null = null,
) => checkChains({ chains: changed, executor, bundlerChainIds, providerContracts });

test("the local chains have nothing to complain about", async () => {
  expect(await check(chains)).toEqual({ faults: [], warnings: [] });
});

test("one report names another chain's node, a missing contract, and a token's wrong decimals and symbol", async () => {
  const usdc = one.tokens.find(({ symbol }) => symbol === "USDC");
  const wrong: ChainConfig = {
    ...one,
    contracts: { ...one.contracts, permit2: NOWHERE },
    tokens: one.tokens.map((token) =>
      token === usdc
        ? { ...token, decimals: 18 }
        : token.symbol === "DAI"
          ? { ...token, symbol: "XDAI" }
          : token,
    ),
  };
  const { faults } = await check([wrong, { ...two, rpcUrls: [...two.rpcUrls, first.rpcUrl] }]);
  expect(faults).toEqual([
    `Local 1: there is no contract at ${NOWHERE} (permit2)`,
    expect.stringContaining("the token USDC at"),
    expect.stringContaining('calls itself "DAI", not "XDAI"'),
    "Local 2: URL 2 of RPC_URL_31338 (or rpcUrls) answers as chain 31337, not 31338",
  ]);
  expect(faults[1]).toContain("has 6 decimals, not 18");
});

test("an oracle of sanctions that is no contract is a fault: every address would stay unscreened by it", async () => {
  const wrong: ChainConfig = {
    ...one,
    contracts: { ...one.contracts, sanctionsOracle: NOWHERE },
  };
  expect(await check([wrong])).toEqual({
    faults: [`Local 1: there is no contract at ${NOWHERE} (sanctionsOracle)`],
    warnings: [],
  });
});

test("a handler of the bridge without the function that passes on a whole balance is a fault", async () => {
  const { across } = one.contracts;
  if (across === undefined) throw new Error("The local chains have a bridge.");
  const older = { ...across, multicallHandler: across.spokePool };
  const { faults } = await check([{ ...one, contracts: { ...one.contracts, across: older } }]);
  expect(faults).toEqual([
    `Local 1: the contract at ${across.spokePool} (multicallHandler) is an older one: it has no makeCallWithBalance`,
  ]);
});

test("a symbol that differs on the chain is accepted when the configuration says so", async () => {
  const tokens = one.tokens.map((token) =>
    token.symbol === "DAI" ? { ...token, symbol: "XDAI", symbolOnChain: "DAI" } : token,
  );
  expect((await check([{ ...one, tokens }])).faults).toEqual([]);
});

const withCode = async (address: Address, work: () => Promise<void>): Promise<void> => {
  await first.client.setCode({ address, bytecode: "0x00" });
  try {
    await work();
  } finally {
    await first.client.setCode({ address, bytecode: "0x" });
  }
};

test.each([
  ["the OP stack", OP_GAS_PRICE_ORACLE, "op-stack"],
  ["Arbitrum", ARB_SYS, "arbitrum"],
] as const)(
  "a rollup of %s starts with its kind or a bundler, and is refused without them",
  (name, address, rollup) =>
    withCode(address, async () => {
      const reason = `Local 1 is a rollup (${name}) and needs "rollup": "${rollup}" in CHAINS_FILE, or BUNDLER_URL_31337`;
      expect((await check([one])).faults).toEqual([expect.stringContaining(reason)]);
      expect((await check([one], new Set([one.id]))).faults).toEqual([]);
      expect((await check([{ ...one, rollup }])).faults).toEqual([]);
    }),
);

test("a rollup of a kind that the service cannot price is refused without a bundler", () =>
  withCode(SCROLL_L1_GAS_ORACLE, async () => {
    const reason = "Local 1 is a rollup (Scroll) and needs BUNDLER_URL_31337";
    expect((await check([one])).faults).toEqual([expect.stringContaining(reason)]);
    expect((await check([one], new Set([one.id]))).faults).toEqual([]);
  }));

test("a configured kind that the chain does not have is refused", async () => {
  const wrong = { ...one, rollup: "op-stack" as const };
  const said = 'Local 1: rollup is "op-stack" in the configuration, but the chain is';
  expect((await check([wrong])).faults).toEqual([`${said} no rollup of a known kind`]);
  await withCode(ARB_SYS, async () => {
    expect((await check([wrong])).faults).toEqual([`${said} a rollup of Arbitrum`]);
  });
});

test("an executor and a paymaster without money are warnings; so is a chain that does not answer", async () => {
  await first.client.setBalance({ address: EXECUTOR, value: 1n });
  const { faults, warnings } = await check(
    [one, { ...two, rpcUrls: ["http://127.0.0.1:9"] }],
    new Set(),
    EXECUTOR,
  );
  expect(faults).toEqual([]);
  expect(warnings).toEqual([
    expect.stringContaining("Local 1: the executor"),
    "Local 2 was not checked, because no node of it answers",
  ]);
  await first.client.setBalance({ address: EXECUTOR, value: parseEther("10") });
  // A contract that is not this chain's paymaster has no deposit and no stake.
  const poor = {
    ...one,
    contracts: { ...one.contracts, paymaster: one.contracts.wrappedNative },
  };
  expect((await check([poor], new Set([one.id]), EXECUTOR)).warnings).toEqual([
    expect.stringContaining("the deposit of the paymaster"),
    expect.stringContaining("has no stake of at least a day"),
  ]);
});
