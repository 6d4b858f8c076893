import {
  createPublicClient,
  defineChain,
  fallback,
  getAddress,
  HttpRequestError,
  isAddress,
  TimeoutError,
  type Chain,
  type PublicClient,
  type Transport,
} from "viem";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { chainTroubleOf, outageOf } from "@/lib/core/outage";
import type { BudgetStore } from "@/lib/core/shared-budget";
import type { Token } from "@/lib/core/token";
import { withinTimeLeft } from "@/lib/core/request-time";
import { createLearntLimit } from "./learnt-limit";
import { withLogRanges } from "./log-ranges";
import { withBatchLimit } from "./rpc-batches";
import { createRpcGate, OPEN_GATE, type RpcGate, rpcTransport, SEND } from "./rpc-transport";
import { rpcFetch, type RpcFetch } from "./rpc-http";

export interface ChainRegistry {
  list(): readonly ChainConfig[];
  /**
   * The configuration of a chain. Null for a chain that is not configured, which old records may
   * name.
   */
  find(chainId: number): ChainConfig | null;
  /**
   * The configuration of a chain. `blockTimeMs` is the measured block time once it is known.
   * @throws DomainError `unsupported_chain`
   */
  get(chainId: number): ChainConfig;
  /** Stores the measured block time of a chain, in milliseconds. */
  learnBlockTime(chainId: number, measuredMs: number): void;
  /**
   * Number of blocks that the chain makes in the time that `blocks` blocks take by its
   * configuration; never fewer than `blocks`.
   */
  atPace(chainId: number, blocks: number): number;
  /**
   * The chain's client, with a deadline, fallback over the configured URLs, and JSON-RPC batching.
   */
  client(chainId: number): PublicClient;
  /** Number of providers of the chain: one for each of its URLs. */
  providers(chainId: number): number;
  /**
   * A registry that reads each chain through only one of its providers: the one at `index`, modulo
   * the number of providers.
   */
  throughProvider(index: number): ChainRegistry;
  /**
   * The client for sending transactions: only the chain's private relay, even while it does not
   * answer, or `client` for a chain without a relay.
   */
  sender(chainId: number): PublicClient;
  viemChain(chainId: number): Chain;
  /**
   * Number of blocks that a log search should read in one request: `logRangeBlocks` of the
   * configuration, or fewer after a node refused that many. The client splits larger ranges.
   */
  logRangeBlocks(chainId: number): bigint;
  tokens(chainId?: number): readonly Token[];
  /**
   * A token by symbol (any case), 0x address, `native`, or CAIP-19 (`eip155:1/erc20:0x…`,
   * `eip155:1/slip44:60`).
   * @throws DomainError `unsupported_chain`, `unsupported_token`
   */
  resolveToken(chainId: number, ref: string): Token;
  native(chainId: number): Token;
  wrappedNative(chainId: number): Token;
}

export interface RegistryOptions {
  readonly fetchFn?: RpcFetch;
  readonly timeoutMs?: number;
  /** Called around each JSON-RPC call. Several calls may be sent in one HTTP request. */
  readonly measureCall?: MeasureCall;
  /**
   * The store of the request budgets (`rpcBudgetPerSecond`), which all processes share. Without it,
   * budgets are not enforced.
   */
  readonly budgetStore?: BudgetStore;
  readonly measureWait?: MeasureWait;
}

export type MeasureWait = (
  chainId: number,
  seconds: number,
  outcome: "sent" | "timeout",
) => void;

export type MeasureCall = <T>(
  chainId: number,
  method: string,
  call: () => Promise<T>,
) => Promise<T>;

const TIMEOUT_MS = 5000;
const RETRIES = 1;
const TRIES_WHILE_LIMITED = 5;
const NATIVE_CAIP = /^eip155:(\d+)\/slip44:\d+$/;
const ERC20_CAIP = /^eip155:(\d+)\/erc20:(0x[0-9a-fA-F]{40})$/;

const tokensOf = (chain: ChainConfig): readonly Token[] =>
  chain.tokens.map((token) => ({ ...token, chainId: chain.id }));

const toViemChain = (chain: ChainConfig): Chain =>
  defineChain({
    id: chain.id,
    name: chain.name,
    nativeCurrency: chain.nativeCurrency,
    rpcUrls: { default: { http: chain.rpcUrls } },
    contracts: { multicall3: { address: chain.contracts.multicall3 } },
    testnet: chain.testnet,
  });

/**
 * Methods for which every working node returns a value. For other methods, null means that the
 * object does not exist.
 */
const ALWAYS_ANSWERED = new Set(
  [
    "eth_blockNumber eth_chainId eth_gasPrice eth_maxPriorityFeePerGas eth_feeHistory eth_getBalance",
    "eth_getTransactionCount eth_getCode eth_call eth_estimateGas eth_getLogs eth_sendRawTransaction",
  ].flatMap((names) => names.split(" ")),
);
const NEWEST_BLOCKS = new Set<unknown>(["latest", "pending", "safe", "finalized"]);

const mayBeNull = (method: string, params: unknown): boolean => {
  if (method === "eth_getBlockByNumber")
    return !(Array.isArray(params) && NEWEST_BLOCKS.has(params[0]));
  return !ALWAYS_ANSWERED.has(method);
};

/**
 * Treats null for a method that always has a value as a failure, so that the next URL is asked.
 * Overloaded nodes return such nulls.
 */
const refusingNull =
  (
    url: string,
    transport: Transport,
    measured: (method: string, call: () => Promise<unknown>) => Promise<unknown>,
  ): Transport =>
  (options) => {
    const made = transport(options);
    const request = async (
      args: { method: string; params?: unknown },
      requestOptions?: unknown,
    ): Promise<unknown> => {
      const answer = await measured(args.method, () =>
        made.request(args as never, requestOptions as never),
      );
      if ((answer === null || answer === undefined) && !mayBeNull(args.method, args.params))
        throw new HttpRequestError({
          url,
          body: { method: args.method },
          details: "The node answered null.",
        });
      return answer;
    };
    return { ...made, request: request as typeof made.request };
  };

/**
 * Ends a call when the time of the request that made it is over. Transactions are not ended,
 * because their outcome would be unknown.
 */
const withinRequests =
  (chainName: string, inner: Transport): Transport =>
  (options) => {
    const made = inner(options);
    const request = (
      args: { method: string; params?: unknown },
      requestOptions?: unknown,
    ): Promise<unknown> => {
      const call = (): Promise<unknown> => made.request(args as never, requestOptions as never);
      return args.method === SEND
        ? call()
        : withinTimeLeft(
            call,
            () => new TimeoutError({ url: chainName, body: { method: args.method } }),
          );
    };
    return { ...made, request: request as typeof made.request };
  };

interface Clients {
  readonly all: PublicClient;
  readonly providers: readonly PublicClient[];
}

const gateFor = (
  { id: chainId, rpcBudgetPerSecond: perSecond }: ChainConfig,
  { budgetStore: store, measureWait }: RegistryOptions,
) =>
  perSecond === undefined || store === undefined
    ? OPEN_GATE
    : createRpcGate({
        chainId,
        perSecond,
        store,
        onWaited: (...waited) => measureWait?.(chainId, ...waited),
      });

/**
 * Creates one transport per URL, because nodes have different limits. `logRanges` holds their
 * limits for `eth_getLogs`.
 */
const transportsOf = (
  chain: ChainConfig,
  urls: readonly string[],
  options: RegistryOptions,
  gate = OPEN_GATE,
) => {
  const logRanges = urls.map(() => createLearntLimit({ max: chain.logRangeBlocks }));
  const transports = urls.map((url, index) => {
    const batchLimit = createLearntLimit({ max: chain.rpcBatchMax });
    const transport = refusingNull(
      url,
      rpcTransport(url, {
        timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
        retries: RETRIES,
        batchMax: chain.rpcBatchMax,
        // The last node has no fallback, so its calls wait until it accepts them.
        triesWhileLimited: index === urls.length - 1 ? TRIES_WHILE_LIMITED : 1,
        fetchFn: withBatchLimit(
          gate.fetch(options.fetchFn ?? rpcFetch),
          chain.rpcBatchMax,
          batchLimit,
        ),
      }),
      (method, call) =>
        options.measureCall ? options.measureCall(chain.id, method, call) : call(),
    );
    const logRange = logRanges[index];
    return logRange === undefined ? transport : withLogRanges(transport, logRange);
  });
  return { transports, logRanges };
};

interface Connection {
  readonly viemChain: Chain;
  readonly transports: readonly Transport[];
  readonly gate: RpcGate;
}

const toClients = (
  chain: ChainConfig,
  { viemChain, transports, gate }: Connection,
): Clients => {
  const over = (inner: Transport): PublicClient => {
    const transport = withinRequests(chain.name, gate.transport(inner));
    return createPublicClient({
      chain: viemChain,
      transport,
      pollingInterval: chain.pollIntervalMs,
      cacheTime: 0,
    });
  };
  const providers = transports.map(over);
  const [only, ...others] = providers;
  return {
    all: only !== undefined && others.length === 0 ? only : over(fallback(transports)),
    providers,
  };
};

/** Matches an address of the form that many APIs use for a chain's coin. */
const COIN_PLACEHOLDER = /^0xe{40}$/i;

const findToken = (
  chain: ChainConfig,
  tokens: readonly Token[],
  ref: string,
): Token | undefined => {
  if (NATIVE_CAIP.exec(ref)?.[1] === String(chain.id))
    return findToken(chain, tokens, "native");
  const caip = ERC20_CAIP.exec(ref);
  if (caip?.[1] === String(chain.id) && caip[2]) return findToken(chain, tokens, caip[2]);
  if (ref.toLowerCase() === "native") return tokens.find((token) => token.address === "native");
  if (isAddress(ref, { strict: false })) {
    const address = getAddress(ref);
    return tokens.find((token) => token.address === address);
  }
  return tokens.find((token) => token.symbol.toLowerCase() === ref.toLowerCase());
};

const BLOCK_TIME_MS_MIN = 20;
const SLOWER_MAX = 5;

/**
 * The measured block time. A chain that stood still for a while does not count as slower than five
 * times its configuration.
 */
const boundedBlockTime = ({ blockTimeMs }: ChainConfig, measuredMs: number): number =>
  Math.round(Math.min(Math.max(measuredMs, BLOCK_TIME_MS_MIN), blockTimeMs * SLOWER_MAX));

export const createChainRegistry = (
  chains: readonly ChainConfig[],
  options: RegistryOptions = {},
): ChainRegistry => {
  const byId = new Map(
    chains.map((config) => {
      const viemChain = toViemChain(config);
      const gate = gateFor(config, options);
      const { transports, logRanges } = transportsOf(config, config.rpcUrls, options, gate);
      const clients = toClients(config, { viemChain, transports, gate });
      const relay = config.privateRelayUrl;
      const sender =
        relay === undefined
          ? clients.all
          : toClients(config, {
              viemChain,
              gate: OPEN_GATE,
              ...transportsOf(config, [relay], options),
            }).all;
      return [
        config.id,
        { config, viemChain, tokens: tokensOf(config), clients, sender, logRanges },
      ];
    }),
  );
  /** The configurations of chains whose block time was measured. */
  const measured = new Map<number, ChainConfig>();
  const all = [...byId.values()].flatMap((entry) => entry.tokens);
  const entry = (chainId: number) => {
    const found = byId.get(chainId);
    if (!found)
      throw new DomainError(
        "unsupported_chain",
        `Chain ${String(chainId)} is not one of the project's chains.`,
      );
    return found;
  };
  const resolveToken = (chainId: number, ref: string): Token => {
    const { config, tokens } = entry(chainId);
    const token = findToken(config, tokens, ref);
    if (token !== undefined) return token;
    const message = COIN_PLACEHOLDER.test(ref)
      ? `${ref} is a placeholder of other services and no contract. The coin of ${config.name} is called "native" here.`
      : `${ref} is not in the token list of ${config.name}.`;
    throw new DomainError("unsupported_token", message);
  };
  const providerOf = (chainId: number, index: number): PublicClient => {
    const { all: client, providers } = entry(chainId).clients;
    return providers[index % providers.length] ?? client;
  };
  const registry: ChainRegistry = {
    list: () => chains,
    find: (chainId) => measured.get(chainId) ?? byId.get(chainId)?.config ?? null,
    get: (chainId) => measured.get(chainId) ?? entry(chainId).config,
    learnBlockTime: (chainId, measuredMs) => {
      const { config } = entry(chainId);
      measured.set(chainId, { ...config, blockTimeMs: boundedBlockTime(config, measuredMs) });
    },
    atPace: (chainId, blocks) => {
      const configuredMs = entry(chainId).config.blockTimeMs;
      return Math.ceil(blocks * Math.max(1, configuredMs / registry.get(chainId).blockTimeMs));
    },
    client: (chainId) => entry(chainId).clients.all,
    providers: (chainId) => entry(chainId).clients.providers.length,
    throughProvider: (index) => ({
      ...registry,
      client: (chainId) => providerOf(chainId, index),
    }),
    sender: (chainId) => entry(chainId).sender,
    viemChain: (chainId) => entry(chainId).viemChain,
    logRangeBlocks: (chainId) =>
      BigInt(Math.min(...entry(chainId).logRanges.map((limit) => limit.current()))),
    tokens: (chainId) => (chainId === undefined ? all : entry(chainId).tokens),
    resolveToken,
    native: (chainId) => resolveToken(chainId, "native"),
    wrappedNative: (chainId) =>
      resolveToken(chainId, entry(chainId).config.contracts.wrappedNative),
  };
  return registry;
};

/**
 * Runs a call to a chain. Errors about a node that is unreachable or silent, limits requests, or
 * lacks a block or state become `chain_unavailable`. Reverts are thrown unchanged.
 * @throws DomainError `chain_unavailable`
 */
export const chainCall = async <T>(chainId: number, call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    if (isDomainError(error)) throw error;
    if (outageOf(error) !== "chain") throw error;
    const message = `${chainTroubleOf(error, `Chain ${String(chainId)}`)} Nothing was lost; try again shortly.`;
    throw new DomainError("chain_unavailable", message, { cause: error });
  }
};
