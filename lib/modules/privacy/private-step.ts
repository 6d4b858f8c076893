import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import { toBigInt, toBigIntOrNull } from "@/lib/db/decimal";
import type { SpendTransaction } from "@/lib/ports/privacy";
import { storedAddress, storedHex } from "@/lib/ports/routing-json";

const stepState = z.enum(["queued", "proved", "submitted", "completed", "failed"]);
const storedTransaction = z.object({ to: storedAddress, data: storedHex, nullifierHash: z.string() }).nullable();
const storedFailure = failureRecord.nullable();
const storedTxHash = storedHex.nullable();

export type StepState = z.output<typeof stepState>;
export type StepFailure = z.output<typeof failureRecord>;

/** One note that a private operation spends. */
export interface PrivateStep {
  readonly projectId: string;
  readonly operationId: string;
  /** Its place among the steps of the operation, from 0. */
  readonly position: number;
  readonly chainId: number;
  /** The commitment of the note. No other operation can use the note while the step is open. */
  readonly noteId: string;
  readonly state: StepState;
  /** The amount that leaves the note, in base units of the operation's token. */
  readonly withdrawBase: bigint;
  /** The amount that the recipient gets of it, or gets at least after a swap; in base units of the token that arrives. */
  readonly outBase: bigint;
  /** The deposit number of the new note; null when the money goes to an address. */
  readonly slotNumber: number | null;
  /** Counts proofs from 0. Each has a transaction of its own, of which the pool accepts one at most. */
  readonly attempt: number;
  /** The proof's transaction. It is stored before it is sent. */
  readonly transaction: SpendTransaction | null;
  readonly txHash: `0x${string}` | null;
  readonly blockNumber: bigint | null;
  readonly receivedBase: bigint | null;
  readonly failure: StepFailure | null;
  /** When its latest proof was begun. */
  readonly provingSince: Date | null;
  /** Goes up with every change; a change names the version that it was decided on. */
  readonly version: number;
  readonly updatedAt: Date;
}

type Parsed = "state" | "withdrawBase" | "outBase" | "transaction" | "txHash" | "receivedBase" | "failure";

/** A row of the table `privacy_step`. Its columns are parsed here and nowhere else. */
interface StepColumns extends Omit<PrivateStep, Parsed> {
  readonly state: string;
  readonly withdrawBase: Parameters<typeof toBigInt>[0];
  readonly outBase: Parameters<typeof toBigInt>[0];
  readonly transaction: unknown;
  readonly txHash: string | null;
  readonly receivedBase: Parameters<typeof toBigIntOrNull>[0];
  readonly failure: unknown;
}

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parsePrivateStep = (row: StepColumns): PrivateStep => ({
  projectId: row.projectId,
  operationId: row.operationId,
  position: row.position,
  chainId: row.chainId,
  noteId: row.noteId,
  state: stepState.parse(row.state),
  withdrawBase: toBigInt(row.withdrawBase),
  outBase: toBigInt(row.outBase),
  slotNumber: row.slotNumber,
  attempt: row.attempt,
  transaction: storedTransaction.parse(row.transaction),
  txHash: storedTxHash.parse(row.txHash),
  blockNumber: row.blockNumber,
  receivedBase: toBigIntOrNull(row.receivedBase),
  failure: storedFailure.parse(row.failure),
  provingSince: row.provingSince,
  version: row.version,
  updatedAt: row.updatedAt,
});
