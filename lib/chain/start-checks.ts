/**
 * Compares the configuration with the nodes and contracts of each chain before the service starts.
 */
import {
  createPublicClient,
  erc20Abi,
  formatEther,
  getAddress,
  http,
  parseAbi,
  toFunctionSelector,
  type Address,
  type PublicClient,
} from "viem";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { OP_GAS_PRICE_ORACLE, type RollupKind, suggestFees } from "./fees";
import { ownContracts } from "./chain-contracts";
import { LARGE_OPERATION_GAS } from "./gas-balances";

const TIMEOUT_MS = 5_000;
const UNSTAKE_DELAY_MIN_S = 86_400;

/**
 * Contracts that exist only on one kind of rollup. `kind` is its configuration value; absent for
 * kinds that are not supported.
 */
const ROLLUP_MARKS: readonly {
  readonly address: Address;
  readonly name: string;
  readonly kind?: RollupKind;
}[] = [
  { address: OP_GAS_PRICE_ORACLE, name: "the OP stack", kind: "op-stack" },
  { address: "0x0000000000000000000000000000000000000064", name: "Arbitrum", kind: "arbitrum" },
  { address: "0x5300000000000000000000000000000000000002", name: "Scroll" },
];

const entryPointAbi = parseAbi([
  "function getDepositInfo(address account) view returns ((uint256 deposit, bool staked, uint112 stake, uint32 unstakeDelaySec, uint48 withdrawTime) info)",
]);

export interface StartReport {
  /** Contradictions between the configuration and a chain. The service must not start with them. */
  readonly faults: readonly string[];
  /** Missing funds and chains that do not answer. Both can be fixed while the service runs. */
  readonly warnings: readonly string[];
}

export interface StartChecks {
  readonly chains: readonly ChainConfig[];
  readonly executor: Address | null;
  readonly providerContracts: (chainId: number) => readonly Address[];
  /** Ids of chains with `BUNDLER_URL_<id>`. */
  readonly bundlerChainIds: ReadonlySet<number>;
}

const hasCode = async (client: PublicClient, address: Address): Promise<boolean> =>
  ((await client.getCode({ address })) ?? "0x") !== "0x";

const isSame = (one: Address, other: Address): boolean => getAddress(one) === getAddress(other);

/**
 * The first client whose node is on the right chain, and a fault for each node on another chain.
 */
const checkNodes = async (chain: ChainConfig) => {
  const faults: string[] = [];
  const clients = chain.rpcUrls.map((url) =>
    createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 1 }) }),
  );
  const ids = await Promise.all(clients.map((client) => client.getChainId().catch(() => null)));
  // The message names a URL by its position, because URLs contain keys.
  for (const [index, id] of ids.entries())
    if (id !== null && id !== chain.id)
      faults.push(
        `${chain.name}: URL ${String(index + 1)} of RPC_URL_${String(chain.id)} (or rpcUrls) answers as chain ${String(id)}, not ${String(chain.id)}`,
      );
  return { faults, client: clients[ids.indexOf(chain.id)] ?? null };
};

const checkContracts = async (
  client: PublicClient,
  chain: ChainConfig,
  ofProviders: readonly Address[],
): Promise<string[]> => {
  const { privacyPools } = chain;
  const wanted = new Set([
    ...ownContracts(chain),
    ...ofProviders,
    ...chain.tokens.map(({ address }) => address),
  ]);
  for (const feed of chain.priceFeeds) wanted.add(feed.address);
  if (chain.contracts.sanctionsOracle !== undefined)
    wanted.add(chain.contracts.sanctionsOracle);
  const addresses = [...wanted].filter((address) => address !== "native");
  const present = await Promise.all(addresses.map((address) => hasCode(client, address)));
  const nameOf = (address: Address): string => {
    const token = chain.tokens.find(
      (one) => one.address !== "native" && isSame(one.address, address),
    );
    const own = Object.entries({
      ...chain.contracts,
      ...chain.contracts.safe,
      ...chain.contracts.uniswapV3,
      ...chain.contracts.across,
      ...chain.contracts.across?.hub,
      ...privacyPools,
    }).find(([, value]) => value === address)?.[0];
    return token?.symbol ?? own ?? "a contract that Safe accounts or privacy pools need";
  };
  return addresses
    .filter((_, index) => present[index] === false)
    .map((address) => `${chain.name}: there is no contract at ${address} (${nameOf(address)})`);
};

/**
 * Selector of a function that old versions of the bridge's handler lack. With an old handler
 * nobody could fill a deposit whose calls need the function.
 */
const HANDLER_FUNCTION = toFunctionSelector(
  "makeCallWithBalance(address target, bytes callData, uint256 value, (address token, uint256 offset)[] replacement)",
);

const checkBridge = async (
  client: PublicClient,
  { name, contracts: { across } }: ChainConfig,
): Promise<string[]> => {
  if (across === undefined) return [];
  const code = (await client.getCode({ address: across.multicallHandler })) ?? "0x";
  // A missing contract is reported by `checkContracts`.
  if (code === "0x" || code.includes(HANDLER_FUNCTION.slice(2))) return [];
  return [
    `${name}: the contract at ${across.multicallHandler} (multicallHandler) is an older one: it has no makeCallWithBalance`,
  ];
};

const checkTokens = async (client: PublicClient, chain: ChainConfig): Promise<string[]> => {
  const found = await Promise.all(
    chain.tokens.map(async ({ address, symbol, symbolOnChain, decimals }) => {
      // A token without code is reported by `checkContracts`.
      if (address === "native" || !(await hasCode(client, address))) return [];
      const call = { address, abi: erc20Abi } as const;
      const name = `${chain.name}: the token ${symbol} at ${address}`;
      const [itsDecimals, itsSymbol] = await Promise.all([
        client.readContract({ ...call, functionName: "decimals" }),
        client.readContract({ ...call, functionName: "symbol" }),
      ]).catch(() => [null, null] as const);
      if (itsDecimals === null) return [`${name} does not tell its decimals and symbol`];
      const wanted = symbolOnChain ?? symbol;
      return [
        ...(itsDecimals === decimals
          ? []
          : [`${name} has ${String(itsDecimals)} decimals, not ${String(decimals)}`]),
        ...(itsSymbol === wanted
          ? []
          : [
              `${name} calls itself "${itsSymbol}", not "${wanted}"; if it is the right token, set its symbolOnChain`,
            ]),
      ];
    }),
  );
  return found.flat();
};

/**
 * Reports a rollup whose kind is not configured, or configured wrongly: without a bundler, the
 * executor must know how the chain charges for data on its parent chain.
 */
const checkRollup = async (
  client: PublicClient,
  chain: ChainConfig,
  hasBundler: boolean,
): Promise<string[]> => {
  const marks = await Promise.all(ROLLUP_MARKS.map(({ address }) => hasCode(client, address)));
  const found = ROLLUP_MARKS.find((_, index) => marks[index]);
  if (chain.rollup !== undefined && found?.kind !== chain.rollup) {
    const seen =
      found === undefined ? "no rollup of a known kind" : `a rollup of ${found.name}`;
    return [
      `${chain.name}: rollup is "${chain.rollup}" in the configuration, but the chain is ${seen}`,
    ];
  }
  if (found === undefined || chain.rollup !== undefined || hasBundler) return [];
  const remedy =
    found.kind === undefined
      ? `needs BUNDLER_URL_${String(chain.id)}`
      : `needs "rollup": "${found.kind}" in CHAINS_FILE, or BUNDLER_URL_${String(chain.id)}`;
  return [
    `${chain.name} is a rollup (${found.name}) and ${remedy}: otherwise the service's own executor does not price the fee for data on the parent chain, and would pay it itself`,
  ];
};

const checkFunds = async (
  client: PublicClient,
  chain: ChainConfig,
  { executor, hasBundler }: { readonly executor: Address | null; readonly hasBundler: boolean },
): Promise<string[]> => {
  const { paymaster, entryPoint } = chain.contracts;
  const { maxFeePerGas } = await suggestFees(client);
  const neededWei = LARGE_OPERATION_GAS * maxFeePerGas;
  const lack = (what: string, wei: bigint): string =>
    `${chain.name}: ${what} has ${formatEther(wei)} ${chain.nativeCurrency.symbol}, less than one operation may cost (${formatEther(neededWei)})`;
  const warnings: string[] = [];
  if (executor !== null && (!hasBundler || paymaster !== undefined)) {
    const wei = await client.getBalance({ address: executor });
    if (wei < neededWei) warnings.push(lack(`the executor ${executor}`, wei));
  }
  if (paymaster === undefined || !(await hasCode(client, entryPoint))) return warnings;
  const args = [paymaster] as const;
  const info = await client.readContract({
    address: entryPoint,
    abi: entryPointAbi,
    functionName: "getDepositInfo",
    args,
  });
  if (info.deposit < neededWei)
    warnings.push(lack(`the deposit of the paymaster ${paymaster}`, info.deposit));
  if (hasBundler && (!info.staked || info.unstakeDelaySec < UNSTAKE_DELAY_MIN_S))
    warnings.push(
      `${chain.name}: the paymaster ${paymaster} has no stake of at least a day, which bundlers require`,
    );
  return warnings;
};

const listed = (outcomes: readonly PromiseSettledResult<string[]>[]): string[] =>
  outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));

type ChainFacts = Omit<StartChecks, "chains">;

/**
 * Runs the checks of a chain's facts. They are independent, so that an unexpected answer of one
 * contract does not hide the results of the others.
 */
const factsOf = (
  client: PublicClient,
  chain: ChainConfig,
  { providerContracts, bundlerChainIds }: ChainFacts,
): Promise<PromiseSettledResult<string[]>[]> =>
  Promise.allSettled([
    checkContracts(client, chain, providerContracts(chain.id)),
    checkBridge(client, chain),
    checkTokens(client, chain),
    checkRollup(client, chain, bundlerChainIds.has(chain.id)),
  ]);

/**
 * Compares the configuration with one chain, without its funds.
 * @returns the contradictions; null when there are none so far, but the chain did not answer to
 * everything
 */
export const compareFacts = async (
  chain: ChainConfig,
  facts: ChainFacts,
): Promise<readonly string[] | null> => {
  const { faults, client } = await checkNodes(chain);
  const found = client === null ? null : await factsOf(client, chain, facts);
  const all = [...faults, ...listed(found ?? [])];
  const isWhole = found !== null && found.every(({ status }) => status === "fulfilled");
  return isWhole || all.length > 0 ? all : null;
};

const checkChain = async (chain: ChainConfig, checks: StartChecks): Promise<StartReport> => {
  const { faults, client } = await checkNodes(chain);
  const unchecked = `${chain.name} was not checked, because no node of it answers`;
  if (client === null) return { faults, warnings: faults.length > 0 ? [] : [unchecked] };
  const hasBundler = checks.bundlerChainIds.has(chain.id);
  const found = await factsOf(client, chain, checks);
  const funds = await Promise.allSettled([
    checkFunds(client, chain, { executor: checks.executor, hasBundler }),
  ]);
  // The error is not shown, because it may contain the node's URL.
  const isPartial = [...found, ...funds].some(({ status }) => status === "rejected");
  const partial = `${chain.name} was not checked to the end, because its node or one of its contracts did not answer as expected`;
  return {
    faults: [...faults, ...listed(found)],
    warnings: [...listed(funds), ...(isPartial ? [partial] : [])],
  };
};

/**
 * Compares the configuration with every chain: chain ids of all URLs, contracts, tokens, rollups,
 * and the funds of executor and paymaster.
 */
export const checkChains = async (checks: StartChecks): Promise<StartReport> => {
  const reports = await Promise.all(checks.chains.map((chain) => checkChain(chain, checks)));
  return {
    faults: reports.flatMap(({ faults }) => faults),
    warnings: reports.flatMap(({ warnings }) => warnings),
  };
};
