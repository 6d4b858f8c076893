import { parseAbi, parseAbiParameters } from "viem";

const WITHDRAWAL = "struct Withdrawal { address processooor; bytes data; }";
const WITHDRAW_PROOF =
  "struct WithdrawProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[8] pubSignals; }";
const RAGEQUIT_PROOF =
  "struct RagequitProof { uint256[2] pA; uint256[2][2] pB; uint256[2] pC; uint256[4] pubSignals; }";

/** ABI of `PrivacyProcessor.sol`. */
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

/** The data with which the owner of a note uses its public exit; `exitHash` is the keccak256 of it. */
export const exitParameters = parseAbiParameters("address owner, bytes32 salt");
