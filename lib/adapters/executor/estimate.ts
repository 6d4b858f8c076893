import { getContractAddress, parseAbi, size } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { LRUCache } from "lru-cache";
import { type RevertReason, revertReasonOf } from "@/lib/chain/erc4337/marked-paymaster";
import {
  hashUserOperation,
  initCodeOf,
  packUserOperation,
} from "@/lib/chain/erc4337/user-operation";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import {
  type ChainContext,
  dryRun,
  explainCalls,
  parentGasOfOperation,
  preVerificationGasOf,
  simulationFailed,
} from "./gas";
import { probe, type ProbeCall, type ProbeResult } from "@/lib/chain/probe";

/*
 * Estimates gas with `eth_call` and state overrides, which every node supports (unlike `debug_*`):
 *
 * 1. The probe replaces EntryPoint and makes the operation's calls one after another in one state:
 * deployment, validation by the account, validation by the paymaster, execution. Each call is
 * measured; a revert shows its reason.
 * 2. EntryPoint's own work and a margin are added, because prices and storage change before
 * inclusion.
 * 3. The limits are proved: with them, the real EntryPoint must get as far as "wrong signature" (or
 * succeed, when the signature is real), and the execution must succeed within its limit. Limits
 * that are too low are raised and proved again.
 *
 * Limits that were recently proved for an operation of the same shape are tried first; steps 1 and
 * 3 are then one step. They are used if the operation's own measurement (step 2) needs no more.
 *
 * On a rollup, the fee for data on the parent chain is converted to gas at the current price and
 * added to `preVerificationGas`.
 *
 * Limitation: calls to EntryPoint itself cannot be measured, because its code is replaced.
 */

const PROOFS_MAX = 4;
/** How long proved limits are tried first for operations of the same shape. */
const SHAPE_MS = 10_000;
const SHAPES_MAX = 1000;
/** Hex characters of the call's selector and its first word, the called address. */
const CALL_HEAD_CHARS = 2 + 8 + 64;
/** Gas of EntryPoint's nonce check, deposit and hashing, which the probe does not perform. */
const VALIDATION_OVERHEAD = 60_000n;
/** Gas that EntryPoint uses for each word of the encoded operation. */
const VALIDATION_OVERHEAD_PER_WORD = 30n;
const PAYMASTER_OVERHEAD = 15_000n;
const EXECUTION_OVERHEAD = 30_000n;

/**
 * Upper bound of the fifth that `withRoom` adds. After a price move a swap crosses more ticks, and
 * a payment to a recipient without a balance needs a new storage slot. The swaps of one batch do
 * not all change in this way at the same time, so the margin of a large batch is bounded.
 */
const ROOM_MAX = 400_000n;

/** Adds a tenth, and a further fifth of at most `ROOM_MAX`. */
const withRoom = (gas: bigint): bigint =>
  gas + gas / 10n + (gas / 5n < ROOM_MAX ? gas / 5n : ROOM_MAX);

const abi = parseAbi([
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
  "function createSender(bytes initCode) returns (address)",
  "function validateUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 missingFunds) returns (uint256)",
  "function validatePaymasterUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 maxCost) returns (bytes, uint256)",
]);

type Phase = "deployment" | "validation" | "paymaster" | "execution";
type Measured = Partial<Record<Phase, ProbeResult>>;

const phasesOf = (
  chain: ChainContext,
  operation: UserOperation,
  callGas?: bigint,
): [Phase, ProbeCall][] => {
  const packed = packUserOperation(operation);
  const hash = hashUserOperation(operation, chain.chainId, chain.entryPoint);
  const initCode = initCodeOf(operation);
  const phases: [Phase, ProbeCall][] = [];
  if (initCode !== "0x") {
    const data = encodeCall({ abi, functionName: "createSender", args: [initCode] });
    // EntryPoint v0.7's SenderCreator is the first contract that EntryPoint deployed.
    phases.push([
      "deployment",
      { to: getContractAddress({ from: chain.entryPoint, nonce: 1n }), data },
    ]);
  }
  // Any payment above zero costs the same gas as the real amount.
  const missingFunds = operation.paymaster === undefined ? 1n : 0n;
  phases.push([
    "validation",
    {
      to: operation.sender,
      data: encodeCall({
        abi,
        functionName: "validateUserOp",
        args: [packed, hash, missingFunds],
      }),
    },
  ]);
  if (operation.paymaster !== undefined) {
    phases.push([
      "paymaster",
      {
        to: operation.paymaster,
        data: encodeCall({
          abi,
          functionName: "validatePaymasterUserOp",
          args: [packed, hash, 0n],
        }),
      },
    ]);
  }
  phases.push([
    "execution",
    {
      to: operation.sender,
      data: operation.callData,
      ...(callGas === undefined ? {} : { gas: callGas }),
    },
  ]);
  return phases;
};

const measure = async (
  chain: ChainContext,
  operation: UserOperation,
  callGas?: bigint,
): Promise<Measured> => {
  const phases = phasesOf(chain, operation, callGas);
  const results = await probe(
    chain.client,
    chain.entryPoint,
    phases.map(([, call]) => call),
  );
  return Object.fromEntries(phases.map(([phase], index) => [phase, results[index]]));
};

const createdAddress = (result: ProbeResult): bigint =>
  result.returnData === "0x" ? 0n : BigInt(result.returnData);

const assertConsent = (
  chain: ChainContext,
  who: string,
  code: string,
  result: ProbeResult | undefined,
): void => {
  if (result === undefined) return;
  // A call to an address without code succeeds and returns empty data.
  if (result.success && result.returnData === "0x")
    throw simulationFailed(chain, `${who} is not deployed`);
  if (!result.success)
    throw simulationFailed(
      chain,
      `${who} refuses: ${revertReasonOf(result.returnData).text}`,
      code,
    );
};

const assertPossible = async (
  chain: ChainContext,
  operation: UserOperation,
  measured: Measured,
): Promise<void> => {
  const { deployment, validation, paymaster, execution } = measured;
  if (deployment !== undefined && createdAddress(deployment) !== BigInt(operation.sender)) {
    // If the account is deployed already, the dry run returns EntryPoint's error for it, which has
    // an explanation.
    const refused = await dryRun(chain, [operation]);
    throw simulationFailed(
      chain,
      refused?.text ?? "the account cannot be deployed",
      refused?.entryPointCode ?? null,
    );
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
  const words = BigInt(
    Math.ceil((size(operation.callData) + size(initCodeOf(operation))) / 32),
  );
  const validation =
    (measured.deployment?.gasUsed ?? 0n) + (measured.validation?.gasUsed ?? 0n);
  return {
    callGasLimit: withRoom(measured.execution?.gasUsed ?? 0n) + EXECUTION_OVERHEAD,
    verificationGasLimit:
      withRoom(validation) + VALIDATION_OVERHEAD + words * VALIDATION_OVERHEAD_PER_WORD,
    preVerificationGas: preVerificationGasOf(operation, chain) + parentGas,
    paymasterVerificationGasLimit:
      measured.paymaster === undefined
        ? 0n
        : withRoom(measured.paymaster.gasUsed) + PAYMASTER_OVERHEAD,
    // The paymaster returns no context, so EntryPoint makes no post-operation call.
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
    ...(operation.paymaster === undefined
      ? {}
      : { paymasterVerificationGasLimit, paymasterPostOpGasLimit }),
  };
};

const raised = (gas: bigint): bigint => (gas * 3n) / 2n;

interface Tried {
  readonly refused: RevertReason | null;
  readonly measured: Measured;
}

const tryLimits = async (
  chain: ChainContext,
  operation: UserOperation,
  gas: UserOperationGas,
): Promise<Tried> => {
  const limited = withLimits(operation, gas);
  const [refused, measured] = await Promise.all([
    dryRun(chain, [limited]),
    measure(chain, limited, gas.callGasLimit),
  ]);
  return { refused, measured };
};

/**
 * Returns the limits `gas` if they suffice according to the trial, otherwise higher ones.
 * @throws DomainError `simulation_failed` when higher limits would not help
 */
const proveBy = (
  chain: ChainContext,
  gas: UserOperationGas,
  { refused, measured: { execution } }: Tried,
): UserOperationGas => {
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

const prove = async (
  chain: ChainContext,
  operation: UserOperation,
  gas: UserOperationGas,
): Promise<UserOperationGas> => proveBy(chain, gas, await tryLimits(chain, operation, gas));

/**
 * Estimates from the operation's own measurement, without cached limits.
 * @throws DomainError `simulation_failed`
 */
const estimateAnew = async (
  chain: ChainContext,
  operation: UserOperation,
): Promise<UserOperationGas> => {
  const [measured, parentGas] = await Promise.all([
    measure(chain, operation),
    parentGasOfOperation(operation, chain),
  ]);
  await assertPossible(chain, operation, measured);
  let gas = firstLimits(chain, operation, { measured, parentGas });
  for (let proofs = 0; proofs < PROOFS_MAX; proofs += 1) {
    const proved = await prove(chain, operation, gas);
    if (sameLimits(proved, gas)) return proved;
    gas = proved;
  }
  throw simulationFailed(chain, "no gas limit was found with which it succeeds");
};

/**
 * A key that is equal for operations that probably need the same limits. It need not be exact,
 * because limits are proved before use.
 */
const shapeOf = (
  { chainId }: ChainContext,
  { sender, factory, paymaster, callData }: UserOperation,
): string =>
  [
    chainId,
    sender,
    factory,
    paymaster,
    callData.length,
    callData.slice(0, CALL_HEAD_CHARS),
  ].join(":");

const isWithin = (needed: bigint, given: bigint): boolean =>
  needed <= given && given <= (needed * 3n) / 2n;

/**
 * Tries the limits that were proved for an operation of the same shape.
 * @returns the limits, proved for this operation; null when its own measurement needs more, or less
 * than two thirds of them
 */
const proveLike = async (
  chain: ChainContext,
  operation: UserOperation,
  like: UserOperationGas,
): Promise<UserOperationGas | null> => {
  const [tried, parentGas] = await Promise.all([
    tryLimits(chain, operation, like),
    parentGasOfOperation(operation, chain),
  ]);
  const { measured } = tried;
  if (measured.execution?.success !== true) return null;
  await assertPossible(chain, operation, measured);
  const own = firstLimits(chain, operation, { measured, parentGas });
  const isEnough =
    isWithin(own.callGasLimit, like.callGasLimit) &&
    isWithin(own.verificationGasLimit, like.verificationGasLimit) &&
    isWithin(own.paymasterVerificationGasLimit, like.paymasterVerificationGasLimit);
  if (!isEnough) return null;
  const { callGasLimit, verificationGasLimit, paymasterVerificationGasLimit } = like;
  const gas = { ...own, callGasLimit, verificationGasLimit, paymasterVerificationGasLimit };
  return sameLimits(proveBy(chain, gas, tried), gas) ? gas : null;
};

export const createGasEstimator = () => {
  const lately = new LRUCache<string, UserOperationGas>({ max: SHAPES_MAX, ttl: SHAPE_MS });

  /**
   * Estimates the gas limits of an operation, and caches them for operations of the same shape.
   * @throws DomainError `simulation_failed`
   */
  return async (chain: ChainContext, operation: UserOperation): Promise<UserOperationGas> => {
    const shape = shapeOf(chain, operation);
    const like = lately.get(shape);
    if (like !== undefined) {
      const proved = await proveLike(chain, operation, like);
      if (proved !== null) return proved;
      lately.delete(shape);
    }
    const gas = await estimateAnew(chain, operation);
    lately.set(shape, gas);
    return gas;
  };
};

const sameLimits = (one: UserOperationGas, other: UserOperationGas): boolean =>
  one.callGasLimit === other.callGasLimit &&
  one.verificationGasLimit === other.verificationGasLimit &&
  one.paymasterVerificationGasLimit === other.paymasterVerificationGasLimit;
