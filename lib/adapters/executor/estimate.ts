import { encodeFunctionData, getContractAddress, parseAbi, size } from "viem";
import { revertReasonOf } from "@/lib/chains/erc4337/revert-reason";
import { hashUserOperation, initCodeOf, packUserOperation } from "@/lib/chains/erc4337/user-operation";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import { explainCalls } from "./explanation";
import { parentGasOfOperation, preVerificationGasOf } from "./gas";
import { probe, type ProbeCall, type ProbeResult } from "@/lib/chains/probe";
import type { ChainContext } from "./chain-context";
import { dryRun, simulationFailed } from "./simulation";

/*
 * How gas is found, with `eth_call` and state overrides alone (any node has them; `debug_*` it has not):
 * 1. The probe stands in for EntryPoint and makes the operation's calls one after another, in one state: deployment,
 *    validation by the account, validation by the paymaster, execution. Each is measured; a revert shows its reason.
 * 2. To what was measured comes what EntryPoint does itself, and room, since prices and storage move before inclusion.
 * 3. The limits are proved: the real EntryPoint must come as far as "wrong signature" with them (or succeed, when the
 *    signature is real), and the execution must succeed with its limit. Too little is raised and proved again.
 * On a rollup the fee for data on the parent chain is added to `preVerificationGas`, turned into gas at the present price.
 * Limit: calls to EntryPoint itself cannot be measured, because its code is replaced meanwhile.
 */

const PROOFS_MAX = 4;
/**
 * Gas of nonce, deposit and hashing inside EntryPoint, which the probe does not perform; and gas per word of the
 * operation.
 */
const VALIDATION_OVERHEAD = 60_000n;
const VALIDATION_OVERHEAD_PER_WORD = 30n;
const PAYMASTER_OVERHEAD = 15_000n;
const EXECUTION_OVERHEAD = 30_000n;

/**
 * Upper bound of the margin. A price move makes a swap cross more ticks, and a recipient may lose its balance slot, but
 * ten swaps in one batch do not all change at once.
 */
const ROOM_MAX = 400_000n;

/** Adds a tenth, and up to another fifth. */
const withRoom = (gas: bigint): bigint => gas + gas / 10n + (gas / 5n < ROOM_MAX ? gas / 5n : ROOM_MAX);

const abi = parseAbi([
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
  "function createSender(bytes initCode) returns (address)",
  "function validateUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 missingFunds) returns (uint256)",
  "function validatePaymasterUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 maxCost) returns (bytes, uint256)",
]);

type Phase = "deployment" | "validation" | "paymaster" | "execution";
type Measured = Partial<Record<Phase, ProbeResult>>;

const phasesOf = (chain: ChainContext, operation: UserOperation, callGas?: bigint): [Phase, ProbeCall][] => {
  const packed = packUserOperation(operation);
  const hash = hashUserOperation(operation, chain.chainId, chain.entryPoint);
  const initCode = initCodeOf(operation);
  const phases: [Phase, ProbeCall][] = [];
  if (initCode !== "0x") {
    const data = encodeFunctionData({ abi, functionName: "createSender", args: [initCode] });
    // EntryPoint v0.7 deploys its SenderCreator as its first contract.
    phases.push(["deployment", { to: getContractAddress({ from: chain.entryPoint, nonce: 1n }), data }]);
  }
  // Any non-zero payment costs the same gas as the real amount.
  const missingFunds = operation.paymaster === undefined ? 1n : 0n;
  phases.push([
    "validation",
    {
      to: operation.sender,
      data: encodeFunctionData({ abi, functionName: "validateUserOp", args: [packed, hash, missingFunds] }),
    },
  ]);
  if (operation.paymaster !== undefined) {
    phases.push([
      "paymaster",
      {
        to: operation.paymaster,
        data: encodeFunctionData({ abi, functionName: "validatePaymasterUserOp", args: [packed, hash, 0n] }),
      },
    ]);
  }
  phases.push([
    "execution",
    { to: operation.sender, data: operation.callData, ...(callGas === undefined ? {} : { gas: callGas }) },
  ]);
  return phases;
};

const measure = async (chain: ChainContext, operation: UserOperation, callGas?: bigint): Promise<Measured> => {
  const phases = phasesOf(chain, operation, callGas);
  const results = await probe(
    chain.client,
    chain.entryPoint,
    phases.map(([, call]) => call),
  );
  return Object.fromEntries(phases.map(([phase], index) => [phase, results[index]]));
};

const createdAddress = (result: ProbeResult): bigint => (result.returnData === "0x" ? 0n : BigInt(result.returnData));

const assertConsent = (chain: ChainContext, who: string, code: string, result: ProbeResult | undefined): void => {
  if (result === undefined) return;
  // A call to an address without code succeeds and returns empty data.
  if (result.success && result.returnData === "0x") throw simulationFailed(chain, `${who} is not deployed`);
  if (!result.success) throw simulationFailed(chain, `${who} refuses: ${revertReasonOf(result.returnData).text}`, code);
};

const assertPossible = async (chain: ChainContext, operation: UserOperation, measured: Measured): Promise<void> => {
  const { deployment, validation, paymaster, execution } = measured;
  if (deployment !== undefined && createdAddress(deployment) !== BigInt(operation.sender)) {
    // When the account is already deployed, the dry run returns EntryPoint's own error for it, which we can explain.
    const refused = await dryRun(chain, [operation]);
    throw simulationFailed(chain, refused?.text ?? "the account cannot be deployed", refused?.entryPointCode ?? null);
  }
  assertConsent(chain, "the account", "AA23", validation);
  assertConsent(chain, "the paymaster", "AA33", paymaster);
  if (execution?.success === false) {
    throw simulationFailed(chain, await explainCalls(chain, operation, execution.returnData));
  }
};

const firstLimits = (
  chain: ChainContext,
  operation: UserOperation,
  { measured, parentGas }: { readonly measured: Measured; readonly parentGas: bigint },
): UserOperationGas => {
  const words = BigInt(Math.ceil((size(operation.callData) + size(initCodeOf(operation))) / 32));
  const validation = (measured.deployment?.gasUsed ?? 0n) + (measured.validation?.gasUsed ?? 0n);
  return {
    callGasLimit: withRoom(measured.execution?.gasUsed ?? 0n) + EXECUTION_OVERHEAD,
    verificationGasLimit: withRoom(validation) + VALIDATION_OVERHEAD + words * VALIDATION_OVERHEAD_PER_WORD,
    preVerificationGas: preVerificationGasOf(operation, chain) + parentGas,
    paymasterVerificationGasLimit:
      measured.paymaster === undefined ? 0n : withRoom(measured.paymaster.gasUsed) + PAYMASTER_OVERHEAD,
    // The paymaster returns no context, and without one EntryPoint makes no post-operation call.
    paymasterPostOpGasLimit: 0n,
    ...(chain.rollup === "op-stack" ? { unusedGas: parentGas } : {}),
  };
};

const SIGNATURE_CODES: readonly (string | null)[] = ["AA24", "AA34"];
const VERIFICATION_GAS_CODES: readonly (string | null)[] = ["AA13", "AA23", "AA26"];
const PAYMASTER_GAS_CODES: readonly (string | null)[] = ["AA33", "AA36"];

const withLimits = (operation: UserOperation, gas: UserOperationGas): UserOperation => {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = gas;
  const { paymasterVerificationGasLimit, paymasterPostOpGasLimit } = gas;
  return {
    ...operation,
    callGasLimit,
    verificationGasLimit,
    preVerificationGas,
    ...(operation.paymaster === undefined ? {} : { paymasterVerificationGasLimit, paymasterPostOpGasLimit }),
  };
};

const raised = (gas: bigint): bigint => (gas * 3n) / 2n;

/** Returns the given limits when they suffice, otherwise higher ones. */
const prove = async (
  chain: ChainContext,
  operation: UserOperation,
  gas: UserOperationGas,
): Promise<UserOperationGas> => {
  const limited = withLimits(operation, gas);
  const [refused, { execution }] = await Promise.all([
    dryRun(chain, [limited]),
    measure(chain, limited, gas.callGasLimit),
  ]);
  const code = refused?.entryPointCode ?? null;
  const next = {
    ...gas,
    callGasLimit: execution?.success === true ? gas.callGasLimit : raised(gas.callGasLimit),
    verificationGasLimit: VERIFICATION_GAS_CODES.includes(code)
      ? raised(gas.verificationGasLimit)
      : gas.verificationGasLimit,
    paymasterVerificationGasLimit: PAYMASTER_GAS_CODES.includes(code)
      ? raised(gas.paymasterVerificationGasLimit)
      : gas.paymasterVerificationGasLimit,
  };
  if (!sameLimits(next, gas) || refused === null || SIGNATURE_CODES.includes(code)) return next;
  throw simulationFailed(chain, refused.text, code);
};

/** @throws DomainError `simulation_failed` */
export const estimateOperationGas = async (
  chain: ChainContext,
  operation: UserOperation,
): Promise<UserOperationGas> => {
  const [measured, parentGas] = await Promise.all([measure(chain, operation), parentGasOfOperation(operation, chain)]);
  await assertPossible(chain, operation, measured);
  let gas = firstLimits(chain, operation, { measured, parentGas });
  for (let proofs = 0; proofs < PROOFS_MAX; proofs += 1) {
    const proved = await prove(chain, operation, gas);
    if (sameLimits(proved, gas)) return proved;
    gas = proved;
  }
  throw simulationFailed(chain, "no gas limit was found with which it succeeds");
};

const sameLimits = (one: UserOperationGas, other: UserOperationGas): boolean =>
  one.callGasLimit === other.callGasLimit &&
  one.verificationGasLimit === other.verificationGasLimit &&
  one.paymasterVerificationGasLimit === other.paymasterVerificationGasLimit;
