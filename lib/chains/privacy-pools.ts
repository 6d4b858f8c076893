import { parseAbi, parseAbiParameters, type Address } from "viem";

const WITHDRAWAL = "struct Withdrawal { address processooor; bytes data; }";
const WITHDRAW_PROOF =
  "struct WithdrawProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[8] pubSignals; }";
const RAGEQUIT_PROOF =
  "struct RagequitProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[4] pubSignals; }";

/** The asset address that the protocol uses for a pool of the chain's coin. */
export const NATIVE_ASSET: Address = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";

/** ABI of 0xbow's Entrypoint, reduced to the used part. */
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

/** ABI of 0xbow's pools, reduced to the used part. */
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
