import type { z } from "zod";
import { chainsFile } from "@/lib/platform/config/chains";
import { MULTICALL3, planDeployments, type DevnetContracts } from "./contracts";
import { FEE_TIERS } from "./deploy/pools";
import { DEVNET_CHAIN_IDS } from "./chain-ids";

/**
 * Port of the first chain in the committed file. The supervisor sets `RPC_URL_<id>` when the chains
 * got other ports.
 */
const FIRST_PORT = 8545;
/** Port of the association provider; the supervisor sets `ASP_URL_<id>` when it got another one. */
const ASSOCIATION_PORT = 8548;

/**
 * Maximum age of a price of the local feeds. It is ten years, because nobody renews the feeds, and
 * the prices of the local pools change only by trades.
 */
const LOCAL_FEED_MAX_AGE_S = 315_360_000;

/**
 * The fee with which bridge quotes pay the local relayer: the gas of a plain fill, the additional
 * gas of a fill with a message, and a margin. Measured: a plain fill uses 103,000 gas, one that
 * unwraps 161,000, and one that swaps 232,000. A swap that is split over several pools uses up to
 * 700,000. Only large amounts are split, and their margin is many times the price of this gas.
 */
const RELAYER_FEE = {
  fillGas: 120_000,
  messageGas: 200_000,
  marginUsd: "0.02",
  marginTiers: [{ upToUsd: "10000", bps: 4 }, { upToUsd: "100000", bps: 2 }, { bps: 1 }],
};

const localFeeds = ({ eth, usdc, usdt, dai, eur, gbp, chf }: DevnetContracts["priceFeeds"]) =>
  [
    { address: eth, assetIds: ["eth", "weth"] },
    { address: usdc, assetIds: ["usdc"] },
    { address: usdt, assetIds: ["usdt"] },
    { address: dai, assetIds: ["dai"] },
    { address: eur, assetIds: ["EUR"] },
    { address: gbp, assetIds: ["GBP"] },
    { address: chf, assetIds: ["CHF"] },
  ].map((feed) => ({ ...feed, maxAgeSeconds: LOCAL_FEED_MAX_AGE_S }));

/**
 * The required content of `lib/platform/config/chains/local.json`. The file is committed, so that
 * code outside `lib/dev/devnet` only reads it.
 */
export const localChains = (): z.output<typeof chainsFile> => {
  const { contracts } = planDeployments();
  const token = (
    symbol: string,
    name: string,
    address: string,
    decimals: number,
    usdPegged: boolean,
  ) => ({
    symbol,
    name,
    address,
    decimals,
    assetId: symbol.toLowerCase(),
    usdPegged,
  });
  return chainsFile.parse({
    chains: DEVNET_CHAIN_IDS.map((id, index) => ({
      id,
      name: `Local ${String(index + 1)}`,
      testnet: true,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: [`http://127.0.0.1:${String(FIRST_PORT + index)}`],
      confirmations: 2,
      pollIntervalMs: 100,
      blockTimeMs: 1000,
      sponsor: { gasPriceGwei: "100" },
      contracts: {
        multicall3: MULTICALL3,
        entryPoint: contracts.entryPoint,
        safe: {
          singleton: contracts.safe,
          proxyFactory: contracts.safeProxyFactory,
          module4337: contracts.safe4337Module,
          moduleSetup: contracts.safeModuleSetup,
          multiSend: contracts.multiSend,
        },
        paymaster: contracts.paymaster,
        distributor: contracts.distributor,
        permit2: contracts.permit2,
        wrappedNative: contracts.weth,
        uniswapV3: {
          factory: contracts.uniswapFactory,
          quoterV2: contracts.quoterV2,
          swapRouter02: contracts.swapRouter02,
          poolInitCodeHash: contracts.poolInitCodeHash,
          feeTiers: [...FEE_TIERS],
        },
        across: {
          spokePool: contracts.spokePool,
          multicallHandler: contracts.multicallHandler,
          spokePoolPeriphery: contracts.spokePoolPeriphery,
          tokens: ["USDC", "USDT", "DAI", "WETH"],
          ...RELAYER_FEE,
          fillDeadlineSeconds: 60,
          typicalFillSeconds: 2,
        },
      },
      tokens: [
        token("ETH", "Ether", "native", 18, false),
        token("WETH", "Wrapped Ether", contracts.weth, 18, false),
        token("USDC", "USD Coin", contracts.usdc, 6, true),
        token("USDT", "Tether USD", contracts.usdt, 6, true),
        token("DAI", "Dai Stablecoin", contracts.dai, 18, true),
      ],
      privacyPools: {
        entrypoint: contracts.privacy.entrypoint,
        pools: [
          { asset: contracts.usdc, pool: contracts.privacy.pools.usdc },
          { asset: contracts.dai, pool: contracts.privacy.pools.dai },
          { asset: "native", pool: contracts.privacy.pools.native },
        ],
        startBlock: 0,
        aspSource: `http://127.0.0.1:${String(ASSOCIATION_PORT)}`,
        relayer: { feeBps: 0 },
        processor: contracts.privacy.processor,
      },
      priceFeeds: localFeeds(contracts.priceFeeds),
    })),
  });
};
