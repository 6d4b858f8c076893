import {
  concat,
  encodeFunctionData,
  getContractAddress,
  keccak256,
  parseAbi,
  zeroAddress,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import { devAddress } from "./accounts";
import { creationCode, initCode, type ArtifactName } from "./artifacts";

/** Nick's CREATE2 deployer, which anvil predeploys. */
export const CREATE2_DEPLOYER: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** Safe's own CREATE2 deployer: the same code at another address. */
export const SAFE_SINGLETON_FACTORY: Address = "0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7";
export const MULTICALL3: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/**
 * Salt of the canonical EntryPoint v0.7, found by its makers for the leading zeros of the address.
 */
const ENTRY_POINT_SALT: Hex =
  "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3";

/** Salt of the canonical Permit2, found by its makers for the leading zeros of the address. */
const PERMIT2_SALT: Hex = "0x0000000000000000000000000000000000000000d3af2663da51c10215000000";

/** Number of seconds that a deposit's quote time may lie in the past; the value of mainnet. */
const QUOTE_TIME_BUFFER_S = 3600;
/** Number of seconds that a deposit's fill deadline may lie in the future; the value of mainnet. */
const FILL_DEADLINE_BUFFER_S = 21600;

/**
 * One deployment. Its address depends on its code (CREATE2) or the deployer's nonce (CREATE), so it
 * is the same in every run.
 */
export interface Deployment {
  readonly name: string;
  readonly address: Address;
  /** Null for a contract creation by the deployer itself. */
  readonly to: Address | null;
  readonly data: Hex;
}

export interface DevnetContracts {
  readonly entryPoint: Address;
  readonly paymaster: Address;
  readonly safe: Address;
  readonly safeL2: Address;
  readonly safeProxyFactory: Address;
  readonly multiSend: Address;
  readonly multiSendCallOnly: Address;
  readonly compatibilityFallbackHandler: Address;
  readonly signMessageLib: Address;
  readonly createCall: Address;
  readonly safe4337Module: Address;
  readonly safeModuleSetup: Address;
  readonly usdc: Address;
  readonly usdt: Address;
  readonly dai: Address;
  readonly weth: Address;
  readonly uniswapFactory: Address;
  readonly positionManager: Address;
  readonly quoterV2: Address;
  readonly swapRouter02: Address;
  readonly spokePool: Address;
  readonly multicallHandler: Address;
  readonly permit2: Address;
  readonly spokePoolPeriphery: Address;
  readonly privacy: PrivacyContracts;
  readonly distributor: Address;
  /** One feed for each price. The chain's coin and its wrapped form share the feed `eth`. */
  readonly priceFeeds: Readonly<
    Record<"eth" | "usdc" | "usdt" | "dai" | "eur" | "gbp" | "chf", Address>
  >;
  /** A sanctions oracle that lists nobody at first. */
  readonly sanctionsList: Address;
  readonly poolInitCodeHash: Hex;
}

/** The privacy pools, their entrypoint, and the contracts for swaps between them. */
export interface PrivacyContracts {
  readonly entrypoint: Address;
  readonly processor: Address;
  readonly pools: Readonly<Record<"usdc" | "dai" | "native", Address>>;
}

/** The asset address that the protocol uses for a pool of the chain's coin. */
export const PRIVACY_NATIVE_ASSET: Address = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";

interface DeploymentPlan {
  readonly contracts: DevnetContracts;
  /**
   * In the order in which the deployer sends them. Each deployment has its index as nonce, because
   * the addresses of CREATE deployments depend on the nonce.
   */
  readonly deployments: readonly Deployment[];
}

/**
 * Plans to deploy a contract with CREATE, and returns its address. For contracts that give rights
 * to their creator, which must be the deployer's account and not a CREATE2 factory.
 */
type Create = (name: string, code: Hex) => Address;
type Create2 = (
  name: string,
  code: Hex,
  options?: { salt?: Hex; factory?: Address },
) => Address;

const spokePoolAbi = parseAbi([
  "function initialize(uint32 initialDepositId, address withdrawalRecipient)",
]);
const address = { type: "address" } as const;

const canonical = { factory: SAFE_SINGLETON_FACTORY };

const safeContracts = (create2: Create2, entryPoint: Address) => ({
  safe: create2("Safe", creationCode("safe"), canonical),
  safeL2: create2("SafeL2", creationCode("safeL2"), canonical),
  safeProxyFactory: create2("SafeProxyFactory", creationCode("safeProxyFactory"), canonical),
  multiSend: create2("MultiSend", creationCode("multiSend"), canonical),
  multiSendCallOnly: create2("MultiSendCallOnly", creationCode("multiSendCallOnly"), canonical),
  compatibilityFallbackHandler: create2(
    "CompatibilityFallbackHandler",
    creationCode("compatibilityFallbackHandler"),
    canonical,
  ),
  safe4337Module: create2(
    "Safe4337Module",
    initCode("safe4337Module", [address], [entryPoint]),
  ),
  safeModuleSetup: create2("SafeModuleSetup", creationCode("safeModuleSetup")),
});

/**
 * Safe's libraries, which Safe's own SDK expects on every chain, although the service does not use
 * them.
 */
const safeLibraries = (create2: Create2) => ({
  signMessageLib: create2("SignMessageLib", creationCode("signMessageLib"), canonical),
  createCall: create2("CreateCall", creationCode("createCall"), canonical),
});

/**
 * Deploys the tokens. As on public chains, USDC supports permits (EIP-2612) and the others do not.
 */
const tokens = (create2: Create2) => {
  const token = (
    name: string,
    symbol: string,
    decimals: number,
    code: ArtifactName = "erc20",
  ): Address =>
    create2(
      symbol,
      initCode(
        code,
        [{ type: "string" }, { type: "string" }, { type: "uint8" }],
        [name, symbol, decimals],
      ),
    );
  return {
    usdc: token("USD Coin", "USDC", 6, "permitToken"),
    usdt: token("Tether USD", "USDT", 6),
    dai: token("Dai Stablecoin", "DAI", 18),
    weth: create2("WETH", creationCode("weth9")),
  };
};

const uniswap = (create: Create, create2: Create2, weth: Address) => {
  const factory = create("Uniswap v3 factory", creationCode("uniswapFactory"));
  const positionManager = create2(
    "NonfungiblePositionManager",
    initCode("positionManager", [address, address, address], [factory, weth, zeroAddress]),
  );
  return {
    uniswapFactory: factory,
    positionManager,
    quoterV2: create2("QuoterV2", initCode("quoterV2", [address, address], [factory, weth])),
    swapRouter02: create2(
      "SwapRouter02",
      initCode(
        "swapRouter02",
        [address, address, address, address],
        [zeroAddress, factory, positionManager, weth],
      ),
    ),
  };
};

const across = (create: Create, create2: Create2, weth: Address) => {
  const implementation = create2(
    "SpokePool implementation",
    initCode(
      "spokePool",
      [address, { type: "uint32" }, { type: "uint32" }, address],
      [weth, QUOTE_TIME_BUFFER_S, FILL_DEADLINE_BUFFER_S, zeroAddress],
    ),
  );
  const initialize = encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "initialize",
    args: [0, devAddress("deployer")],
  });
  return {
    spokePool: create(
      "SpokePool",
      initCode("erc1967Proxy", [address, { type: "bytes" }], [implementation, initialize]),
    ),
    multicallHandler: create2("MulticallHandler", creationCode("multicallHandler")),
  };
};

/**
 * Deploys Permit2 and Across' SpokePoolPeriphery. Permit2 comes first, because the constructor of
 * the periphery fails when Permit2 has no code.
 */
const signedTransfers = (create2: Create2) => {
  const permit2 = create2("Permit2", creationCode("permit2"), { salt: PERMIT2_SALT });
  return {
    permit2,
    spokePoolPeriphery: create2(
      "SpokePoolPeriphery",
      initCode("spokePoolPeriphery", [address, address], [permit2, MULTICALL3]),
    ),
  };
};

const privacy = (
  create2: Create2,
  { usdc, dai }: { usdc: Address; dai: Address },
): PrivacyContracts => {
  // The pools' code contains the addresses of these two libraries.
  create2("PoseidonT3", creationCode("poseidonT3"));
  create2("PoseidonT4", creationCode("poseidonT4"));
  const withdrawalVerifier = create2("WithdrawalVerifier", creationCode("withdrawalVerifier"));
  const commitmentVerifier = create2("CommitmentVerifier", creationCode("commitmentVerifier"));
  const entrypoint = create2(
    "Entrypoint of the privacy pools",
    initCode("localEntrypoint", [address], [devAddress("deployer")]),
  );
  const pool = (name: string, asset: Address): Address =>
    create2(
      `Privacy pool of ${name}`,
      initCode(
        "localPrivacyPool",
        [address, address, address, address],
        [entrypoint, withdrawalVerifier, commitmentVerifier, asset],
      ),
    );
  return {
    entrypoint,
    processor: create2("PrivacyProcessor", creationCode("privacyProcessor")),
    pools: {
      usdc: pool("USDC", usdc),
      dai: pool("DAI", dai),
      native: pool("ETH", PRIVACY_NATIVE_ASSET),
    },
  };
};

/**
 * Price of ETH that the local feed names, in US dollars; the pools of the three chains differ from
 * it by at most 0.1 %.
 */
export const LOCAL_ETH_USD = 3_000n;
const FEED_ONE_DOLLAR = 100_000_000n;
const FEED_ONE_CENT = FEED_ONE_DOLLAR / 100n;

const priceFeeds = (create2: Create2): DevnetContracts["priceFeeds"] => {
  const feed = (symbol: string, cents: bigint): Address =>
    create2(
      `Price feed of ${symbol}`,
      initCode(
        "localPriceFeed",
        [address, { type: "string" }, { type: "int256" }],
        [devAddress("deployer"), `${symbol} / USD`, cents * FEED_ONE_CENT],
      ),
    );
  return {
    eth: feed("ETH", LOCAL_ETH_USD * 100n),
    usdc: feed("USDC", 100n),
    usdt: feed("USDT", 100n),
    dai: feed("DAI", 100n),
    eur: feed("EUR", 108n),
    gbp: feed("GBP", 127n),
    chf: feed("CHF", 113n),
  };
};

let plan: DeploymentPlan | null = null;

/**
 * Every contract of the local chains with its address. The addresses are computed from code only,
 * so they are the same on each chain and in each run.
 */
export const planDeployments = (): DeploymentPlan => (plan ??= workOutPlan());

// Computed once, because it hashes a megabyte of code.
const workOutPlan = (): DeploymentPlan => {
  const deployments: Deployment[] = [];
  const create2: Create2 = (
    name,
    code,
    { salt = zeroHash, factory = CREATE2_DEPLOYER } = {},
  ) => {
    const at = getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode: code });
    deployments.push({ name, address: at, to: factory, data: concat([salt, code]) });
    return at;
  };
  const create: Create = (name, data) => {
    const from = devAddress("deployer");
    const at = getContractAddress({ from, nonce: BigInt(deployments.length) });
    deployments.push({ name, address: at, to: null, data });
    return at;
  };
  const entryPoint = create2("EntryPoint v0.7", creationCode("entryPoint"), {
    salt: ENTRY_POINT_SALT,
  });
  const erc20 = tokens(create2);
  const contracts: DevnetContracts = {
    entryPoint,
    // The paymaster's marker is the service's executor. `allowMarker` appoints the executor later,
    // because its key does not exist yet.
    paymaster: create2(
      "MarkedPaymaster",
      initCode(
        "markedPaymaster",
        [address, address, { type: "address[]" }, { type: "uint32" }],
        [entryPoint, devAddress("deployer"), [], 0],
      ),
    ),
    ...safeContracts(create2, entryPoint),
    ...erc20,
    ...uniswap(create, create2, erc20.weth),
    ...across(create, create2, erc20.weth),
    ...signedTransfers(create2),
    privacy: privacy(create2, erc20),
    distributor: create2("Distributor", creationCode("distributor")),
    priceFeeds: priceFeeds(create2),
    sanctionsList: create2(
      "SanctionsList",
      initCode("localSanctionsList", [address], [devAddress("deployer")]),
    ),
    // These libraries come last, so that they do not change the nonces on which the addresses of
    // other contracts depend.
    ...safeLibraries(create2),
    poolInitCodeHash: keccak256(creationCode("uniswapPool")),
  };
  return { contracts, deployments };
};
