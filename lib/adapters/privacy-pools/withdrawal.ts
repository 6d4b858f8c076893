import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  keccak256,
} from "viem";
import {
  entrypointAbi,
  exitParameters,
  privacyPoolAbi,
  privacyProcessorAbi,
  processorOrder,
  relayData,
} from "@/lib/chain/privacy-pools";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { bpsOfCeil } from "@/lib/core/money";
import { NotReadyError, type Spend } from "@/lib/money/ports/privacy";
import type { ChainPool, PrivacyChain } from "./chain-pools";
import type { NoteSecrets } from "./keys";
import type { Groth16Proof } from "./proof-job";
import type { Call } from "@/lib/core/evm";
import type { OpenNote } from "./notes";

const SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const withdrawalParameters = [
  {
    type: "tuple",
    components: [
      { name: "processooor", type: "address" },
      { name: "data", type: "bytes" },
    ],
  },
  { type: "uint256" },
] as const;

/**
 * The part of a withdrawal that its proof covers: the address that may use it, and its
 * instructions.
 */
interface Withdrawal {
  /** The protocol's spelling of "processor". */
  readonly processooor: Address;
  readonly data: Hex;
}

export const contextOf = (withdrawal: Withdrawal, scope: bigint): bigint =>
  BigInt(keccak256(encodeAbiParameters(withdrawalParameters, [withdrawal, scope]))) % SCALARS;

/**
 * Salt of the exit hash. It is derived from the note's secret, so that the mnemonic suffices for
 * the public exit.
 */
const exitSaltOf = ({ secret }: NoteSecrets): Hex =>
  keccak256(
    encodeAbiParameters([{ type: "string" }, { type: "uint256" }], ["causeway exit", secret]),
  );

interface Places {
  readonly chain: PrivacyChain;
  readonly contracts: ChainConfig["contracts"];
  readonly pool: ChainPool;
  readonly poolOut: ChainPool;
  readonly feeRecipient: Address;
}

/**
 * The part of a spend's withdrawal that its proof covers.
 * @param slotSecrets secrets of the new note, including its precommitment; null when there is no
 * new note
 */
export const withdrawalOf = (
  spend: Spend,
  { chain, contracts, pool, poolOut, feeRecipient }: Places,
  slotSecrets: (NoteSecrets & { readonly precommitment: bigint }) | null,
): Withdrawal => {
  const { entrypoint, processor } = chain.config;
  if (spend.to === "address") {
    const relayFeeBPS = BigInt(pool.relayFeeBps);
    const data = encodeAbiParameters(relayData, [
      { recipient: spend.recipient, feeRecipient, relayFeeBPS },
    ]);
    return { processooor: entrypoint, data };
  }
  if (processor === undefined || slotSecrets === null)
    throw new NotReadyError("This chain has no privacy processor.");
  const exitHash = keccak256(
    encodeAbiParameters(exitParameters, [spend.exitOwner, exitSaltOf(slotSecrets)]),
  );
  const data = encodeAbiParameters(processorOrder, [
    {
      entrypoint,
      router: contracts.uniswapV3?.swapRouter02 ?? entrypoint,
      wrapped: contracts.wrappedNative,
      assetOut: poolOut.asset,
      path: spend.path ?? "0x",
      minimumOut: spend.minimumOutBase,
      precommitment: slotSecrets.precommitment,
      exitHash,
      feeRecipient,
      fee: bpsOfCeil(spend.withdrawBase, pool.relayFeeBps),
      deadline: BigInt(Math.floor(spend.deadline.getTime() / 1000)),
    },
  ]);
  return { processooor: processor, data };
};

const forContract = ({ pubSignals, ...points }: Groth16Proof) => {
  const [a, b, c, d, e, f, g, h] = pubSignals;
  if (a === undefined || b === undefined || c === undefined || d === undefined)
    throw new Error("A proof has too few signals.");
  if (e === undefined || f === undefined || g === undefined || h === undefined)
    throw new Error("A proof has too few signals.");
  return { ...points, pubSignals: [a, b, c, d, e, f, g, h] as const };
};

export const transactionOf = (
  spend: Spend,
  { pool }: Pick<Places, "pool">,
  made: { withdrawal: Withdrawal; proof: Groth16Proof },
) => {
  const { withdrawal } = made;
  const proof = forContract(made.proof);
  const data =
    spend.to === "address"
      ? encodeFunctionData({
          abi: entrypointAbi,
          functionName: "relay",
          args: [withdrawal, proof, pool.scope],
        })
      : encodeFunctionData({
          abi: privacyProcessorAbi,
          functionName: "run",
          args: [pool.address, withdrawal, proof],
        });
  return { to: withdrawal.processooor, data };
};

const ragequitProofOf = ({ pubSignals, ...points }: Groth16Proof) => {
  const [commitment, nullifierHash, value, label] = pubSignals;
  if (
    commitment === undefined ||
    nullifierHash === undefined ||
    value === undefined ||
    label === undefined
  )
    throw new Error("A proof has too few signals.");
  return { ...points, pubSignals: [commitment, nullifierHash, value, label] as const };
};

/**
 * The public exit of a note. A pool pays only the depositor. If the processor made the deposit, the
 * processor pays the owner, whose address is in the exit hash of its order.
 * @param deposit secrets of the deposit from which the note comes; they are also in the exit hash
 */
export const exitCallOf = (
  own: {
    readonly pool: Address;
    readonly processor: Address | undefined;
    readonly owner: Address;
    readonly note: Pick<OpenNote, "depositor">;
    readonly deposit: NoteSecrets;
  },
  made: Groth16Proof,
): Call => {
  const { pool, processor, owner, note, deposit } = own;
  const proof = ragequitProofOf(made);
  if (processor === undefined || !isAddressEqual(note.depositor, processor))
    return {
      to: pool,
      data: encodeFunctionData({
        abi: privacyPoolAbi,
        functionName: "ragequit",
        args: [proof],
      }),
      value: 0n,
    };
  const data = encodeFunctionData({
    abi: privacyProcessorAbi,
    functionName: "exit",
    args: [pool, proof, owner, exitSaltOf(deposit)],
  });
  return { to: processor, data, value: 0n };
};
