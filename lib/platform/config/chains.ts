import { z } from "zod";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { CHAIN_ID_MAX } from "@/lib/core/evm";
import { type Address, getAddress, isAddress, isHex } from "viem";

// Configuration of the fees and limits of a bridge with relayers.

const FRACTION_DIGITS_MAX = 18;
const decimal = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18})?$/, 'must be a decimal string like "0.05"');

const scaled = (text: string): bigint =>
  scaledTo(parseDecimal(text), FRACTION_DIGITS_MAX, "floor");
const isMore = (one: string, other: string): boolean => scaled(one) > scaled(other);

/**
 * The fee of the bridge's relayers for a fill on this chain. It consists of their gas on this
 * chain and a margin.
 */
const relayerFee = z.object({
  /** Gas of a fill without the calls of its message. */
  fillGas: z.int().min(21_000),
  /**
   * Gas of the calls of a fill's message, for coins that are unwrapped or swapped on the
   * destination.
   */
  messageGas: z.int().min(0),
  /** The fixed part of the relayer's margin, in US dollars. */
  marginUsd: decimal,
  /**
   * The variable part of the relayer's margin: for each slice of the amount up to `upToUsd`, a
   * share in basis points.
   */
  marginTiers: z
    .array(z.object({ upToUsd: decimal.optional(), bps: z.int().min(0).max(1000) }))
    .min(1),
});

/**
 * Whether larger amounts pay a smaller share: `upToUsd` rises, only the last tier has none, and
 * `bps` falls.
 */
const areFallingTiers = (tiers: z.output<typeof relayerFee>["marginTiers"]): boolean =>
  tiers.every(({ upToUsd, bps }, index) => {
    const before = tiers[index - 1];
    const isLast = index === tiers.length - 1;
    if (isLast !== (upToUsd === undefined)) return false;
    if (before === undefined) return true;
    return (
      bps < before.bps && (upToUsd === undefined || isMore(upToUsd, before.upToUsd ?? "0"))
    );
  });

/** Minimum and maximum of one deposit, in whole units of the token. */
const depositLimits = z
  .object({ min: decimal, max: decimal })
  .partial()
  .refine(
    ({ min, max }) => min === undefined || max === undefined || !isMore(min, max),
    "min is above max",
  );

const address = z
  .string()
  .refine((text) => isAddress(text, { strict: false }), "must be a 0x address of 20 bytes")
  .transform((text): Address => getAddress(text));

const bytes32 = z
  .string()
  .refine((text) => isHex(text) && text.length === 66, "must be 32 bytes of hex");

/** A token that the project may use on a chain. `address: "native"` is the chain's own coin. */
export const tokenConfig = z.object({
  symbol: z.string().regex(/^[A-Za-z0-9.]{1,11}$/),
  /**
   * The symbol in the token's contract, if it differs ("USD₮0" for USDT). Compared with the
   * contract when the service starts.
   */
  symbolOnChain: z.string().min(1).optional(),
  name: z.string().min(1),
  address: z.union([z.literal("native"), address]),
  decimals: z.int().min(0).max(18),
  /** The same asset has the same `assetId` on every chain; totals are grouped by it. */
  assetId: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /**
   * Whether the token is worth one US dollar by design. The routing provider prices other tokens
   * against such tokens.
   */
  usdPegged: z.boolean().default(false),
  /**
   * Deposits below this amount are counted in one line instead of being shown one by one. With "0"
   * each deposit is shown. Default: 0.01 US dollars, or 0.0001 of a token without a price.
   */
  dustFloor: z
    .string()
    .regex(/^\d{1,30}(\.\d{1,18})?$/, "must be an amount of the token")
    .optional(),
});

/**
 * Reports tokens of a chain with an equal symbol or address. Requests name a token by one of the
 * two, so each must be unique on a chain.
 */
const refuseSameTokens = (
  tokens: readonly z.output<typeof tokenConfig>[],
  context: z.RefinementCtx,
): void => {
  for (const field of ["symbol", "address"] as const) {
    const seen = new Set<string>();
    for (const [index, token] of tokens.entries()) {
      const value = token[field].toLowerCase();
      if (seen.has(value))
        context.addIssue({
          code: "custom",
          path: [index, field],
          message: `${token[field]} is another token's, too`,
        });
      seen.add(value);
    }
  }
};

const gas = z.int().min(0);
const gwei = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string like "0.05"');

/**
 * Limits on the network fees that the project's sponsor pays; defaults are in
 * `lib/books/sponsorship/limits.ts`.
 */
const sponsorConfig = z.object({
  /** The gas price, in gwei, at which the two budgets below are converted to the chain's coin. */
  gasPriceGwei: gwei.optional(),
  /** Gas budget of one project for one UTC day. It is converted to coins at `gasPriceGwei`. */
  dailyGas: gas.optional(),
  /** Gas budget of one operation, converted in the same way as `dailyGas`. */
  operationGas: gas.optional(),
  /** The highest gas limit of one user operation, by its kind. */
  gasCeilings: z
    .object({ transfer: gas, swap: gas, bridge: gas, payoutBatch: gas })
    .partial()
    .optional(),
});

/** Privacy pools of 0xbow, or contracts with their ABI. */
export const privacyPoolsConfig = z.object({
  entrypoint: address,
  /** One pool for each asset, by the address of its token, or `native`. */
  pools: z
    .array(z.object({ asset: z.union([z.literal("native"), address]), pool: address }))
    .min(1),
  /** The block in which the first pool was deployed; earlier blocks are not read. */
  startBlock: z.int().min(0),
  /**
   * Base URL of the provider of association sets: `<aspSource>/<chain id>/public/mt-roots`.
   * `ASP_URL_<id>` replaces it.
   */
  aspSource: z.url(),
  /** The service relays through its executor and charges this share of the relayed amount. */
  relayer: z.object({ feeBps: z.int().min(0).max(500) }).default({ feeBps: 0 }),
  /**
   * The project's `PrivacyProcessor`. Without it private swaps, and transfers between private
   * wallets, are not available.
   */
  processor: address.optional(),
});

/** A price feed in US dollars with the interface of Chainlink's AggregatorV3. */
const priceFeed = z.object({
  address,
  /**
   * The assets whose price the feed gives, on every chain. A chain's own feed of an asset is
   * preferred to a feed on another chain. `EUR`, `GBP` and `CHF` are rates of reporting currencies.
   */
  assetIds: z.array(z.string()).min(1),
  /** Older prices are not used. Set the limit a little above the feed's heartbeat. */
  maxAgeSeconds: z.int().positive(),
});

const chainShape = z.object({
  id: z.int().positive().max(CHAIN_ID_MAX),
  name: z.string().min(1),
  testnet: z.boolean(),
  nativeCurrency: z.object({ name: z.string(), symbol: z.string(), decimals: z.int() }),
  /**
   * URLs that the service uses, in order of preference. `RPC_URL_<id>` (comma separated) replaces
   * them.
   */
  rpcUrls: z.array(z.url()).min(1),
  /**
   * Public URL, shown to everybody and used by browsers; `PUBLIC_RPC_URL_<id>` replaces it.
   * `rpcUrls` may contain keys and are never shown, so without a public URL browsers reach the
   * chain only through the person's wallet. In development a local node serves as both.
   */
  publicRpcUrl: z.url().optional(),
  explorerUrl: z.url().optional(),
  /**
   * When a block counts as final: `confirmations` deep, or up to the chain's own `safe` or
   * `finalized` block, for chains whose nodes know that tag. A rollup's `safe` block lies on its
   * parent chain.
   */
  finality: z.enum(["confirmations", "safe", "finalized"]).default("confirmations"),
  /**
   * Number of blocks, including that of the transaction, after which a transaction counts as
   * final. When `finality` is a tag, it is the usual number, which is shown to people who wait.
   */
  confirmations: z.int().min(1),
  /**
   * The highest price per unit of gas that the service pays, in gwei. While the chain's price is
   * higher, operations wait and their records say so. Without it every price is paid.
   */
  feeCapGwei: gwei.optional(),
  /**
   * A node to which the service sends its transactions instead of to `rpcUrls`, so that they are
   * not in the public mempool before they are mined; `PRIVATE_RELAY_URL_<id>` replaces it. It is
   * never shown.
   */
  privateRelayUrl: z.url().optional(),
  /**
   * The kind of rollup, whose transactions also pay for their data on a parent chain. The service's
   * own executor then includes that fee; rollups of other kinds need `BUNDLER_URL_<id>`.
   */
  rollup: z.enum(["op-stack", "arbitrum"]).optional(),
  pollIntervalMs: z.int().min(20).default(1000),
  /**
   * Maximum number of blocks of one `eth_getLogs`. When a node rejects a request of this size, half
   * of it is tried, then a quarter, and so on.
   */
  logRangeBlocks: z.int().min(1).max(1_000_000).default(2_000),
  /**
   * Maximum number of calls in one JSON-RPC batch. A rejected batch is halved in the same way as a
   * range of blocks.
   */
  rpcBatchMax: z.int().min(1).max(1_000).default(200),
  /**
   * JSON-RPC calls a second that all instances together send to `rpcUrls`; `RPC_BUDGET_<id>`
   * replaces the value. Reads wait for the budget, and the service's own transactions go first.
   * Without a value there is no limit.
   */
  rpcBudgetPerSecond: z
    .int("must be a whole number of requests a second")
    .min(1)
    .max(100_000)
    .optional(),
  blockTimeMs: z.int().min(100),
  contracts: z.object({
    multicall3: address,
    entryPoint: address,
    /**
     * Safe 1.4.1 with its ERC-4337 module. Absent values default to the canonical addresses of
     * permissionless.
     */
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
    /**
     * The project's own paymaster (`npm run paymaster:deploy`). Without it accounts pay their own
     * network fees.
     */
    paymaster: address.optional(),
    /**
     * The project's `Distributor` (lib/chain/solidity), to which accounts delegate the batches of
     * payouts. Its code is verified before use. Without it batches are plain calls, which cost more
     * gas.
     */
    distributor: address.optional(),
    /**
     * An older name for a contract of another kind. If the field were ignored, accounts would
     * silently pay their own network fees, so a configuration with this field is rejected.
     */
    verifyingPaymaster: z
      .undefined({
        error:
          "is not supported any more; deploy the project's own with `npm run paymaster:deploy` and name it paymaster",
      })
      .optional(),
    /**
     * Uniswap's Permit2. Without it wallets sign no permits for it, and send transactions when a
     * token has no permit itself.
     */
    permit2: address.optional(),
    wrappedNative: address,
    /** A sanctions oracle with the interface of Chainalysis' oracle (`isSanctioned(address)`). */
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
        /** The contract that swaps before a deposit and deposits the whole output. */
        spokePoolPeriphery: address,
        /**
         * Across' HubPool and AcrossConfigStore, on the one chain that has them (Ethereum, or
         * Sepolia for testnets). They show which deposits a refund pays for. Without them only a
         * refund of exactly one deposit is recognised automatically.
         */
        hub: z.object({ hubPool: address, configStore: address }).optional(),
        /**
         * Symbols of the tokens that the bridge transfers to the same symbol on every chain that
         * lists them.
         */
        tokens: z.array(z.string()).min(1),
        ...relayerFee.shape,
        /**
         * The minimum and maximum amount of one deposit to this chain, in whole units of the token,
         * by the token's symbol. Without an entry there is no limit.
         */
        limits: z.record(z.string(), depositLimits).default({}),
        /** Seconds after which an unfilled deposit is refunded on its origin chain. */
        fillDeadlineSeconds: z.int().min(5),
        typicalFillSeconds: z.int().min(1),
      })
      .refine(({ marginTiers }) => areFallingTiers(marginTiers), {
        path: ["marginTiers"],
        error: "must have rising upToUsd, all but the last, and falling bps",
      })
      .refine(
        ({ tokens, limits }) => Object.keys(limits).every((symbol) => tokens.includes(symbol)),
        {
          path: ["limits"],
          error: "names a token that the bridge does not carry",
        },
      )
      .optional(),
  }),
  tokens: z.array(tokenConfig).min(1).superRefine(refuseSameTokens),
  sponsor: sponsorConfig.optional(),
  privacyPools: privacyPoolsConfig.optional(),
  /**
   * Price sources that are independent of the pools. Quotes are checked against them. A quote for
   * a token without a feed says that it was not checked.
   */
  priceFeeds: z.array(priceFeed).default([]),
});

export const chainConfig = chainShape.refine(
  // A new block already has one confirmation, but is never final by a tag.
  ({ finality, confirmations }) => finality === "confirmations" || confirmations > 1,
  { path: ["confirmations"], error: "must be at least 2 where finality is safe or finalized" },
);

/** The file that `CHAINS_FILE` names (default `lib/platform/config/chains/local.json`). */
export const chainsFile = z
  .object({ chains: z.array(chainConfig).min(1) })
  .refine(
    (file) => new Set(file.chains.map((chain) => chain.id)).size === file.chains.length,
    "two chains share an id",
  );

export type ChainConfig = z.output<typeof chainConfig>;
