import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { encodeAbiParameters, type AbiParameter, type Hex } from "viem";
import { z } from "zod";
import { DISTRIBUTOR_CODE } from "@/lib/chain/solidity/distributor";
import { MARKED_PAYMASTER_CODE } from "@/lib/chain/solidity/marked-paymaster";
import { PRIVACY_PROCESSOR_CODE } from "@/lib/chain/solidity/privacy-processor";
import { COMMITMENT_VERIFIER_CODE } from "./solidity/privacy/commitment-verifier";
import { LOCAL_ENTRYPOINT_CODE } from "./solidity/privacy/local-entrypoint";
import { LOCAL_PRIVACY_POOL_CODE } from "./solidity/privacy/local-privacy-pool";
import { POSEIDON_T3_CODE } from "./solidity/privacy/poseidon-t3";
import { POSEIDON_T4_CODE } from "./solidity/privacy/poseidon-t4";
import { WITHDRAWAL_VERIFIER_CODE } from "./solidity/privacy/withdrawal-verifier";
import { PERMIT2_CODE } from "./solidity/permit2";
import { LOCAL_PRICE_FEED_CODE } from "./solidity/local-price-feed";
import { LOCAL_SANCTIONS_LIST_CODE } from "./solidity/local-sanctions-list";
import { PERMIT_TOKEN_CODE } from "./solidity/permit-token";

const require = createRequire(import.meta.url);

const ACROSS = "@across-protocol/contracts/dist/evm/artifacts";
const SAFE = "@safe-global/safe-contracts/build/artifacts/contracts";
const SAFE_4337 = "@safe-global/safe-4337/build/artifacts/contracts";

/**
 * Compiled contracts that are read from their makers' npm packages instead of being copied here.
 */
const FILES = {
  entryPoint: "@account-abstraction/contracts/artifacts/EntryPoint.json",
  safe: `${SAFE}/Safe.sol/Safe.json`,
  safeL2: `${SAFE}/SafeL2.sol/SafeL2.json`,
  safeProxyFactory: `${SAFE}/proxies/SafeProxyFactory.sol/SafeProxyFactory.json`,
  multiSend: `${SAFE}/libraries/MultiSend.sol/MultiSend.json`,
  multiSendCallOnly: `${SAFE}/libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json`,
  compatibilityFallbackHandler: `${SAFE}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`,
  signMessageLib: `${SAFE}/libraries/SignMessageLib.sol/SignMessageLib.json`,
  createCall: `${SAFE}/libraries/CreateCall.sol/CreateCall.json`,
  safe4337Module: `${SAFE_4337}/Safe4337Module.sol/Safe4337Module.json`,
  safeModuleSetup: `${SAFE_4337}/SafeModuleSetup.sol/SafeModuleSetup.json`,
  multicall3: `${ACROSS}/Multicall3.sol/Multicall3.json`,
  erc20: `${ACROSS}/MockERC20.sol/MintableERC20.json`,
  weth9: `${ACROSS}/WETH9.sol/WETH9.json`,
  spokePool: `${ACROSS}/Ethereum_SpokePool.sol/Ethereum_SpokePool.json`,
  erc1967Proxy: `${ACROSS}/ERC1967Proxy.sol/ERC1967Proxy.json`,
  multicallHandler: `${ACROSS}/MulticallHandler.sol/MulticallHandler.json`,
  spokePoolPeriphery: `${ACROSS}/SpokePoolPeriphery.sol/SpokePoolPeriphery.json`,
  uniswapFactory:
    "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
  uniswapPool: "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
  positionManager:
    "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
  quoterV2:
    "@uniswap/swap-router-contracts/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
  swapRouter02:
    "@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json",
} as const;

/**
 * Contracts without a usable package: our own (see scripts/compile-contracts.mjs), and those whose
 * package would be too large.
 */
const COMMITTED = {
  permitToken: PERMIT_TOKEN_CODE,
  permit2: PERMIT2_CODE,
  localPriceFeed: LOCAL_PRICE_FEED_CODE,
  localSanctionsList: LOCAL_SANCTIONS_LIST_CODE,
  markedPaymaster: MARKED_PAYMASTER_CODE,
  distributor: DISTRIBUTOR_CODE,
  privacyProcessor: PRIVACY_PROCESSOR_CODE,
  commitmentVerifier: COMMITMENT_VERIFIER_CODE,
  withdrawalVerifier: WITHDRAWAL_VERIFIER_CODE,
  localEntrypoint: LOCAL_ENTRYPOINT_CODE,
  localPrivacyPool: LOCAL_PRIVACY_POOL_CODE,
  poseidonT3: POSEIDON_T3_CODE,
  poseidonT4: POSEIDON_T4_CODE,
} as const;

export type ArtifactName = keyof typeof FILES | keyof typeof COMMITTED;

const hex = z.custom<Hex>(
  (value) => typeof value === "string" && /^0x([0-9a-f]{2})+$/i.test(value),
  "is not hex",
);
const artifact = z.object({
  bytecode: z.union([hex, z.object({ object: hex }).transform(({ object }) => object)]),
});

const isCommitted = (name: ArtifactName): name is keyof typeof COMMITTED => name in COMMITTED;
const cache = new Map<ArtifactName, Hex>();

/**
 * Creation bytecode of a contract, without constructor arguments.
 * @throws Error when the package is missing, or when the bytecode still has placeholders for the
 * addresses of libraries
 */
export const creationCode = (name: ArtifactName): Hex => {
  if (isCommitted(name)) return COMMITTED[name];
  const known = cache.get(name);
  if (known) return known;
  const json: unknown = JSON.parse(readFileSync(require.resolve(FILES[name]), "utf8"));
  const { bytecode } = artifact.parse(json);
  cache.set(name, bytecode);
  return bytecode;
};

/** Creation bytecode followed by its encoded constructor arguments. */
export const initCode = <const P extends readonly AbiParameter[]>(
  name: ArtifactName,
  parameters: P,
  values: Parameters<typeof encodeAbiParameters<P>>[1],
): Hex => `${creationCode(name)}${encodeAbiParameters(parameters, values).slice(2)}`;
