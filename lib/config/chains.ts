import { getAddress, isAddress, isHex, type Address } from "viem";
import { z } from "zod";
import { areFallingTiers, depositLimits, relayerFee, retiredFee } from "./bridge-fee";

const address = z
  .string()
  .refine((text) => isAddress(text, { strict: false }), "must be a 0x address of 20 bytes")
  .transform((text): Address => getAddress(text));

const bytes32 = z.string().refine((text) => isHex(text) && text.length === 66, "must be 32 bytes of hex");

/** A token that the project may use on a chain. `address: "native"` is the chain's own coin. */
export const tokenConfig = z.object({
  symbol: z.string().regex(/^[A-Za-z0-9.]{1,11}$/),
  /** The symbol in the token's contract, where it differs ("USD₮0" for USDT). Compared at the start. */
  symbolOnChain: z.string().min(1).optional(),
  name: z.string().min(1),
  address: z.union([z.literal("native"), address]),
  decimals: z.int().min(0).max(18),
  /** The same asset on several chains carries the same `assetId`; totals are grouped by it. */
  assetId: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /** Tokens worth one US dollar by design; the others are priced against them by the routing provider. */
  usdPegged: z.boolean().default(false),
});

/** Requests name a token by its symbol or address, so neither may mean two tokens of a chain. */
const refuseSameTokens = (tokens: readonly z.output<typeof tokenConfig>[], context: z.RefinementCtx): void => {
  for (const field of ["symbol", "address"] as const) {
    const seen = new Set<string>();
    for (const [index, token] of tokens.entries()) {
      const value = token[field].toLowerCase();
      if (seen.has(value))
        context.addIssue({ code: "custom", path: [index, field], message: `${token[field]} is another token's, too` });
      seen.add(value);
    }
  }
};

const gas = z.int().min(0);
const gwei = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string like "0.05"');

/** Limits on the network fees that the project's sponsor pays; defaults are in `lib/modules/sponsorship/limits.ts`. */
const sponsorConfig = z.object({
  /** In gwei: the price at which the two budgets below are turned into the chain's coin. */
  gasPriceGwei: gwei.optional(),
  /** Gas that one project may spend on one UTC day, and in one operation, at that price. */
  dailyGas: gas.optional(),
  operationGas: gas.optional(),
  /** The highest gas limit of one user operation, by what it does. */
  gasCeilings: z.object({ transfer: gas, swap: gas, bridge: gas, payoutBatch: gas }).partial().optional(),
});

/** Privacy pools of 0xbow, or contracts with their ABI. */
export const privacyPoolsConfig = z.object({
  entrypoint: address,
  /** One for each asset, by the address of its token, or `native`. */
  pools: z.array(z.object({ asset: z.union([z.literal("native"), address]), pool: address })).min(1),
  /** The block in which the first pool was deployed; earlier blocks are not read. */
  startBlock: z.int().min(0),
  /** Base URL of the provider of association sets: `<aspSource>/<chain id>/public/mt-roots`. `ASP_URL_<id>` replaces it. */
  aspSource: z.url(),
  /** The service relays through its executor and charges this share of the relayed amount. */
  relayer: z.object({ feeBps: z.int().min(0).max(500) }).default({ feeBps: 0 }),
  /** The project's `PrivacyProcessor`. Without it there are no private swaps, and no transfers between private wallets. */
  processor: address.optional(),
});

/** A price feed in US dollars with the interface of Chainlink's AggregatorV3. */
const priceFeed = z.object({
  address,
  /** The assets that it prices, on every chain; a chain's own feed of an asset comes before that of another chain. */
  assetIds: z.array(z.string()).min(1),
  /** An older price is not used. Set it a little above the feed's heartbeat. */
  maxAgeSeconds: z.int().positive(),
});

const chainShape = z.object({
  id: z.int().positive(),
  name: z.string().min(1),
  testnet: z.boolean(),
  nativeCurrency: z.object({ name: z.string(), symbol: z.string(), decimals: z.int() }),
  /** Used by the service, in order of preference; `RPC_URL_<id>` (comma separated) replaces them. */
  rpcUrls: z.array(z.url()).min(1),
  /**
   * Shown to everybody and used by browsers; `PUBLIC_RPC_URL_<id>` replaces it. `rpcUrls` may hold keys and are never shown, so
   * without it browsers reach the chain through the person's wallet alone. In development a node of this machine is both.
   */
  publicRpcUrl: z.url().optional(),
  explorerUrl: z.url().optional(),
  /**
   * When a block counts as final: `confirmations` deep, or up to the chain's own `safe` or `finalized` block, for chains whose nodes know
   * that tag. A rollup's `safe` block lies on its parent chain.
   */
  finality: z.enum(["confirmations", "safe", "finalized"]).default("confirmations"),
  /**
   * Blocks, the one that holds the transaction included, after which a transaction counts as final. With a tag as `finality` the usual
   * number, which people are shown to wait for.
   */
  confirmations: z.int().min(1),
  /**
   * The highest fee that the service pays for a unit of gas, in gwei. While the chain asks for more, operations wait and their
   * records say so. Without it every price is paid.
   */
  feeCapGwei: gwei.optional(),
  /**
   * A node to which the service sends its transactions in place of `rpcUrls`, so that they are not in the public mempool before
   * they are mined; `PRIVATE_RELAY_URL_<id>` replaces it. It is never shown.
   */
  privateRelayUrl: z.url().optional(),
  /**
   * The kind of a rollup, whose transactions also pay for their data on a parent chain. With it the service's own executor counts that
   * fee; a rollup of another kind needs `BUNDLER_URL_<id>`.
   */
  rollup: z.enum(["op-stack", "arbitrum"]).optional(),
  pollIntervalMs: z.int().min(20).default(1000),
  /** Blocks of one `eth_getLogs`, and calls of one JSON-RPC batch. Both are maxima: a node that refuses is asked for half, then for a quarter. */
  logRangeBlocks: z.int().min(1).max(1_000_000).default(2_000),
  rpcBatchMax: z.int().min(1).max(1_000).default(200),
  /**
   * JSON-RPC calls a second that all instances together send to `rpcUrls`; `RPC_BUDGET_<id>` replaces it. Reads wait for it, and the
   * service's own transactions go first. Without it nothing is held back.
   */
  rpcBudgetPerSecond: z.int("must be a whole number of requests a second").min(1).max(100_000).optional(),
  blockTimeMs: z.int().min(100),
  contracts: z.object({
    multicall3: address,
    entryPoint: address,
    /** Safe 1.4.1 with its ERC-4337 module; absent values are the canonical ones of permissionless. */
    safe: z
      .object({
        singleton: address,
        proxyFactory: address,
        module4337: address,
        moduleSetup: address,
        multiSend: address,
      })
      .partial()
      .default({}),
    /** The project's own paymaster (`npm run paymaster:deploy`). Without it accounts pay their own network fees. */
    paymaster: address.optional(),
    /**
     * The project's `Distributor` (lib/chains/solidity): accounts delegate the batches of payouts to it. Its code is compared before
     * each use. Without it batches are plain calls, which cost more gas.
     */
    distributor: address.optional(),
    /** Before `paymaster`, a contract of another kind; left unread it would mean that accounts pay for themselves. */
    verifyingPaymaster: z
      .undefined({
        error:
          "is not supported any more; deploy the project's own with `npm run paymaster:deploy` and name it paymaster",
      })
      .optional(),
    /** Uniswap's Permit2. Without it wallets sign for it nowhere, and send transactions where a token has no permit of its own. */
    permit2: address.optional(),
    wrappedNative: address,
    /** A sanctions oracle with the interface of Chainalysis' (`isSanctioned(address)`). Without one on any chain no oracle is asked. */
    sanctionsOracle: address.optional(),
    uniswapV3: z
      .object({
        factory: address,
        quoterV2: address,
        swapRouter02: address,
        poolInitCodeHash: bytes32.optional(),
        feeTiers: z.array(z.int().positive()).min(1),
      })
      .optional(),
    across: z
      .object({
        spokePool: address,
        multicallHandler: address,
        /**
         * Across' HubPool and AcrossConfigStore, on the one chain that has them (Ethereum, or Sepolia for testnets). They tell which
         * deposits a refund pays for. Without them only a refund of exactly one deposit is recognised by itself.
         */
        hub: z.object({ hubPool: address, configStore: address }).optional(),
        /** Symbols of the tokens that the bridge carries to the same symbol on every chain that lists it. */
        tokens: z.array(z.string()).min(1),
        ...relayerFee.shape,
        /**
         * The least and the most that one deposit to this chain may hold, in whole units of the token, by the token's symbol. Without
         * an entry there is no limit.
         */
        limits: z.record(z.string(), depositLimits).default({}),
        /** Replaced by the fields of a relayer's fee above; left unread they would hide that fees changed. */
        feeBps: retiredFee,
        feeFixedUsd: retiredFee,
        /** Seconds after which an unfilled deposit is refunded on its origin chain. */
        fillDeadlineSeconds: z.int().min(5),
        typicalFillSeconds: z.int().min(1),
      })
      .refine(({ marginTiers }) => areFallingTiers(marginTiers), {
        path: ["marginTiers"],
        error: "must have rising upToUsd, all but the last, and falling bps",
      })
      .refine(({ tokens, limits }) => Object.keys(limits).every((symbol) => tokens.includes(symbol)), {
        path: ["limits"],
        error: "names a token that the bridge does not carry",
      })
      .optional(),
  }),
  tokens: z.array(tokenConfig).min(1).superRefine(refuseSameTokens),
  sponsor: sponsorConfig.optional(),
  privacyPools: privacyPoolsConfig.optional(),
  /** Prices that no pool sets: quotes are checked against them. Without a feed a quote says that it was not checked. */
  priceFeeds: z.array(priceFeed).default([]),
});

export const chainConfig = chainShape.refine(
  // A block that was just made has one confirmation and is never final by a tag.
  ({ finality, confirmations }) => finality === "confirmations" || confirmations > 1,
  { path: ["confirmations"], error: "must be at least 2 where finality is safe or finalized" },
);

/** The file that `CHAINS_FILE` names (default `lib/config/chains/local.json`). */
export const chainsFile = z
  .object({ chains: z.array(chainConfig).min(1) })
  .refine(
    (file) => new Set(file.chains.map((chain) => chain.id)).size === file.chains.length,
    "two chains share an id",
  );

export type ChainConfig = z.output<typeof chainConfig>;
