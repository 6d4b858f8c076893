/** A deposit as the module works with it. */
import { depositStates, screeningStates } from "@/lib/contracts/deposit-records";
import type { EvmAddress } from "@/lib/ports/routing";
import { z } from "zod";

/** `unclear`: it may be a part of an operation under way. `own`: it was. Neither has an operation or an event. */
const storedState = z.enum([...depositStates, "unclear", "own"]);
export type DepositState = z.output<typeof storedState>;

/** The screening verdict about the sender; null: no source was asked. */
const storedVerdict = z.enum(screeningStates).nullable();

export interface Deposit {
  readonly projectId: string;
  /** Of its operation. */
  readonly id: string;
  readonly chainId: number;
  /** Null for coins, whose transfers emit no log. */
  readonly txHash: string | null;
  readonly logIndex: number | null;
  readonly blockNumber: bigint;
  readonly walletId: string;
  readonly walletAddress: EvmAddress;
  /** Lower-case token address, or `native`. */
  readonly token: string;
  /** Null: not known. */
  readonly sender: EvmAddress | null;
  readonly amountBase: bigint;
  /** In millionths of a dollar when it was credited; null: no price was known. */
  readonly usdMicro: bigint | null;
  readonly state: DepositState;
  /** Whether its amount is a part of the quarantine's hold. */
  readonly isHeld: boolean;
  readonly verdict: z.output<typeof storedVerdict>;
  readonly verdictSource: string | null;
  readonly listVersion: string | null;
  readonly screenedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decidedReason: string | null;
  readonly decidedAt: Date | null;
  readonly detectedAt: Date;
  readonly updatedAt: Date;
}

/** Whether the deposit was decided. Its block was final then, so no reorganisation is expected to replace it. */
export const isDecided = ({ state }: Pick<Deposit, "state">): boolean => state === "credited" || state === "released";

export interface DepositRow extends Omit<
  Deposit,
  "blockNumber" | "amountBase" | "usdMicro" | "state" | "verdict" | "walletAddress" | "sender"
> {
  readonly blockNumber: string;
  readonly walletAddress: string;
  readonly sender: string | null;
  readonly amountBase: string;
  readonly usdMicro: string | null;
  readonly state: string;
  readonly verdict: string | null;
}

/** The columns of a deposit in a SELECT, for `parseDeposit`. The table is named `d`. */
export const DEPOSIT_COLUMNS = `d.project_id AS "projectId", d.id, d.chain_id AS "chainId", d.tx_hash AS "txHash",
  d.log_index AS "logIndex", d.block_number::text AS "blockNumber", d.wallet_id AS "walletId",
  d.wallet_address AS "walletAddress", d.token, d.sender, d.amount_base::text AS "amountBase",
  d.usd_micro::text AS "usdMicro", d.state, d.is_held AS "isHeld", d.verdict, d.verdict_source AS "verdictSource",
  d.list_version AS "listVersion", d.screened_at AS "screenedAt", d.decided_by AS "decidedBy",
  d.decided_reason AS "decidedReason", d.decided_at AS "decidedAt", d.detected_at AS "detectedAt",
  d.updated_at AS "updatedAt"`;

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseDeposit = (row: DepositRow): Deposit => ({
  ...row,
  blockNumber: BigInt(row.blockNumber),
  walletAddress: row.walletAddress as EvmAddress,
  sender: row.sender as EvmAddress | null,
  amountBase: BigInt(row.amountBase),
  usdMicro: row.usdMicro === null ? null : BigInt(row.usdMicro),
  state: storedState.parse(row.state),
  verdict: storedVerdict.parse(row.verdict),
});
