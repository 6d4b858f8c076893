import { type Address, encodePacked, keccak256, parseAbi, parseAbiParameters } from "viem";
import type { Token } from "@/lib/core/token";
import type { ChainRegistry } from "./registry";

const WITHDRAWAL = "struct Withdrawal { address processooor; bytes data; }";
const WITHDRAW_PROOF =
  "struct WithdrawProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[8] pubSignals; }";
const RAGEQUIT_PROOF =
  "struct RagequitProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[4] pubSignals; }";

/** The protocol's asset address for the chain's coin. */
const NATIVE_ASSET: Address = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";

/** Order of the BN254 scalar field, in which the protocol's circuits calculate. */
const SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

export const poolAsset = (token: Address | "native"): Address =>
  token === "native" ? NATIVE_ASSET : token;

/**
 * The scope of a pool, from which its notes are derived: keccak256 of the packed address, chain id
 * and asset, modulo the order of the scalar field. The pool's contract computes it once, when it is
 * deployed.
 */
export const poolScope = ({
  chainId,
  pool,
  asset,
}: {
  readonly chainId: number;
  readonly pool: Address;
  readonly asset: Address;
}): bigint =>
  BigInt(
    keccak256(encodePacked(["address", "uint256", "address"], [pool, BigInt(chainId), asset])),
  ) % SCALARS;

/** ABI of 0xbow's Entrypoint, reduced to the functions in use. */
export const entrypointAbi = parseAbi([
  WITHDRAWAL,
  WITHDRAW_PROOF,
  "function deposit(uint256 precommitment) payable returns (uint256)",
  "function deposit(address asset, uint256 value, uint256 precommitment) returns (uint256)",
  "function relay(Withdrawal withdrawal, WithdrawProof proof, uint256 scope)",
  "function latestRoot() view returns (uint256)",
  "function assetConfig(address asset) view returns (address pool, uint256 minimumDepositAmount, uint256 vettingFeeBPS, uint256 maxRelayFeeBPS)",
  "function updateRoot(uint256 root, string ipfsCID) returns (uint256)",
  "function hasRole(bytes32 role, address account) view returns (bool)",
  "event RootUpdated(uint256 _root, string _ipfsCID, uint256 _timestamp)",
  "event WithdrawalRelayed(address indexed _relayer, address indexed _recipient, address indexed _asset, uint256 _amount, uint256 _feeAmount)",
  "error MinimumDepositAmount()",
  "error NativeAssetTransferFailed()",
  "error PrecommitmentAlreadyUsed()",
  "error RelayFeeGreaterThanMax()",
  "error ContextMismatch()",
  "error IncorrectASPRoot()",
  "error InvalidProof()",
  "error NoRootsAvailable()",
  "error NullifierAlreadySpent()",
  "error PoolNotFound()",
  "error UnknownStateRoot()",
  "error SafeERC20FailedOperation(address token)",
]);

/** ABI of 0xbow's pools, reduced to the functions in use. */
export const privacyPoolAbi = parseAbi([
  WITHDRAWAL,
  WITHDRAW_PROOF,
  RAGEQUIT_PROOF,
  "function SCOPE() view returns (uint256)",
  "function currentRoot() view returns (uint256)",
  "function nullifierHashes(uint256 nullifierHash) view returns (bool)",
  "function depositors(uint256 label) view returns (address)",
  "function withdraw(Withdrawal withdrawal, WithdrawProof proof)",
  "function ragequit(RagequitProof proof)",
  "event Deposited(address indexed _depositor, uint256 _commitment, uint256 _label, uint256 _value, uint256 _precommitmentHash)",
  "event Withdrawn(address indexed _processooor, uint256 _value, uint256 _spentNullifier, uint256 _newCommitment)",
  "event Ragequit(address indexed _ragequitter, uint256 _commitment, uint256 _label, uint256 _value)",
  "event LeafInserted(uint256 _index, uint256 _leaf, uint256 _root)",
  "error ContextMismatch()",
  "error IncorrectASPRoot()",
  "error InvalidCommitment()",
  "error InvalidProcessooor()",
  "error InvalidProof()",
  "error NullifierAlreadySpent()",
  "error OnlyOriginalDepositor()",
  "error UnknownStateRoot()",
]);

/** `withdrawal.data` of `relay`: the recipients that the entrypoint pays. The proof covers it. */
export const relayData = parseAbiParameters([
  "RelayData data",
  "struct RelayData { address recipient; address feeRecipient; uint256 relayFeeBPS; }",
]);

/**
 * Identifies a privacy pool. With it and a mnemonic, other software of the protocol can find the
 * notes.
 */
export interface PoolPlace {
  readonly token: Token;
  readonly address: Address;
  readonly scope: bigint;
  readonly entrypoint: Address;
  /** No pool of the chain has a deposit before this block. */
  readonly startBlock: number;
}

/** The configured pools of a chain; empty when the chain has none. */
export const poolPlaces = (
  registry: Pick<ChainRegistry, "get" | "resolveToken">,
  chainId: number,
): readonly PoolPlace[] => {
  const { privacyPools } = registry.get(chainId);
  if (privacyPools === undefined) return [];
  const { entrypoint, startBlock, pools } = privacyPools;
  return pools.map(({ asset, pool: address }) => ({
    token: registry.resolveToken(chainId, asset),
    address,
    scope: poolScope({ chainId, pool: address, asset: poolAsset(asset) }),
    entrypoint,
    startBlock,
  }));
};

export const privacyProcessorAbi = parseAbi([
  WITHDRAWAL,
  WITHDRAW_PROOF,
  RAGEQUIT_PROOF,
  "function run(address pool, Withdrawal withdrawal, WithdrawProof proof)",
  "function exit(address pool, RagequitProof proof, address owner, bytes32 salt)",
  "function exitHashes(address pool, uint256 label) view returns (bytes32)",
  "error AssetMismatch()",
  "error BelowMinimum(uint256 amount, uint256 minimum)",
  "error Expired()",
  "error FeeAboveBound()",
  "error NoExit()",
  "error NotFromPool()",
  "error OnlyExitOwner()",
  "error Reentered()",
  "error TransferFailed()",
  "error UnknownPool()",
  "error ContextMismatch()",
  "error IncorrectASPRoot()",
  "error InvalidProof()",
  "error NullifierAlreadySpent()",
  "error UnknownStateRoot()",
]);

/** `withdrawal.data` of `run`: the processor's instructions for the note. The proof covers it. */
export const processorOrder = parseAbiParameters([
  "Order order",
  "struct Order { address entrypoint; address router; address wrapped; address assetOut; bytes path; uint256 minimumOut; uint256 precommitment; bytes32 exitHash; address feeRecipient; uint256 fee; uint256 deadline; }",
]);

/** The data with which the owner of a note uses its public exit. Its keccak256 is `exitHash`. */
export const exitParameters = parseAbiParameters("address owner, bytes32 salt");
