import { encodeFunctionData, isAddressEqual, type Address } from "viem";
import { privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { privacyProcessorAbi } from "@/lib/chains/privacy-processor";
import type { Call } from "@/lib/ports/routing";
import type { NoteSecrets } from "./keys";
import type { OpenNote } from "./notes";
import type { Groth16Proof } from "./proof-job";
import { exitSaltOf } from "./withdrawal";

const forContract = ({ pubSignals, ...points }: Groth16Proof) => {
  const [commitment, nullifierHash, value, label] = pubSignals;
  if (commitment === undefined || nullifierHash === undefined || value === undefined || label === undefined)
    throw new Error("A proof has too few signals.");
  return { ...points, pubSignals: [commitment, nullifierHash, value, label] as const };
};

/**
 * The public exit of a note. A pool pays only the depositor. For a note that the processor deposited, the processor
 * pays the owner named by the hash in the order.
 * @param deposit secrets of the deposit from which the note comes, which also went into the hash
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
  const proof = forContract(made);
  if (processor === undefined || !isAddressEqual(note.depositor, processor))
    return {
      to: pool,
      data: encodeFunctionData({ abi: privacyPoolAbi, functionName: "ragequit", args: [proof] }),
      value: 0n,
    };
  const data = encodeFunctionData({
    abi: privacyProcessorAbi,
    functionName: "exit",
    args: [pool, proof, owner, exitSaltOf(deposit)],
  });
  return { to: processor, data, value: 0n };
};
